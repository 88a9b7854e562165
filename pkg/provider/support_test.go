package provider_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider"
)

// seen is one request as it came to a server.
type seen struct {
	path   string
	query  string
	header http.Header
	raw    string
	body   map[string]any
}

// server answers its first request with the first step, and so on; the last step answers all that follow.
type server struct {
	*httptest.Server
	mu   sync.Mutex
	seen []seen
}

type step func(w http.ResponseWriter, r *http.Request)

func serve(t testing.TB, steps ...step) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		in := seen{path: r.URL.EscapedPath(), query: r.URL.RawQuery, header: r.Header, raw: string(raw)}
		if json.Unmarshal(raw, &in.body) != nil {
			t.Errorf("a request that is no JSON object: %s", raw)
		}
		s.mu.Lock()
		n := len(s.seen)
		s.seen = append(s.seen, in)
		s.mu.Unlock()
		steps[min(n, len(steps)-1)](w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) requests() []seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]seen(nil), s.seen...)
}

// says answers with a status and a body; headers are name, value pairs.
func says(status int, body string, headers ...string) step {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// streams answers with events, each sent at once; one with a type is named by it, as Anthropic does.
func streams(lines ...string) step {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, l := range lines {
			var event struct {
				Type string `json:"type"`
			}
			if json.Unmarshal([]byte(l), &event) == nil && event.Type != "" {
				_, _ = io.WriteString(w, "event: "+event.Type+"\n")
			}
			_, _ = io.WriteString(w, "data: "+l+"\n\n")
			w.(http.Flusher).Flush()
		}
	}
}

// noted takes down the pieces of calls, as "place name piece".
func noted(into *[]string) func(int, string, string) error {
	return func(call int, name, piece string) error {
		*into = append(*into, fmt.Sprintf("%d %s %s", call, name, piece))
		return nil
	}
}

// hangs answers when the client is gone.
func hangs(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// then does one step and cuts the connection.
func then(s step) step {
	return func(w http.ResponseWriter, r *http.Request) {
		s(w, r)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

// config names one language model for every stage, at url, with short waits.
func config(name, url string) provider.Config {
	c := provider.DefaultConfig()
	c.Wait, c.Timeout = time.Millisecond, 5*time.Second
	c.Stages = map[string]provider.Model{}
	for _, stage := range []string{memory.StageExtract, memory.StageReflect} {
		c.Stages[stage] = provider.Model{Name: name, URL: url, Key: "sk-secret-key"}
	}
	return c
}

func open(t testing.TB, c provider.Config) *provider.Set {
	t.Helper()
	s, err := provider.New(c, provider.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// metered returns a context that counts, and the sum of what it counted.
func metered() (context.Context, func() memory.Usage) {
	m := &memory.Meter{}
	return memory.WithMeter(context.Background(), m), func() memory.Usage {
		var sum memory.Usage
		for _, u := range m.Take() {
			sum = sum.Plus(u.Usage)
		}
		return sum
	}
}

// dig follows keys and places into a decoded body.
func dig(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, ok := v.(map[string]any)
			if !ok {
				return nil
			}
			v = m[p]
		case int:
			l, ok := v.([]any)
			if !ok || p >= len(l) {
				return nil
			}
			v = l[p]
		}
	}
	return v
}

const (
	hello      = `{"choices":[{"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":11,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":4}}}`
	factSchema = `{"type":"object","properties":{"facts":{"type":"array","items":{"type":"string"}}},"required":["facts"],"additionalProperties":false}`
	openSchema = `{"type":"object","properties":{"facts":{"type":"array","items":{"type":"string"}}}}`
)
