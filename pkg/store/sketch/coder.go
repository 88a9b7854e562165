// Package sketch finds, among very many vectors, the few hundred that may be
// nearest to one. A sketch has one bit a dimension: on which side of a fixed
// centre the vector lies. Two vectors that are near to each other differ in few
// bits, so counting bits ranks a million of them in milliseconds; whoever asks
// compares the first few hundred exactly.
//
// The centre matters where vectors have a strong common direction, as those of
// language models do: without it nearly all of them share the same signs.
//
// Vectors are kept, and compared, packed into ten bits an element (Pack).
package sketch

import (
	"encoding/binary"
	"math"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Coder makes the sketches of one embedding model. Sketches can be compared
// only if one centre made them.
type Coder struct {
	centre memory.Vector
	words  int
}

// NewCoder gives the coder of vectors as long as centre, which is about their
// mean. It keeps centre.
func NewCoder(centre memory.Vector) Coder {
	return Coder{centre: centre, words: (len(centre) + 63) / 64}
}

// Dimension is the size of the vectors it sketches.
func (c Coder) Dimension() int { return len(c.centre) }

// Words is the size of a sketch.
func (c Coder) Words() int { return c.words }

// Sketch gives the sketch of a vector of the coder's dimension.
func (c Coder) Sketch(v memory.Vector) []uint64 {
	out := make([]uint64, c.words)
	for i, m := range c.centre {
		out[i/64] |= side(m, v[i]) << (i % 64)
	}
	return out
}

// SketchPacked is Sketch of a vector as Pack wrote it, into a sketch that is
// given: so a million of them need no room of their own. It reports whether raw
// holds a vector of the coder's dimension.
func (c Coder) SketchPacked(raw []byte, into []uint64) bool {
	n := len(c.centre)
	if len(raw) != PackedSize(n) || len(into) != c.words {
		return false
	}
	clear(into)
	scale := math.Float32frombits(binary.LittleEndian.Uint32(raw))
	high, low := raw[scaleBytes:][:n], raw[scaleBytes+n:]
	for i, m := range c.centre {
		into[i/64] |= side(m, scale*float32(int(int8(high[i]))<<2|int(low[i/4]>>(2*(i%4))&3))) << (i % 64)
	}
	return true
}

// side is 1 where value lies above the centre: the sign of their difference.
func side(centre, value float32) uint64 { return uint64(math.Float32bits(centre-value) >> 31) }

// Centre is the mean of vectors of one size; nil of none.
func Centre(vectors []memory.Vector) memory.Vector {
	if len(vectors) == 0 {
		return nil
	}
	sums := make([]float64, len(vectors[0]))
	for _, v := range vectors {
		for i := range min(len(sums), len(v)) {
			sums[i] += float64(v[i])
		}
	}
	out := make(memory.Vector, len(sums))
	for i, s := range sums {
		out[i] = float32(s / float64(len(vectors)))
	}
	return out
}
