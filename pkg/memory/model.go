package memory

import "context"

// LanguageModel completes a prompt. Implementations are safe for concurrent use, count what a call used in the Meter of
// its context, and answer within the context's deadline.
type LanguageModel interface {
	// Name is provider and model, as "openai:gpt-4o-mini".
	Name() string
	// Complete answers a prompt. The error is ErrUnavailable when trying again may help, ErrInvalid when the model
	// refuses the request as it stands, and ErrDeadline when the context's deadline passed.
	Complete(ctx context.Context, p Prompt) (Completion, error)
}

// Prompt is what a language model is asked.
type Prompt struct {
	System string
	User   string
	Turns  []Turn // what followed User so far, in order: a tool loop
	// Schema is the JSON schema the answer must meet; nil = free text. A model that cannot enforce a schema is asked
	// for a JSON object. The caller checks the answer in any case.
	Schema     []byte
	SchemaName string // [a-z_]+, with Schema
	Tools      []Tool // tools the model may call
	MustCall   bool   // with Tools: the model must call one of them
	Limit      int    // tokens of the answer; 0 = the model's own limit
	// Stream is called with each piece of the answer's text as it comes; nil = the answer comes whole. Its error ends
	// the call.
	Stream func(delta string) error
	// StreamCall is called with each piece of a tool call's arguments as it comes: call is the place of the call in the
	// answer, from 0. nil, or a provider that cannot tell them, = the calls come whole. Its error ends the call.
	StreamCall func(call int, name, delta string) error
}

// Tool is a function a language model may call.
type Tool struct {
	Name        string // [a-z_]+
	Description string
	Schema      []byte // JSON schema of the arguments, an object
}

// ToolCall is a call a language model made. Arguments are as it wrote them, and need not be JSON.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string
}

// Turn is one step of a tool loop: what the model said and called, and the results, one per call, in their order.
type Turn struct {
	Text    string
	Calls   []ToolCall
	Results []string
}

// Completion is what a language model answered.
type Completion struct {
	Text      string
	Calls     []ToolCall
	Truncated bool // the answer ended at a limit of tokens
	Usage     Usage
}

// Embedder turns texts into vectors of unit length. Implementations are safe for concurrent use and deterministic for
// one Name.
type Embedder interface {
	// Name identifies the model; vectors of different names are never compared.
	Name() string
	// Dimension is the size of every vector.
	Dimension() int
	// Thresholds belong to the model: what counts as near under it.
	Thresholds() SimilarityThresholds
	// Embed returns one vector per text that is to be stored, in order.
	Embed(ctx context.Context, texts []string) ([]Vector, error)
}

// QueryEmbedder is an Embedder whose model treats questions differently from stored texts, for example with a prefix.
type QueryEmbedder interface {
	// EmbedQuery returns the vector of a question.
	EmbedQuery(ctx context.Context, text string) (Vector, error)
}

// SimilarityThresholds are cosines, each in [0, 1].
type SimilarityThresholds struct {
	Dedup    float64 // at or above: a candidate near-duplicate
	Cluster  float64 // at or above: an edge between two nodes of the tree
	Diameter float64 // every member of a composite is this near its representative
	// SharedWord asks that two facts share a content word that is no name before they may be clustered: for embedders
	// whose cosine is lexical.
	SharedWord bool
	// RankWeight is the default weight of the semantic strategy in recall.
	RankWeight float64
}

// Reranker orders texts by how well they answer a query.
type Reranker interface {
	// Rerank returns a score per text, in the order of the texts; higher is better.
	Rerank(ctx context.Context, query string, texts []string) ([]float64, error)
}
