package provider

import (
	"context"
	"encoding/json"
	"io"
	"math"
	"net/url"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// reranker asks a service that scores texts against a question.
type reranker struct {
	line  *line
	at    string // the endpoint
	shape string
	model string // as it is told to the service; "" = not at all
}

var _ memory.Reranker = (*reranker)(nil)

// shapeOf gives the shape of a reranker's endpoint: the one that is set, or
// what the URL says. A service of one model, without a path, is TEI; anything
// else is asked as Cohere and Jina are, which differ in nothing that matters here.
func (r Reranking) shapeOf() string {
	switch {
	case r.Shape != "":
		return r.Shape
	case strings.Contains(r.URL, "cohere"):
		return ShapeCohere
	case strings.Contains(r.URL, "jina"):
		return ShapeJina
	}
	u, err := url.Parse(r.URL)
	if err == nil && (strings.Trim(u.Path, "/") == "" || u.Path == "/rerank") && r.Model == "" {
		return ShapeTEI
	}
	return ShapeCohere
}

// endpoint gives the address to post to. A URL without the path of the method gets it.
func (r Reranking) endpoint() string {
	at := strings.TrimRight(r.URL, "/")
	if strings.HasSuffix(at, "/rerank") {
		return at
	}
	u, err := url.Parse(at)
	if err != nil || u.Path != "" || r.shapeOf() == ShapeTEI {
		return at + "/rerank"
	}
	if r.shapeOf() == ShapeCohere && strings.HasSuffix(u.Host, "cohere.com") {
		return at + "/v2/rerank"
	}
	return at + "/v1/rerank"
}

// name is how the reranker is counted.
func (r Reranking) name() string {
	if r.Model == "" {
		return "rerank:" + r.shapeOf()
	}
	return "rerank:" + r.Model
}

// Rerank gives a score per text, in the texts' order. An answer that does not
// score every text exactly once is an error: the caller's order is better than
// half of another.
func (r *reranker) Rerank(ctx context.Context, query string, texts []string) ([]float64, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	body := map[string]any{"query": query}
	switch r.shape {
	case ShapeTEI:
		body["texts"], body["truncate"] = texts, true
	default:
		body["documents"], body["top_n"] = texts, len(texts)
		if r.shape == ShapeJina {
			body["return_documents"] = false
		}
		if r.model != "" {
			body["model"] = r.model
		}
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, memory.Invalid("texts", "the texts are no JSON")
	}
	var out []float64
	err = r.line.exchange(ctx, request{
		stage: memory.StageRerank, url: r.at, header: bearer(r.line.key), body: raw,
		answer: func(body io.Reader) (usage memory.Usage, err error) {
			raw, err := io.ReadAll(body)
			if err == nil {
				out, usage, err = readScores(raw, len(texts))
			}
			return usage, err
		},
	})
	return out, err
}

// scored is one text's score, by any of the services.
type scored struct {
	Index     *int     `json:"index"`
	Relevance *float64 `json:"relevance_score"`
	Score     *float64 `json:"score"`
}

// readScores reads the scores of n texts: a list, or an object that holds one.
func readScores(raw []byte, n int) ([]float64, memory.Usage, error) {
	var list []scored
	var usage memory.Usage
	if json.Unmarshal(raw, &list) != nil {
		var a struct {
			Results []scored `json:"results"`
			Usage   struct {
				Prompt float64 `json:"prompt_tokens"`
				Total  float64 `json:"total_tokens"`
			} `json:"usage"`
		}
		if json.Unmarshal(raw, &a) != nil {
			return nil, usage, garbled("the answer holds no scores but %s", kind(raw))
		}
		list = a.Results
		usage.PromptTokens = whole(max(a.Usage.Prompt, a.Usage.Total))
	}
	out := make([]float64, n)
	seen := make([]bool, n)
	for _, s := range list {
		score := s.Relevance
		if score == nil {
			score = s.Score
		}
		switch {
		case s.Index == nil || score == nil || math.IsNaN(*score) || math.IsInf(*score, 0):
			return nil, usage, unsound("a score without a text or a number")
		case *s.Index < 0 || *s.Index >= n:
			return nil, usage, unsound("a score for text %d of %d", *s.Index, n)
		case seen[*s.Index]:
			return nil, usage, unsound("two scores for text %d", *s.Index)
		}
		out[*s.Index], seen[*s.Index] = *score, true
	}
	if len(list) != n {
		return nil, usage, unsound("%d scores came for %d texts", len(list), n)
	}
	return out, usage, nil
}

// unsound is an answer that another attempt would not make better, and the
// caller's time is short.
func unsound(format string, args ...any) *fault {
	f := garbled(format, args...)
	f.again = false
	return f
}
