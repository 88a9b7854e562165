package provider

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// The bounds of one request for vectors, below what the providers allow.
const (
	maxTexts      = 100       // Gemini takes no more
	maxBatchBytes = 256 << 10 // OpenAI takes 300,000 tokens
	maxTextBytes  = 24 << 10  // of one text; 8,000 tokens of English are more
	minTextBytes  = 256       // a text is not cut shorter than this to fit
)

// vectorProtocol asks a provider for vectors.
type vectorProtocol interface {
	// Vectors returns one vector per text, in the texts' order, by one request. dimension 0 is the model's own.
	Vectors(ctx context.Context, texts []string, dimension int) ([][]float64, error)
}

// embedder embeds by a model behind HTTP.
type embedder struct {
	config  Embedding
	vectors vectorProtocol

	mu        sync.Mutex
	dimension int // 0 until it is measured
}

var (
	_ memory.Embedder      = (*embedder)(nil)
	_ memory.QueryEmbedder = (*embedder)(nil)
)

// Name returns provider and model, then "@" and the dimension where one was asked for, then "+" and a digest of the
// prefix of stored texts where there is one: each of them changes the vectors.
func (e *embedder) Name() string {
	name := e.config.Name
	if e.config.Dimension > 0 {
		name += fmt.Sprintf("@%d", e.config.Dimension)
	}
	if e.config.DocPrefix != "" {
		sum := sha256.Sum256([]byte(e.config.DocPrefix))
		name += "+" + hex.EncodeToString(sum[:4])
	}
	return name
}

// Dimension returns the size of every vector, 0 before Measure.
func (e *embedder) Dimension() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.dimension
}

// Thresholds are those that systems with neural embedders publish for near-duplicates (0.85) and clusters (0.75, and
// 0.70 to the representative); such a vector ranks with full weight.
func (*embedder) Thresholds() memory.SimilarityThresholds {
	return memory.SimilarityThresholds{Dedup: .85, Cluster: .75, Diameter: .70, RankWeight: 1}
}

// Embed returns one vector of unit length per text, in order, and leaves the texts unchanged. A text beyond what the
// model takes is embedded by its beginning.
func (e *embedder) Embed(ctx context.Context, texts []string) ([]memory.Vector, error) {
	out := make([]memory.Vector, 0, len(texts))
	for _, batch := range batches(texts, e.config.DocPrefix) {
		vectors, err := e.embed(ctx, batch)
		if err != nil {
			return nil, err
		}
		out = append(out, vectors...)
	}
	return out, nil
}

// EmbedQuery returns the vector of a question.
func (e *embedder) EmbedQuery(ctx context.Context, text string) (memory.Vector, error) {
	vectors, err := e.embed(ctx, batches([]string{text}, e.config.QueryPrefix)[0])
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}

// measure finds the dimension out, once.
func (e *embedder) measure(ctx context.Context) error {
	if e.Dimension() > 0 {
		return nil
	}
	got, err := e.vectors.Vectors(ctx, []string{"dimension"}, 0)
	if err != nil {
		return err
	}
	n := len(got[0])
	if n == 0 || n > memory.MaxDimension {
		return fmt.Errorf("%s gives vectors of %d dimensions: %w", e.config.Name, n, memory.ErrInvalid)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.dimension = cmp.Or(e.dimension, n)
	return nil
}

// batches groups the texts, with their prefix, into requests.
func batches(texts []string, prefix string) [][]string {
	var out [][]string
	size := 0
	for _, t := range texts {
		t = prefix + cut(t, maxTextBytes)
		if strings.TrimSpace(t) == "" {
			t = "." // servers refuse an empty text
		}
		last := len(out) - 1
		if last < 0 || len(out[last]) == maxTexts || size+len(t) > maxBatchBytes {
			out, last, size = append(out, nil), last+1, 0
		}
		out[last] = append(out[last], t)
		size += len(t)
	}
	return out
}

// cut returns at most the first n bytes of s, without a broken rune, as valid UTF-8.
func cut(s string, n int) string { return strings.ToValidUTF8(memory.Truncate(s, n), "\uFFFD") }

// embed embeds one batch. A batch that is too large is halved, a single text that is too large is cut.
func (e *embedder) embed(ctx context.Context, texts []string) ([]memory.Vector, error) {
	got, err := e.vectors.Vectors(ctx, texts, e.config.Dimension)
	switch {
	case err == nil:
		return e.unitVectors(got)
	case !errors.Is(err, memory.ErrTooLarge):
		return nil, err
	case len(texts) == 1 && len(texts[0]) > minTextBytes:
		return e.embed(ctx, []string{cut(texts[0], len(texts[0])/2)})
	case len(texts) == 1:
		return nil, err
	}
	first, err := e.embed(ctx, texts[:len(texts)/2])
	if err != nil {
		return nil, err
	}
	second, err := e.embed(ctx, texts[len(texts)/2:])
	return append(first, second...), err
}

// unitVectors checks vectors and scales them to unit length.
func (e *embedder) unitVectors(got [][]float64) ([]memory.Vector, error) {
	want := e.Dimension()
	out := make([]memory.Vector, len(got))
	for i, v := range got {
		if want > 0 && len(v) != want {
			return nil, fmt.Errorf("%s gave a vector of %d dimensions, not %d: %w", e.config.Name, len(v), want,
				memory.ErrConflict)
		}
		u, err := unit(v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.config.Name, err)
		}
		out[i] = u
	}
	return out, nil
}

// unit returns v scaled to length 1.
func unit(v []float64) (memory.Vector, error) {
	largest := 0.0
	for _, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, fmt.Errorf("a vector with a value that is no number: %w", memory.ErrUnavailable)
		}
		largest = max(largest, math.Abs(x))
	}
	if largest == 0 {
		return nil, fmt.Errorf("a vector of zeros: %w", memory.ErrUnavailable)
	}
	sum := 0.0
	for _, x := range v {
		sum += (x / largest) * (x / largest)
	}
	length := math.Sqrt(sum)
	out := make(memory.Vector, len(v))
	for i, x := range v {
		out[i] = float32(x / largest / length)
	}
	return out, nil
}
