package local_test

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

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
)

// collector receives from an OTLP exporter, and rejects requests while it is down.
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

// recall sends one recall with a trace context; "" means none.
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

func dial(t *testing.T, l *local.Local) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(l.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// Traces go to a collector over OTLP, and one that is away is waited for by nobody. The collector is named by a standard
// variable, which is of the whole process: the test runs alone.
func TestTracesGoToACollector(t *testing.T) {
	c := newCollector(t)
	c.refuse(true)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.url)
	l := apptest.Start(t, apptest.Settings(t, map[string]string{"TRACE": "otlp"}))
	nc := dial(t, l)
	recall(t, nc, "")
	counted := func(outcome string) bool {
		_, body := apptest.Get(t, "http://"+l.HTTP+"/metrics")
		return strings.Contains(body, `eunoe_trace_spans_total{outcome="`+outcome+`"}`) && !strings.Contains(body, `eunoe_trace_spans_total{outcome="`+outcome+`"} 0`)
	}
	natstest.Eventually(t, "spans that were refused are counted", func() bool { return counted("failed") })
	c.refuse(false)
	recall(t, nc, "")
	natstest.Eventually(t, "the collector has a recall", func() bool { return strings.Contains(c.all(), "recall") && counted("sent") })
	if got := c.all(); !strings.HasPrefix(got, "/v1/traces ") || !strings.Contains(got, "eunoe.code") || strings.Contains(got, "Alice") {
		t.Errorf("the collector has %q", got)
	}
}

func TestTraces(t *testing.T) {
	t.Parallel()
	t.Run("are sampled where they begin, and a bot's are kept as the bot says", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "traces.jsonl")
		l := apptest.Start(t, apptest.Settings(t, map[string]string{"TRACE": "file:" + path, "TRACE_SAMPLE": "0"}))
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
		if l, err := local.Start(t.Context(), apptest.Settings(t, map[string]string{"TRACE": "file:" + filepath.Join(t.TempDir(), "no", "where")}), os.Stderr); err == nil || !strings.Contains(err.Error(), "EUNOE_TRACE") {
			if err == nil {
				err = l.Close(t.Context())
			}
			t.Errorf("%v", err)
		}
	})
}
