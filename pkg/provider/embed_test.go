package provider_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider"
	"github.com/eunoe-memory/eunoe/pkg/provider/rerank"
)

func embedding(url string, change func(*provider.Embedding)) provider.Config {
	c := config("openai:m", url)
	c.Embed = provider.Embedding{Model: provider.Model{Name: "openai:text-embedding-3-small", URL: url, Key: "sk-secret-key"}, Dimension: 2}
	if change != nil {
		change(&c.Embed)
	}
	return c
}

// vectors answers each text "n …" with the vector (n, 1), the last text first.
func vectors(t *testing.T, s **server) step {
	return func(w http.ResponseWriter, _ *http.Request) {
		r := (*s).requests()
		list, ok := r[len(r)-1].body["input"].([]any)
		if !ok {
			t.Errorf("the input is %v", r[len(r)-1].body["input"])
		}
		var out []string
		for i := len(list) - 1; i >= 0; i-- {
			var n float64
			if _, err := fmt.Sscan(list[i].(string), &n); err != nil {
				t.Errorf("the text is %q", list[i])
			}
			out = append(out, fmt.Sprintf(`{"index":%d,"embedding":[%v,1]}`, i, n))
		}
		_, _ = fmt.Fprintf(w, `{"data":[%s],"usage":{"prompt_tokens":%d}}`, strings.Join(out, ","), len(list))
	}
}

func TestEmbedder(t *testing.T) {
	t.Parallel()
	t.Run("vectors come in the texts' order with length 1, in bounded requests, and the texts stay as they are", func(t *testing.T) {
		t.Parallel()
		var s *server
		s = serve(t, func(w http.ResponseWriter, r *http.Request) { vectors(t, &s)(w, r) })
		e := open(t, embedding(s.URL, nil)).Embedder()
		var texts []string
		for i := range 250 {
			texts = append(texts, fmt.Sprintf("%d\nline %d", i, i))
		}
		texts[3] = "3 " + strings.Repeat("é", 40000)
		before := append([]string(nil), texts...)
		ctx, took := metered()
		got, err := e.Embed(ctx, texts)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, texts); diff != "" {
			t.Error("the texts changed", diff)
		}
		for i, v := range got {
			length := math.Hypot(float64(v[0]), float64(v[1]))
			if math.Abs(length-1) > 1e-6 || math.Abs(float64(v[0]/v[1])-float64(i)) > 1e-3*float64(i+1) {
				t.Fatalf("text %d has the vector %v", i, v)
			}
		}
		if len(got) != 250 || len(s.requests()) != 3 {
			t.Errorf("%d vectors in %d requests", len(got), len(s.requests()))
		}
		for _, r := range s.requests() {
			if len(r.raw) > 400<<10 || r.path != "/embeddings" || r.body["dimensions"] != 2.0 || r.header.Get("Authorization") != "Bearer sk-secret-key" {
				t.Errorf("a request of %d bytes to %s", len(r.raw), r.path)
			}
		}
		if sum := took(); sum.Calls != 3 || sum.PromptTokens != 250 {
			t.Errorf("counted %+v", sum)
		}
		if none, err := e.Embed(ctx, nil); err != nil || len(none) != 0 || len(s.requests()) != 3 {
			t.Errorf("no texts: %v, %v", none, err)
		}
	})
	t.Run("questions and stored texts have their own prefix, and the name tells what changes the vectors", func(t *testing.T) {
		t.Parallel()
		s := serve(t, says(200, `{"data":[{"embedding":[3,4]}]}`))
		e := open(t, embedding(s.URL, func(e *provider.Embedding) { e.QueryPrefix, e.DocPrefix = "query: ", "passage: " })).Embedder()
		if _, err := e.Embed(context.Background(), []string{" "}); err != nil {
			t.Fatal(err)
		}
		v, err := e.(memory.QueryEmbedder).EmbedQuery(context.Background(), "where?")
		if err != nil || v[0] != .6 || v[1] != .8 {
			t.Fatalf("%v, %v", v, err)
		}
		if diff := cmp.Diff([]any{[]any{"passage:  "}, []any{"query: where?"}}, []any{s.requests()[0].body["input"], s.requests()[1].body["input"]}); diff != "" {
			t.Error(diff)
		}
		name := func(change func(*provider.Embedding)) string {
			return open(t, embedding(s.URL, change)).Embedder().Name()
		}
		if got := name(nil); got != "openai:text-embedding-3-small@2" {
			t.Errorf("asked for a dimension it is called %q", got)
		}
		if got := name(func(e *provider.Embedding) { e.Dimension = 0 }); got != "openai:text-embedding-3-small" {
			t.Errorf("it is called %q", got)
		}
		if a, b := e.Name(), name(func(e *provider.Embedding) { e.DocPrefix = "other: " }); a == b || !strings.HasPrefix(a, "openai:text-embedding-3-small@2+") {
			t.Errorf("with prefixes it is called %q and %q", a, b)
		}
		if a, b := name(nil), name(func(e *provider.Embedding) { e.QueryPrefix, e.URL = "q", "http://127.0.0.1:9" }); a != b {
			t.Errorf("the address or the prefix of questions changed the name: %q, %q", a, b)
		}
	})
	t.Run("an empty text has a vector too", func(t *testing.T) {
		t.Parallel()
		s := serve(t, says(200, `{"data":[{"embedding":[1,0]}]}`))
		if _, err := open(t, embedding(s.URL, nil)).Embedder().Embed(context.Background(), []string{""}); err != nil || dig(s.requests()[0].body, "input", 0) == "" {
			t.Errorf("%v", err)
		}
	})
	t.Run("the dimension is asked for once where none is set", func(t *testing.T) {
		t.Parallel()
		s := serve(t, says(200, `{"data":[{"embedding":[1,2,3]}]}`))
		set := open(t, embedding(s.URL, func(e *provider.Embedding) { e.Dimension = 0 }))
		for range 2 {
			if err := set.Measure(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		if set.Embedder().Dimension() != 3 || len(s.requests()) != 1 || s.requests()[0].body["dimensions"] != nil {
			t.Errorf("dimension %d after %d requests", set.Embedder().Dimension(), len(s.requests()))
		}
	})
	t.Run("a model with a fixed dimension is sent no dimension", func(t *testing.T) {
		t.Parallel()
		s := serve(t, says(400, `{"error":"model does not support matryoshka representation"}`), says(200, `{"data":[{"embedding":[1,2]}]}`))
		e := open(t, embedding(s.URL, nil)).Embedder()
		for range 2 {
			if _, err := e.Embed(context.Background(), []string{"x"}); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(s.requests()); n != 3 {
			t.Errorf("%d requests, want 3", n)
		}
	})
	t.Run("what is too long for the model is halved, and a single text cut", func(t *testing.T) {
		t.Parallel()
		var s *server
		s = serve(t, func(w http.ResponseWriter, r *http.Request) {
			asked := s.requests()
			if len(asked[len(asked)-1].raw) > 1500 {
				says(400, `{"error":{"message":"maximum context length is 512 tokens"}}`)(w, r)
				return
			}
			vectors(t, &s)(w, r)
		})
		got, err := open(t, embedding(s.URL, nil)).Embedder().Embed(context.Background(), []string{"1 a", "2 b", "3 " + strings.Repeat("word ", 2000)})
		if err != nil || len(got) != 3 {
			t.Fatalf("%d vectors, %v", len(got), err)
		}
		for i, v := range got {
			if math.Abs(float64(v[0]/v[1])-float64(i+1)) > 1e-3 {
				t.Errorf("text %d has the vector %v", i, v)
			}
		}
	})
	t.Run("an answer that is not one sound vector a text is an error", func(t *testing.T) {
		t.Parallel()
		for body, meaning := range map[string]error{
			`{"data":[{"index":0,"embedding":[1,2]}]}`:                                   memory.ErrUnavailable,
			`{"data":[{"index":0,"embedding":[1,2]},{"index":0,"embedding":[1,2]}]}`:     memory.ErrUnavailable,
			`{"data":[{"index":0,"embedding":[1,2]},{"index":2,"embedding":[1,2]}]}`:     memory.ErrUnavailable,
			`{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[]}]}`:        memory.ErrUnavailable,
			`{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[0,0]}]}`:     memory.ErrUnavailable,
			`{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":["NaN",1]}]}`: memory.ErrUnavailable,
			`{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1e999,1]}]}`: memory.ErrUnavailable,
			`{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1,2,3]}]}`:   memory.ErrConflict,
			`[]`: memory.ErrUnavailable,
		} {
			s := serve(t, says(200, body))
			if _, err := open(t, embedding(s.URL, nil)).Embedder().Embed(context.Background(), []string{"a", "b"}); !errors.Is(err, meaning) {
				t.Errorf("%s: %v, want %v", body, err, meaning)
			}
		}
		s := serve(t, says(200, `{"data":[{"embedding":[1e308,1e308]},{"embedding":[1e-300,0]}]}`))
		if got, err := open(t, embedding(s.URL, nil)).Embedder().Embed(context.Background(), []string{"a", "b"}); err != nil || math.Abs(float64(got[0][0])-math.Sqrt2/2) > 1e-6 || got[1][0] != 1 {
			t.Errorf("values at the ends of the range: %v, %v", got, err)
		}
	})
	t.Run("Google is asked in its own way", func(t *testing.T) {
		t.Parallel()
		s := serve(t, says(200, `{"embeddings":[{"values":[3,4]},{"values":[0,2]}]}`))
		e := open(t, embedding(s.URL, func(e *provider.Embedding) { e.Name = "google:gemini-embedding-001" })).Embedder()
		got, err := e.Embed(context.Background(), []string{"a", "b"})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]memory.Vector{{.6, .8}, {0, 1}}, got); diff != "" {
			t.Error(diff)
		}
		r := s.requests()[0]
		if r.path != "/models/gemini-embedding-001:batchEmbedContents" || r.header.Get("X-Goog-Api-Key") == "" || dig(r.body, "requests", 1, "content", "parts", 0, "text") != "b" ||
			dig(r.body, "requests", 0, "outputDimensionality") != 2.0 || dig(r.body, "requests", 0, "model") != "models/gemini-embedding-001" {
			t.Errorf("asked %s with %s", r.path, r.raw)
		}
	})
}

func TestReranker(t *testing.T) {
	t.Parallel()
	texts := []string{"a", "b", "c"}
	reranking := func(r rerank.Config) provider.Config {
		c := config("openai:m", "http://127.0.0.1:1")
		c.Rerank = r
		return c
	}
	t.Run("each service is asked in its own way and scores in the texts' order", func(t *testing.T) {
		t.Parallel()
		for name, c := range map[string]struct {
			set  rerank.Config // URL: what follows the server's
			path string
			body string
			want map[string]any
		}{
			"Cohere": {rerank.Config{URL: "/v2/rerank", Shape: "cohere", Model: "rerank-v3.5", Key: "k"}, "/v2/rerank", `{"results":[{"index":2,"relevance_score":0.9},{"index":0,"relevance_score":0.5},{"index":1,"relevance_score":0.1}]}`,
				map[string]any{"query": "q", "documents": []any{"a", "b", "c"}, "top_n": 3.0, "model": "rerank-v3.5"}},
			"Jina": {rerank.Config{URL: "", Shape: "jina", Model: "jina-reranker-v2", Key: "k"}, "/v1/rerank", `{"usage":{"total_tokens":15},"results":[{"index":2,"relevance_score":0.9},{"index":0,"relevance_score":0.5},{"index":1,"relevance_score":0.1}]}`,
				map[string]any{"query": "q", "documents": []any{"a", "b", "c"}, "top_n": 3.0, "model": "jina-reranker-v2", "return_documents": false}},
			"TEI, known by its URL": {rerank.Config{URL: "/"}, "/rerank", `[{"index":2,"score":0.9},{"index":0,"score":0.5},{"index":1,"score":0.1}]`,
				map[string]any{"query": "q", "texts": []any{"a", "b", "c"}, "truncate": true}},
			"a server with a model": {rerank.Config{URL: "/v1", Model: "bge"}, "/v1/rerank", `{"results":[{"index":2,"relevance_score":0.9},{"index":0,"relevance_score":0.5},{"index":1,"relevance_score":0.1}]}`,
				map[string]any{"query": "q", "documents": []any{"a", "b", "c"}, "top_n": 3.0, "model": "bge"}},
		} {
			s := serve(t, says(200, c.body))
			c.set.URL = s.URL + c.set.URL
			got, err := open(t, reranking(c.set)).Reranker().Rerank(context.Background(), "q", texts)
			if diff := cmp.Diff([]float64{.5, .1, .9}, got); err != nil || diff != "" {
				t.Errorf("%s: %v %s", name, err, diff)
			}
			r := s.requests()[0]
			if diff := cmp.Diff(c.want, r.body); diff != "" || r.path != c.path {
				t.Errorf("%s: asked %s %s", name, r.path, diff)
			}
			if key := r.header.Get("Authorization"); (key == "Bearer k") != (c.set.Key != "") {
				t.Errorf("%s: the key was %q", name, key)
			}
		}
	})
	t.Run("no texts make no request", func(t *testing.T) {
		t.Parallel()
		if got, err := open(t, reranking(rerank.Config{URL: "http://127.0.0.1:1"})).Reranker().Rerank(context.Background(), "q", nil); err != nil || len(got) != 0 {
			t.Errorf("%v, %v", got, err)
		}
	})
}

func TestConformance(t *testing.T) {
	t.Parallel()
	t.Run("a reranker's error, empty, partial, duplicate and unknown ids are an error that says why", func(t *testing.T) {
		t.Parallel()
		score := func(ids ...int) string {
			var list []map[string]any
			for _, i := range ids {
				list = append(list, map[string]any{"index": i, "relevance_score": .5})
			}
			b, err := json.Marshal(map[string]any{"results": list})
			if err != nil {
				t.Fatal(err)
			}
			return string(b)
		}
		for body, reason := range map[string]string{
			score():                               "0 scores",
			score(0, 2):                           "2 scores",
			score(0, 1, 1):                        "two scores for text 1",
			score(0, 1, 3):                        "text 3 of 3",
			score(0, 1, -1):                       "text -1",
			`{"results":[{"index":0}]}`:           "without",
			`{"results":[{"relevance_score":1}]}`: "without",
			`{"results":"x"}`:                     "no scores",
			`[[0.1,0.2,0.3]]`:                     "no scores",
			`null`:                                "0 scores",
		} {
			s := serve(t, says(200, body))
			c := config("openai:m", s.URL)
			c.Rerank = rerank.Config{URL: s.URL}
			_, err := open(t, c).Reranker().Rerank(context.Background(), "q", []string{"a", "b", "c"})
			if !errors.Is(err, memory.ErrUnavailable) || !strings.Contains(err.Error(), reason) {
				t.Errorf("%s: %v, want %q", body, err, reason)
			}
		}
		s := serve(t, says(500, `{"error":"model is loading"}`))
		c := config("openai:m", s.URL)
		c.Rerank = rerank.Config{URL: s.URL}
		if _, err := open(t, c).Reranker().Rerank(context.Background(), "q", []string{"a"}); !errors.Is(err, memory.ErrUnavailable) || !strings.Contains(err.Error(), "loading") {
			t.Errorf("%v", err)
		}
	})
}
