package app_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/internal/app"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
)

func TestTraceSettings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		set   map[string]string
		wrong string // setting; "" = none
	}{
		{"nothing", nil, ""},
		{"a collector", map[string]string{"TRACE": "otlp"}, ""},
		{"a collector elsewhere", map[string]string{"TRACE": "otlp", "TRACE_ENDPOINT": "https://collector.example.org:4318/"}, ""},
		{"a file", map[string]string{"TRACE": "file:/tmp/x", "TRACE_SAMPLE": "0.1"}, ""},
		{"a file without a name", map[string]string{"TRACE": "file:"}, "EUNOE_TRACE:"},
		{"another word", map[string]string{"TRACE": "jaeger"}, "EUNOE_TRACE:"},
		{"an address without a host", map[string]string{"TRACE": "otlp", "TRACE_ENDPOINT": "localhost:4318"}, "EUNOE_TRACE_ENDPOINT"},
		{"an address with credentials", map[string]string{"TRACE": "otlp", "TRACE_ENDPOINT": "http://me:secretword@localhost:4318"}, "EUNOE_TRACE_ENDPOINT"},
		{"an address that is not used", map[string]string{"TRACE_ENDPOINT": "http://localhost:4318"}, "EUNOE_TRACE_ENDPOINT"},
		{"too large a share", map[string]string{"TRACE_SAMPLE": "1.1"}, "EUNOE_TRACE_SAMPLE"},
		{"no share", map[string]string{"TRACE_SAMPLE": "NaN"}, "EUNOE_TRACE_SAMPLE"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, _, err := app.LoadConfig(nil, c.set)
			if c.wrong == "" && err != nil || c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) {
				t.Errorf("%v", err)
			}
			if err != nil && strings.Contains(err.Error(), "secretword") {
				t.Errorf("the error shows a password: %v", err)
			}
		})
	}
}

// collector takes what an OTLP exporter sends, and refuses while it is down.
type collector struct {
	url  string
	mu   sync.Mutex
	got  []string // path and body of each request
	down bool
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.down {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		c.got = append(c.got, r.URL.Path+" "+string(body))
	}))
	t.Cleanup(s.Close)
	c.url = s.URL
	return c
}

func (c *collector) all() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.got, "\n")
}

func (c *collector) refuse(down bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.down = down
}

// recall asks once under a trace context; "" is none.
func recall(t *testing.T, nc *nats.Conn, traceparent string) {
	t.Helper()
	m := nats.NewMsg("mem.alice.recall")
	m.Data = []byte(`{"query":"Where does Alice live?"}`)
	if traceparent != "" {
		m.Header.Set("traceparent", traceparent)
	}
	if _, err := nc.RequestMsg(m, 10e9); err != nil {
		t.Fatal(err)
	}
}

func TestTraces(t *testing.T) {
	t.Parallel()
	dial := func(t *testing.T, l *app.Local) *nats.Conn {
		t.Helper()
		nc, err := nats.Connect(l.URL)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(nc.Close)
		return nc
	}

	t.Run("go to a collector over OTLP, and one that is away is waited for by nobody", func(t *testing.T) {
		t.Parallel()
		c := newCollector(t)
		c.refuse(true)
		l := start(t, settings(t, map[string]string{"TRACE": "otlp", "TRACE_ENDPOINT": c.url}))
		nc := dial(t, l)
		recall(t, nc, "")
		counted := func(outcome string) bool {
			_, body := get(t, "http://"+l.HTTP+"/metrics")
			return strings.Contains(body, `eunoe_trace_spans_total{outcome="`+outcome+`"}`) && !strings.Contains(body, `eunoe_trace_spans_total{outcome="`+outcome+`"} 0`)
		}
		natstest.Eventually(t, "spans that were refused are counted", func() bool { return counted("failed") })
		c.refuse(false)
		recall(t, nc, "")
		natstest.Eventually(t, "the collector has a recall", func() bool { return strings.Contains(c.all(), "recall") && counted("sent") })
		if got := c.all(); !strings.HasPrefix(got, "/v1/traces ") || !strings.Contains(got, "eunoe.code") || strings.Contains(got, "Alice") {
			t.Errorf("the collector has %q", got)
		}
	})

	t.Run("are sampled where they begin, and a bot's are kept as the bot says", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "traces.jsonl")
		l := start(t, settings(t, map[string]string{"TRACE": "file:" + path, "TRACE_SAMPLE": "0"}))
		nc := dial(t, l)
		id := func(n int) string { return fmt.Sprintf("%032x", n) }
		recall(t, nc, "")
		recall(t, nc, "00-"+id(1)+"-00f067aa0ba902b7-00")
		recall(t, nc, "00-"+id(2)+"-00f067aa0ba902b7-01")
		var text string
		natstest.Eventually(t, "the bot's trace is in the file", func() bool {
			b, err := os.ReadFile(path)
			text = string(b)
			return err == nil && strings.Contains(text, `"Name":"recall"`)
		})
		for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
			if !strings.Contains(line, id(2)) {
				t.Errorf("a span of another trace: %s", line)
			}
		}
	})

	t.Run("to a file that cannot be written are an error that names the setting", func(t *testing.T) {
		t.Parallel()
		if l, err := app.StartLocal(t.Context(), settings(t, map[string]string{"TRACE": "file:" + filepath.Join(t.TempDir(), "no", "where")})); err == nil || !strings.Contains(err.Error(), "EUNOE_TRACE") {
			if err == nil {
				err = l.Close(t.Context())
			}
			t.Errorf("%v", err)
		}
	})
}
