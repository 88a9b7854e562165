// Package rerank asks a service that scores texts against a question: Cohere, Jina, or a text-embeddings-inference
// server (TEI).
package rerank

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/call"
)

// The shapes that a service's endpoint can have.
const (
	Cohere = "cohere"
	Jina   = "jina"
	TEI    = "tei"
)

// Config is the service that reranks.
type Config struct {
	URL   string // of the service, with or without its path; "" = none
	Model string // "" = the service has one model
	Key   call.Key
	Shape string // cohere, jina or tei; "" = as the URL says
}

// Validate checks the address and the shape; no service at all is valid.
func (c Config) Validate() error {
	if c.URL == "" {
		return nil
	}
	if err := call.CheckURL(c.URL); err != nil {
		return fmt.Errorf("reranker: %w", err)
	}
	if !slices.Contains([]string{"", Cohere, Jina, TEI}, c.Shape) {
		return memory.Invalid("shape", "%q is no shape of a reranker; expected cohere, jina or tei", c.Shape)
	}
	return nil
}

// Endpoint returns the name by which the service is counted, the address to post to, and the key. An URL without the
// path of the method gets it.
func (c Config) Endpoint() call.Endpoint {
	name := cmp.Or(c.Model, c.shape())
	return call.Endpoint{Model: "rerank:" + name, URL: c.address(), Key: c.Key}
}

// shape returns the shape that is set, or that the URL and the model say. A service of one model whose path names no
// version of an API is TEI; anything else is asked as Cohere and Jina are, which hardly differ.
func (c Config) shape() string {
	switch {
	case c.Shape != "":
		return c.Shape
	case strings.Contains(c.URL, "cohere"):
		return Cohere
	case strings.Contains(c.URL, "jina"):
		return Jina
	}
	u, err := url.Parse(c.URL)
	if err == nil && c.Model == "" && !versioned.MatchString(u.Path) {
		return TEI
	}
	return Cohere
}

// versioned matches a path that names the version of an API: /v1, /v2/rerank.
var versioned = regexp.MustCompile(`/v[0-9]+(/|$)`)

func (c Config) address() string {
	at := strings.TrimRight(c.URL, "/")
	if strings.HasSuffix(at, "/rerank") {
		return at
	}
	u, err := url.Parse(at)
	if err != nil || u.Path != "" || c.shape() == TEI {
		return at + "/rerank"
	}
	if c.shape() == Cohere && strings.HasSuffix(u.Host, "cohere.com") {
		return at + "/v2/rerank"
	}
	return at + "/v1/rerank"
}

// Reranker asks a service. It is safe for concurrent use.
type Reranker struct {
	client *call.Client
	shape  string
	model  string // as it is named to the service; "" = not at all
}

var _ memory.Reranker = (*Reranker)(nil)

// New makes a Reranker whose requests go through client, made for c.Endpoint(); it sends nothing.
func New(client *call.Client, c Config) *Reranker {
	return &Reranker{client: client, shape: c.shape(), model: c.Model}
}

// Rerank returns a score per text, in the texts' order; higher is better, the range is the service's own. An answer
// that does not score every text exactly once is memory.ErrUnavailable: the caller's order is better than half of
// another. No texts cost no request.
func (r *Reranker) Rerank(ctx context.Context, query string, texts []string) (out []float64, err error) {
	if len(texts) == 0 {
		return nil, nil
	}
	body := map[string]any{"query": query}
	switch r.shape {
	case TEI:
		body["texts"], body["truncate"] = texts, true
	default:
		body["documents"], body["top_n"] = texts, len(texts)
		if r.shape == Jina {
			body["return_documents"] = false
		}
		if r.model != "" {
			body["model"] = r.model
		}
	}
	at := r.client.Endpoint()
	_, err = r.client.Do(ctx, memory.StageRerank, func(ctx context.Context, x *call.Exchange) error {
		raw, err := x.PostJSON(ctx, at.URL, http.Header{"Authorization": {"Bearer " + string(at.Key)}}, body)
		if err == nil {
			out, x.Usage, err = readScores(raw, len(texts))
		}
		return err
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
			return nil, usage, call.Garbled("the answer holds no scores but %s", call.Describe(raw))
		}
		list = a.Results
		usage.PromptTokens = call.Count(max(a.Usage.Prompt, a.Usage.Total))
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
			return nil, usage, call.Unsound("a score without a text or a number")
		case *s.Index < 0 || *s.Index >= n:
			return nil, usage, call.Unsound("a score for text %d of %d", *s.Index, n)
		case seen[*s.Index]:
			return nil, usage, call.Unsound("two scores for text %d", *s.Index)
		}
		out[*s.Index], seen[*s.Index] = *score, true
	}
	if len(list) != n {
		return nil, usage, call.Unsound("%d scores came for %d texts", len(list), n)
	}
	return out, usage, nil
}
