package provider_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider"
)

// ask completes a small prompt by a model at url.
func ask(ctx context.Context, t *testing.T, c provider.Config) (memory.Completion, error) {
	t.Helper()
	return open(t, c).Language(memory.StageExtract).Complete(ctx, memory.Prompt{User: "x"})
}

func TestFaults(t *testing.T) {
	t.Parallel()
	t.Run("every kind of failure has its meaning, and is repeated only where that helps", func(t *testing.T) {
		t.Parallel()
		for name, c := range map[string]struct {
			step    step
			meaning error
			calls   int
		}{
			"a server error":                    {says(500, `{"error":{"message":"oops"}}`), memory.ErrUnavailable, 3},
			"a bad gateway":                     {says(502, `<html>bad gateway</html>`), memory.ErrUnavailable, 3},
			"an overloaded server":              {says(529, `{}`), memory.ErrUnavailable, 3},
			"a limit of requests":               {says(429, `{"error":{"message":"slow down"}}`), memory.ErrUnavailable, 3},
			"a quota that is used up":           {says(429, `{"error":{"message":"no credit","code":"insufficient_quota"}}`), memory.ErrUnavailable, 1},
			"a wrong key":                       {says(401, `{"error":{"message":"wrong key"}}`), memory.ErrUnavailable, 1},
			"an unknown model":                  {says(404, `{"error":{"message":"no such model"}}`), memory.ErrUnavailable, 1},
			"a redirect":                        {says(307, ``, "Location", "http://127.0.0.1:1/v1"), memory.ErrUnavailable, 1},
			"a bad request":                     {says(400, `{"error":{"message":"no"}}`), memory.ErrInvalid, 1},
			"OpenAI's long context":             {says(400, `{"error":{"message":"too much","code":"context_length_exceeded"}}`), memory.ErrTooLarge, 1},
			"vLLM's long context":               {says(400, `{"message":"This model's maximum context length is 4096 tokens."}`), memory.ErrTooLarge, 1},
			"llama.cpp's long context":          {says(400, `{"error":{"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`), memory.ErrTooLarge, 1},
			"a payload too large":               {says(413, ``), memory.ErrTooLarge, 1},
			"an answer without choices":         {says(200, `{"choices":[]}`), memory.ErrUnavailable, 3},
			"an answer of another shape":        {says(200, `[1,2]`), memory.ErrUnavailable, 3},
			"a page for people":                 {says(200, `<html>sign in</html>`), memory.ErrUnavailable, 3},
			"an error with status 200":          {says(200, `{"error":{"message":"upstream died"}}`), memory.ErrUnavailable, 3},
			"a connection that breaks":          {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, memory.ErrUnavailable, 3},
			"a body that breaks":                {then(says(200, `{"choices":[{"mess`, "Content-Length", "500")), memory.ErrUnavailable, 3},
			"an answer of more than 16 MiB":     {huge, memory.ErrUnavailable, 1},
			"a wait that is longer than a call": {says(429, `{}`, "Retry-After", "3600"), memory.ErrUnavailable, 1},
		} {
			s := serve(t, c.step)
			ctx, took := metered()
			_, err := ask(ctx, t, config("openai:m", s.URL))
			if !errors.Is(err, c.meaning) {
				t.Errorf("%s: %v, want %v", name, err, c.meaning)
			}
			if n := len(s.requests()); n != c.calls {
				t.Errorf("%s: %d requests, want %d", name, n, c.calls)
			}
			if sum := took(); sum.Calls != c.calls || sum.Failed != c.calls {
				t.Errorf("%s: counted %+v", name, sum)
			}
		}
	})
	t.Run("an answer cut at its limit is no failure, even when nothing is left of it", func(t *testing.T) {
		t.Parallel()
		s := serve(t, says(200, `{"choices":[{"message":{"content":null},"finish_reason":"length"}],"usage":{"prompt_tokens":9,"completion_tokens":5}}`))
		got, err := ask(context.Background(), t, config("openai:m", s.URL))
		if err != nil || !got.Truncated || got.Usage.CompletionTokens != 5 {
			t.Errorf("%+v, %v", got, err)
		}
	})
	t.Run("an answer of nothing is an answer, and its reader's to judge", func(t *testing.T) {
		t.Parallel()
		for _, body := range []string{
			`{"choices":[{"message":{"content":""},"finish_reason":"stop"}],"usage":{"prompt_tokens":9}}`, `{"choices":[{"message":{"content":null}}],"usage":{"prompt_tokens":9}}`,
			`{"choices":[{"message":{"tool_calls":[{"function":{"arguments":"{}"}}]}}],"usage":{"prompt_tokens":9}}`,
			`{"choices":[{"message":{"content":[]}}],"usage":{"prompt_tokens":9}}`,
		} {
			s := serve(t, says(200, body))
			got, err := ask(context.Background(), t, config("openai:m", s.URL))
			if err != nil || got.Text != "" || got.Calls != nil || got.Truncated || got.Usage != (memory.Usage{Calls: 1, PromptTokens: 9}) || len(s.requests()) != 1 {
				t.Errorf("%s: %+v, %v", body, got, err)
			}
		}
	})
	t.Run("a failure that passes is repeated, and all of it is counted", func(t *testing.T) {
		t.Parallel()
		s := serve(t, says(503, ``, "Retry-After-Ms", "1"), says(200, `{"choices":[],"usage":{"prompt_tokens":11}}`), says(200, hello))
		ctx, took := metered()
		got, err := ask(ctx, t, config("openai:m", s.URL))
		want := memory.Usage{Calls: 3, Failed: 2, PromptTokens: 22, CachedTokens: 4, CompletionTokens: 3}
		if sum := took(); err != nil || sum != want || got.Usage != want {
			t.Errorf("%v; counted %+v, told %+v, want %+v", err, sum, got.Usage, want)
		}
	})
	t.Run("the wait that a server asks for is kept", func(t *testing.T) {
		t.Parallel()
		s := serve(t, says(429, `{}`, "Retry-After-Ms", "120"), says(200, hello))
		began := time.Now()
		if _, err := ask(context.Background(), t, config("openai:m", s.URL)); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < 120*time.Millisecond {
			t.Errorf("asked again after %s", took)
		}
	})
	t.Run("the caller's deadline and its cancelling are told apart from a call that takes too long", func(t *testing.T) {
		t.Parallel()
		s := serve(t, hangs)
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		defer cancel()
		if _, err := ask(ctx, t, config("openai:m", s.URL)); !errors.Is(err, memory.ErrDeadline) || errors.Is(err, memory.ErrUnavailable) {
			t.Errorf("deadline: %v", err)
		}
		gone, leave := context.WithCancel(context.Background())
		time.AfterFunc(20*time.Millisecond, leave)
		if _, err := ask(gone, t, config("openai:m", s.URL)); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
		c := config("openai:m", s.URL)
		c.Timeout = 20 * time.Millisecond
		if _, err := ask(context.Background(), t, c); !errors.Is(err, memory.ErrUnavailable) || !strings.Contains(err.Error(), "20ms") {
			t.Errorf("too long: %v", err)
		}
	})
	t.Run("an answer that never ends is given up", func(t *testing.T) {
		t.Parallel()
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			tick := time.NewTicker(2 * time.Millisecond)
			defer tick.Stop()
			for r.Context().Err() == nil {
				_, _ = io.WriteString(w, " ")
				w.(http.Flusher).Flush()
				<-tick.C
			}
		})
		c := config("openai:m", s.URL)
		c.Timeout = 50 * time.Millisecond
		if _, err := ask(context.Background(), t, c); !errors.Is(err, memory.ErrUnavailable) {
			t.Errorf("%v", err)
		}
	})
	t.Run("a model that is down is not called for a while, and then tried again", func(t *testing.T) {
		t.Parallel()
		s := serve(t, says(500, ``), says(500, ``), says(500, ``), says(200, hello))
		c := config("openai:m", s.URL)
		c.Trip, c.Retries, c.Rest = 3, 0, 50*time.Millisecond
		set := open(t, c)
		m := set.Language(memory.StageExtract)
		for range 5 {
			if _, err := m.Complete(context.Background(), memory.Prompt{User: "x"}); !errors.Is(err, memory.ErrUnavailable) {
				t.Fatalf("%v", err)
			}
		}
		if n := len(s.requests()); n != 3 {
			t.Errorf("%d requests to a dead model, want 3", n)
		}
		for end := time.Now().Add(30 * time.Second); ; {
			if _, err := m.Complete(context.Background(), memory.Prompt{User: "x"}); err == nil {
				break
			} else if time.Now().After(end) {
				t.Fatalf("it never came back: %v", err)
			}
		}
		for outcome, want := range map[string]float64{"ok": 1, "unavailable": 3} {
			if got := metric(t, set.Metrics(), "eunoe_model_calls_total", map[string]string{"stage": "extract", "model": "openai:m", "outcome": outcome}); got != want {
				t.Errorf("%v attempts ended %s, want %v", got, outcome, want)
			}
		}
		if got := metric(t, set.Metrics(), "eunoe_model_tokens_total", map[string]string{"stage": "extract", "model": "openai:m", "kind": "prompt"}); got != 11 {
			t.Errorf("%v tokens of prompts, want 11", got)
		}
	})
	t.Run("no error holds the key, a piece of the conversation, or more than a line", func(t *testing.T) {
		t.Parallel()
		for _, step := range []step{
			says(401, `{"error":{"message":"Incorrect API key provided: sk-secret-key.`+strings.Repeat(" More.\\n", 500)+`"}}`),
			says(200, `{"choices":[{"message":{"content":"Alice lives in Lisbon`),
			says(500, "sk-secret-key\x00\n\n"),
		} {
			s := serve(t, step)
			_, err := ask(context.Background(), t, config("openai:m", s.URL))
			if err == nil {
				t.Fatal("it should fail")
			}
			said := fmt.Sprintf("%v %+v %#v", err, err, err)
			if strings.Contains(said, "sk-secret") || strings.Contains(said, "Lisbon") || strings.Contains(err.Error(), "\n") || len(err.Error()) > 500 {
				t.Errorf("it says %s", said)
			}
		}
	})
	t.Run("a prompt that makes no sense is refused before it is sent", func(t *testing.T) {
		t.Parallel()
		for _, name := range []string{"openai:m", "anthropic:m", "google:m"} {
			s := serve(t, says(200, hello))
			m := open(t, config(name, s.URL)).Language(memory.StageExtract)
			for _, p := range []memory.Prompt{{}, {User: "x", MustCall: true}, {User: "x", Turns: []memory.Turn{{Calls: []memory.ToolCall{{Name: "a"}}}}}, {User: "x", Schema: []byte("{")}} {
				if _, err := m.Complete(context.Background(), p); !errors.Is(err, memory.ErrInvalid) {
					t.Errorf("%s: %+v: %v", name, p, err)
				}
			}
			if n := len(s.requests()); n != 0 {
				t.Errorf("%s: %d requests", name, n)
			}
		}
	})
}

// huge answers with more than anyone reads.
func huge(w http.ResponseWriter, _ *http.Request) {
	piece := []byte(strings.Repeat("x", 1<<20))
	_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"`)
	for range 17 {
		if _, err := w.Write(piece); err != nil {
			return
		}
	}
}

// metric returns the value of one series.
func metric(t *testing.T, c prometheus.Collector, name string, labels map[string]string) float64 {
	t.Helper()
	reg := prometheus.NewRegistry()
	if err := reg.Register(c); err != nil {
		t.Fatal(err)
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			same := f.GetName() == name
			for _, l := range m.GetLabel() {
				same = same && labels[l.GetName()] == l.GetValue()
			}
			if same {
				return m.GetCounter().GetValue()
			}
		}
	}
	t.Fatalf("no series %s %v", name, labels)
	return 0
}
