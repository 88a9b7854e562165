// Package hashed is the embedder that needs no model: it hashes words and character n-grams into 384 dimensions. Its
// cosine similarity is lexical: it finds the same words and their other forms, not the same meaning. New returns an
// Embedder, which is deterministic on every machine.
package hashed

import (
	"context"
	"math"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text"
)

// Dimension is the size of every vector.
const Dimension = 384

// Name is the name of the model; it changes with every change of the vectors.
const Name = "hashed-v1"

// The weights of the features. They were chosen by looking at nearest neighbours among facts of long conversations: names
// and function words occur in nearly every fact about a person and say little about its subject.
const (
	weightWord  = 1.0
	weightName  = 0.6
	weightStop  = 0.12
	weightPair  = 0.2  // two content words in a row
	weightGrams = 0.35 // all n-grams of a word together
)

// maxWords bounds how much of a text is read, in words.
const maxWords = 4096

// Embedder embeds by hashing. It is stateless, and safe for concurrent use; the zero value is ready to use.
type Embedder struct{}

var _ memory.Embedder = (*Embedder)(nil)

// New returns an Embedder.
func New() *Embedder { return &Embedder{} }

// Name returns "hashed-v1".
func (*Embedder) Name() string { return Name }

// Dimension returns 384.
func (*Embedder) Dimension() int { return Dimension }

// Thresholds suit lexical similarity: two facts must share a content word to share a composite, and vectors have no
// weight in ranking by default.
func (*Embedder) Thresholds() memory.SimilarityThresholds {
	return memory.SimilarityThresholds{Dedup: 0.85, Cluster: 0.60, Diameter: 0.55, SharedWord: true, RankWeight: 0}
}

// Embed returns one vector of unit length per text, in order, for any text, including the empty one. Equal texts have
// equal vectors. The only error is the context's.
func (*Embedder) Embed(ctx context.Context, texts []string) ([]memory.Vector, error) {
	out := make([]memory.Vector, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out[i] = embed(text)
	}
	return out, nil
}

// feature is a hashed part of a text, how often it occurs, and the weight of one occurrence.
type feature struct {
	hash   uint64
	count  int
	weight float64
}

func embed(text string) memory.Vector {
	var sum [Dimension]float64
	for _, f := range features(text) {
		add(&sum, f.hash, f.weight*(1+math.Log(float64(f.count))))
	}
	return unit(&sum, text)
}

// features returns the features of a text in order of their first occurrence, so that floating-point sums are
// reproducible.
func features(s string) []feature {
	terms := text.Terms(s)
	if len(terms) > maxWords {
		terms = terms[:maxWords]
	}
	out := make([]feature, 0, 8*len(terms))
	seen := make(map[uint64]int, 8*len(terms))
	put := func(h uint64, w float64) {
		if at, ok := seen[h]; ok {
			out[at].count++
			return
		}
		seen[h] = len(out)
		out = append(out, feature{h, 1, w})
	}
	prev := uint64(0)
	for _, t := range terms {
		h := hash('w', t.Stem)
		switch {
		case t.Stop:
			put(h, weightStop)
			continue
		case t.Name:
			put(h, weightName)
		default:
			put(h, weightWord)
		}
		if prev != 0 {
			put(mix(prev, h), weightPair)
		}
		prev = h
		w := weightGrams
		if t.Name {
			w *= weightName
		}
		grams(t.Stem, w, put)
	}
	return out
}

// grams passes on the n-grams of 3 and 4 bytes of a word whose edges are marked. Together they weigh w. A word of fewer
// than 4 bytes has none.
func grams(word string, w float64, put func(uint64, float64)) {
	if len(word) < 4 {
		return
	}
	edged := "^" + word + "$"
	n := len(edged) - 2 + len(edged) - 3
	each := w / math.Sqrt(float64(n))
	for size := 3; size <= 4; size++ {
		for i := 0; i+size <= len(edged); i++ {
			put(hash('g', edged[i:i+size]), each)
		}
	}
}

// add spreads a feature over two dimensions, each with a sign of its own: features that collide in one dimension differ
// in the other.
func add(sum *[Dimension]float64, h uint64, w float64) {
	w *= math.Sqrt2 / 2
	for range 2 {
		v := w
		if h>>63 == 1 {
			v = -w
		}
		sum[h%Dimension] += v
		h = mix(h, 0x9E3779B97F4A7C15)
	}
}

// unit scales to length 1. A text without words gets the dimension its bytes hash to.
func unit(sum *[Dimension]float64, text string) memory.Vector {
	var square float64
	for _, f := range sum {
		square += f * f
	}
	if square == 0 {
		sum[hash('t', strings.TrimSpace(text))%Dimension] = 1
		square = 1
	}
	n := 1 / math.Sqrt(square)
	out := make(memory.Vector, Dimension)
	for i, f := range sum {
		out[i] = float32(f * n)
	}
	return out
}

// hash is FNV-1a of a kind and a word, mixed so that every bit matters.
func hash(kind byte, s string) uint64 {
	h := uint64(14695981039346656037)
	h = (h ^ uint64(kind)) * 1099511628211
	for i := 0; i < len(s); i++ {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return mix(h, 0)
}

// mix is the finalizer of SplitMix64 over two values.
func mix(a, b uint64) uint64 {
	h := a + 0x9E3779B97F4A7C15*(b|1)
	h = (h ^ h>>30) * 0xBF58476D1CE4E5B9
	h = (h ^ h>>27) * 0x94D049BB133111EB
	return h ^ h>>31
}
