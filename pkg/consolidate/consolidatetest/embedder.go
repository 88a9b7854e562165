package consolidatetest

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text"
)

// EmbedderDimension is the size of an Embedder's vectors.
const EmbedderDimension = 64

// concepts are words that mean the same to an Embedder, by the stem of the first.
var concepts = [][]string{
	{"car", "automobile", "vehicle", "drives"}, {"doctor", "physician", "surgeon"}, {"dog", "hound", "puppy", "terrier"},
	{"eats", "food", "dinner", "meal", "allergic", "shellfish", "prawns"}, {"lives", "moved", "home", "resides"}, {"happy", "glad", "cheerful"},
}

// Embedder stands for an embedding model: words that mean the same lie near each other whatever their letters. It is
// deterministic for one name, and can be made to fail. It is safe for concurrent use.
type Embedder struct {
	name string

	mu      sync.Mutex
	down    bool
	refuses string // texts that hold it are refused
	calls   int
	texts   int
}

var _ memory.Embedder = (*Embedder)(nil)

// NewEmbedder makes a model; two names give vectors that have nothing in common.
func NewEmbedder(name string) *Embedder { return &Embedder{name: name} }

// Name is the name it was made with.
func (e *Embedder) Name() string { return e.name }

// Dimension is EmbedderDimension.
func (e *Embedder) Dimension() int { return EmbedderDimension }

// Thresholds are those of embedding models; it ranks.
func (e *Embedder) Thresholds() memory.SimilarityThresholds {
	return memory.SimilarityThresholds{Dedup: 0.85, Cluster: 0.75, Diameter: 0.70, RankWeight: 1}
}

// Down makes every call fail as a provider that is down, or work again.
func (e *Embedder) Down(down bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.down = down
}

// Refuse makes calls fail for good that hold a text with this in it; "" = none.
func (e *Embedder) Refuse(part string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.refuses = part
}

// Calls returns how often it was asked, and for how many texts.
func (e *Embedder) Calls() (calls, texts int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.calls, e.texts
}

// Embed returns one vector for each text.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([]memory.Vector, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.calls++
	failed := e.down
	memory.MeterOf(ctx).Add(memory.StageUsage{Stage: memory.StageEmbed, Model: e.name, Usage: memory.Usage{Calls: 1, Failed: count(failed)}})
	if failed {
		return nil, fmt.Errorf("%s is down: %w", e.name, memory.ErrUnavailable)
	}
	out := make([]memory.Vector, len(texts))
	for i, t := range texts {
		if e.refuses != "" && strings.Contains(t, e.refuses) {
			return nil, fmt.Errorf("%s refuses a text: %w", e.name, memory.ErrInvalid)
		}
		out[i] = e.vector(t)
	}
	e.texts += len(texts)
	return out, nil
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func (e *Embedder) vector(s string) memory.Vector {
	sum := make(memory.Vector, EmbedderDimension)
	sum[0] = .05
	for _, stem := range text.ContentStems(s) {
		meaning := stem
		for _, c := range concepts {
			if slices.Contains(text.ContentStems(strings.Join(c, " ")), stem) {
				meaning = "=" + c[0]
			}
		}
		h := fnv.New64a()
		h.Write([]byte(e.name + "\x00" + meaning))
		r := rand.New(rand.NewPCG(h.Sum64(), 7)) //nolint:gosec // the same for the same word is what is wanted
		for i := range sum {
			sum[i] += float32(r.NormFloat64())
		}
	}
	return sum.Unit()
}
