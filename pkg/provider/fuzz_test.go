package provider_test

import (
	"bytes"
	"context"
	"io"
	"math"
	"net/http"
	"testing"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider"
	"github.com/eunoe-memory/eunoe/pkg/provider/rerank"
)

// answering is a transport that answers everything with the same bytes.
type answering struct {
	status int
	body   []byte
}

// RoundTrip implements http.RoundTripper.
func (a answering) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
	return &http.Response{StatusCode: a.status, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(a.body)), Request: r}, nil
}

// hostile makes models that are answered with b.
func hostile(t *testing.T, name string, status int, b []byte) *provider.Set {
	t.Helper()
	c := config(name, "http://127.0.0.1:1")
	c.Retries = 0
	c.Embed = provider.Embedding{Model: provider.Model{Name: "openai:e", URL: "http://127.0.0.1:1"}, Dimension: 2}
	if name == "google:m" {
		c.Embed.Name = "google:e"
	}
	c.Rerank = rerank.Config{URL: "http://127.0.0.1:1"}
	s, err := provider.New(c, provider.Deps{Transport: answering{status, b}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// answers reports whether b may hold an answer, if one of nothing.
func answers(b []byte) bool {
	for _, key := range []string{"CHOICES", "CONTENT", "CANDIDATES", "STOP_REASON", `\`} {
		if bytes.Contains(bytes.ToUpper(b), []byte(key)) {
			return true
		}
	}
	return false
}

func FuzzAnswers(f *testing.F) {
	for _, s := range []string{
		hello, message, `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"a"}}]},"finishReason":"STOP"}]}`, `{"choices":[{"message":{"tool_calls":[{"index":9,"function":{"arguments":{}}}]}}]}`,
		"data: {\"choices\":[{\"delta\":{\"content\":\"x\",\"tool_calls\":[{\"index\":200}]},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n",
		"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":3,\"content_block\":{\"type\":\"tool_use\",\"name\":\"a\"}}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":3,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\"}}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"x\"},\"usage\":{\"output_tokens\":-1e300}}\n",
		`{"error":{"message":"x","details":[{"retryDelay":"-1s"}]}}`, `[{"error":{}}]`, `{"usage":{"prompt_tokens":1e308}}`, "", "\xff\xfe", "data:",
	} {
		for i := range 4 {
			f.Add([]byte(s), uint8(i))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, way uint8) {
		name := []string{"openai:m", "anthropic:m", "google:m"}[way%3]
		status := http.StatusOK
		if way&64 != 0 {
			status = 400 + int(way&31)
		}
		p := memory.Prompt{User: "x"}
		if way&128 != 0 {
			p.Stream = func(string) error { return nil }
			p.StreamCall = func(_ int, name, piece string) error {
				if name == "" || piece == "" {
					t.Errorf("a piece %q of a call %q", piece, name)
				}
				return nil
			}
		}
		if way&32 != 0 {
			p.Schema = []byte(factSchema)
		}
		ctx, took := metered()
		got, err := hostile(t, name, status, b).Language(memory.StageExtract).Complete(ctx, p)
		switch {
		case err != nil && memory.Code(err) == 500:
			t.Errorf("an error without a meaning: %v", err)
		case err == nil && got.Text == "" && len(got.Calls) == 0 && !got.Truncated && !answers(b):
			t.Error("an answer where there is none")
		case err != nil && (!utf8.ValidString(err.Error()) || len(err.Error()) > 2000):
			t.Errorf("an error nobody can read: %q", err)
		}
		if u := took(); u.Calls < 1 || u.PromptTokens < 0 || u.CompletionTokens < 0 || u.CachedTokens > u.PromptTokens {
			t.Errorf("counted %+v", u)
		}
	})
}

func FuzzVectors(f *testing.F) {
	f.Add([]byte(`{"data":[{"index":1,"embedding":[1,2]},{"index":0,"embedding":[1e308,-1e308]}]}`), false)
	f.Add([]byte(`{"embeddings":[{"values":[1,0]},{"values":[1e-320,0]}]}`), true)
	f.Add([]byte(`{"data":null}`), false)
	f.Fuzz(func(t *testing.T, b []byte, google bool) {
		name := "openai:m"
		if google {
			name = "google:m"
		}
		got, err := hostile(t, name, 200, b).Embedder().Embed(context.Background(), []string{"a", "b"})
		if err != nil {
			if memory.Code(err) == 500 {
				t.Errorf("an error without a meaning: %v", err)
			}
			return
		}
		if len(got) != 2 {
			t.Fatalf("%d vectors for 2 texts", len(got))
		}
		for _, v := range got {
			sum := 0.0
			for _, x := range v {
				sum += float64(x) * float64(x)
			}
			if len(v) != 2 || math.Abs(sum-1) > 1e-5 {
				t.Errorf("%v has not length 1", v)
			}
		}
	})
}

func FuzzScores(f *testing.F) {
	f.Add([]byte(`[{"index":0,"score":1},{"index":1,"score":-1}]`))
	f.Add([]byte(`{"results":[{"index":1,"relevance_score":0.5}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := hostile(t, "openai:m", 200, b).Reranker().Rerank(context.Background(), "q", []string{"a", "b"})
		if err != nil {
			if memory.Code(err) == 500 {
				t.Errorf("an error without a meaning: %v", err)
			}
			return
		}
		if len(got) != 2 {
			t.Errorf("%d scores for 2 texts", len(got))
		}
	})
}
