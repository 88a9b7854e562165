package memory

import "context"

// LanguageModel completes a prompt. Implementations are safe for concurrent use.
type LanguageModel interface {
	// Name is provider and model, as "openai:gpt-4o-mini".
	Name() string
	// Complete answers a prompt. The error is ErrUnavailable when trying again may help.
	Complete(ctx context.Context, p Prompt) (Completion, error)
}

// Prompt is what a language model is asked.
type Prompt struct {
	System string
	User   string
	Schema []byte // JSON schema the answer must meet; nil = free text
	Limit  int    // tokens of the answer; 0 = the model's own limit
}

// Completion is what a language model answered.
type Completion struct {
	Text             string
	PromptTokens     int
	CompletionTokens int
	Truncated        bool
}

// Embedder turns texts into vectors of unit length. Implementations are safe
// for concurrent use and deterministic for one Name.
type Embedder interface {
	// Name identifies the model; vectors of different names are never compared.
	Name() string
	// Dimension is the size of every vector.
	Dimension() int
	// Thresholds belong to the model: what counts as near under it.
	Thresholds() SimilarityThresholds
	// Embed gives one vector per text, in order.
	Embed(ctx context.Context, texts []string) ([]Vector, error)
}

// SimilarityThresholds are cosines, each in [0, 1].
type SimilarityThresholds struct {
	Dedup    float64 // at or above: a candidate near-duplicate
	Cluster  float64 // at or above: an edge between two nodes of the tree
	Diameter float64 // every member of a composite is this near its representative
	// SharedWord asks that two facts share a content word that is no name
	// before they may be clustered: for embedders whose cosine is lexical.
	SharedWord bool
	// RankWeight is the default weight of the semantic strategy in recall.
	RankWeight float64
}

// Reranker orders texts by how well they answer a query.
type Reranker interface {
	// Rerank gives a score per text, in the texts' order; higher is better.
	Rerank(ctx context.Context, query string, texts []string) ([]float64, error)
}
