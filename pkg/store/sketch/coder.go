// Package sketch finds, among millions of vectors, the few hundred that may be nearest to a given one.
//
// A sketch has one bit per dimension: on which side of a fixed centre the vector lies. Vectors that are near each other
// differ in few bits, so counting bits ranks a million of them in milliseconds, and the caller compares the first few
// hundred exactly. The centre matters when vectors have a strong common direction, as those of language models do:
// without it nearly all of them have the same signs.
//
// A Coder makes the sketches of one embedding model. An Index holds them by row number; it is edited by one goroutine
// and searched by any number, each on a Snapshot. Pack stores a vector in ten bits per element, Coarse compares in one
// byte per element.
package sketch

import (
	"encoding/binary"
	"math"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Coder makes the sketches of one embedding model. Only sketches of one centre can be compared.
type Coder struct {
	centre memory.Vector
	words  int
}

// NewCoder returns the coder of vectors of the centre's size. centre should be about their mean; the coder keeps it.
func NewCoder(centre memory.Vector) Coder {
	return Coder{centre: centre, words: (len(centre) + 63) / 64}
}

// Dimension returns the size of the vectors.
func (c Coder) Dimension() int { return len(c.centre) }

// Words returns the size of a sketch in words of 64 bits.
func (c Coder) Words() int { return c.words }

// Sketch returns the sketch of a vector of the coder's dimension.
func (c Coder) Sketch(v memory.Vector) []uint64 {
	out := make([]uint64, c.words)
	for i, m := range c.centre {
		out[i/64] |= side(m, v[i]) << (i % 64)
	}
	return out
}

// SketchPacked writes the sketch of a packed vector into a slice of Words words, without allocation. It reports whether
// raw is a packed vector of the coder's dimension.
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

// side returns 1 when value is above the centre, else 0: the sign of their difference.
func side(centre, value float32) uint64 { return uint64(math.Float32bits(centre-value) >> 31) }

// Centre returns the mean of vectors of one size; nil for no vectors.
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
