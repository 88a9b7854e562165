package trace_test

import (
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/test/scriptedmodel"
)

// sample is one line of the metrics: a series and its value.
type sample struct {
	name   string
	labels map[string]string
	value  float64
}

var (
	seriesLine = regexp.MustCompile(`^([a-z_]+)(?:\{(.*)\})? (\S+)$`)
	labelPair  = regexp.MustCompile(`([a-z_]+)="((?:[^"\\]|\\.)*)"`)
)

func samples(t *testing.T, address string) []sample {
	t.Helper()
	r, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	var out []sample
	for _, line := range strings.Split(string(body), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		m := seriesLine.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("a line that is no sample: %s", line)
		}
		s := sample{name: m[1], labels: map[string]string{}}
		if s.value, err = strconv.ParseFloat(m[3], 64); err != nil {
			t.Fatal(err)
		}
		for _, l := range labelPair.FindAllStringSubmatch(m[2], -1) {
			s.labels[l[1]] = l[2]
		}
		out = append(out, s)
	}
	return out
}

// sum returns the sum of the samples of a name whose labels contain want ("label=value").
func sum(list []sample, name string, want ...string) (total float64, found bool) {
	for _, s := range list {
		fits := s.name == name
		for _, w := range want {
			k, v, _ := strings.Cut(w, "=")
			fits = fits && s.labels[k] == v
		}
		if fits {
			total, found = total+s.value, true
		}
	}
	return total, found
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	const bank, session = "zanzibar-77", "quokka-42"
	model := scriptedmodel.Start(t, nil)
	l := apptest.Start(t, apptest.Settings(t, map[string]string{"TRIGGER_EVERY": "2", "MODEL": "openai:small", "MODEL_URL": model.URL, "MODEL_KEY": key, "EMBED": "openai:vectors", "EMBED_URL": model.URL}))
	nc := dial(t, l.URL)
	publish := func(body string) {
		t.Helper()
		if got := ask(t, nc, traced{}, "mem."+bank+".message."+session, body); !strings.Contains(got, `"seq"`) {
			t.Fatalf("publish: %s", got)
		}
	}
	for _, body := range []string{`{"id":"m1","speaker":"Alice","content":"I moved to Lisbon in May."}`, `{"id":"m2","speaker":"Alice","content":"My sister Nora lives in Bergen."}`,
		`{"id":"m2","content":"A twin."}`, `{"id":"m3","content":"What was recalled.","recalled":true}`, `{"content":5}`} {
		publish(body)
	}
	ask(t, nc, traced{}, "mem."+bank+".flush."+session, "")
	natstest.Eventually(t, "the bank is settled", func() bool {
		return strings.Contains(ask(t, nc, traced{}, "mem."+bank+".status", ""), `"settled":true`)
	})
	for what, body := range map[string]string{
		"recall": `{"query":"Where does Alice live?"}`, "reflect": `{"query":"Where does Alice live?"}`, "retain": `{"facts":[{"text":"Alice plays the cello."}]}`,
		"bank": `{"name":"Zanzibar"}`, "observe": `{}`, "consolidate": `{"force":true}`, "list": `{"session":"` + session + `"}`,
	} {
		if got := ask(t, nc, traced{}, "mem."+bank+"."+what, body); strings.Contains(got, `"error"`) {
			t.Errorf("%s: %s", what, got)
		}
	}
	if _, err := nc.Request("mem.%zz.recall", []byte(`{}`), nats.DefaultTimeout); err != nil {
		t.Fatal(err)
	}
	list := samples(t, l.HTTP)

	t.Run("no label contains the name of a bank or a session", func(t *testing.T) {
		for _, s := range list {
			for k, v := range s.labels {
				if k == "bank" || k == "session" || k == "speaker" || k == "window" || strings.Contains(v, bank) || strings.Contains(v, session) {
					t.Errorf("%s has the label %s=%q", s.name, k, v)
				}
			}
		}
	})

	t.Run("the terms of conservation add up over banks", func(t *testing.T) {
		if total, _ := sum(list, "eunoe_messages"); total != 5 {
			t.Errorf("%v messages", total)
		}
		for state, want := range map[string]float64{"committed": 2, "duplicate": 1, "skipped": 1, "dead": 1, "pending": 0} {
			if got, _ := sum(list, "eunoe_messages", "state="+state); got != want {
				t.Errorf("%v messages are %s, expected %v", got, state, want)
			}
		}
	})

	t.Run("every stage reports its work, its latency and its lag", func(t *testing.T) {
		for _, c := range []struct {
			name   string
			labels []string
			least  float64
		}{
			{"eunoe_ingest_messages_total", nil, 4}, {"eunoe_ingest_batch_seconds_count", nil, 1}, {"eunoe_ingest_dead_total", nil, 1}, {"eunoe_ingest_partitions", nil, 16},
			{"eunoe_extract_tries_total", []string{"outcome=done"}, 1}, {"eunoe_extract_window_seconds_count", nil, 1}, {"eunoe_extract_facts_total", nil, 1},
			{"eunoe_consolidate_writes_total", []string{"kind=window"}, 1}, {"eunoe_consolidate_commit_seconds_count", []string{"stream=writes"}, 1}, {"eunoe_consolidate_active", nil, 1},
			{"eunoe_consolidate_changes_total", nil, 1}, {"eunoe_usage_calls_total", []string{"stage=extract"}, 1},
			{"eunoe_query_requests_total", []string{"request=recall", "code=200"}, 1}, {"eunoe_query_requests_total", []string{"request=recall", "code=400"}, 1},
			{"eunoe_query_request_seconds_count", []string{"request=recall"}, 2},
			{"eunoe_model_calls_total", []string{"stage=embed", "outcome=ok"}, 1}, {"eunoe_model_tokens_total", []string{"stage=extract", "kind=prompt"}, 10}, {"eunoe_model_seconds_count", nil, 1},
			{"eunoe_stream_messages", []string{"stream=dead"}, 1}, {"eunoe_stream_messages", []string{"stream=messages"}, 6}, {"eunoe_stream_bytes", []string{"stream=writes"}, 100},
			{"eunoe_broker_connected", nil, 1},
		} {
			if got, found := sum(list, c.name, c.labels...); !found || got < c.least {
				t.Errorf("%s %v is %v, expected %v or more", c.name, c.labels, got, c.least)
			}
		}
		for _, c := range []struct{ name, label string }{
			{"eunoe_ingest_lag_seconds", ""}, {"eunoe_extract_lag_seconds", ""}, {"eunoe_consolidate_lag_seconds", "stream=messages"},
			{"eunoe_consolidate_model_lag_seconds", "stage=decide"},
		} {
			labels := []string{c.label}
			if c.label == "" {
				labels = nil
			}
			if age, found := sum(list, c.name, labels...); !found || age > 60 {
				t.Errorf("%s %s is %v", c.name, c.label, age)
			}
		}
	})
}

func TestLag(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	age := func(after uint64) float64 {
		t.Helper()
		e, err := c.EventAt(t.Context(), c.Naming.Messages(), 1)
		if err != nil {
			t.Fatal(err)
		}
		d, err := c.Waiting(t.Context(), c.Naming.Messages(), "", after, e.Stored.Add(90e9))
		if err != nil {
			t.Fatal(err)
		}
		return d.Seconds()
	}
	for range 2 {
		if _, err := c.PublishMessage(t.Context(), "alice", "s", []byte(`{"content":"hello"}`)); err != nil {
			t.Fatal(err)
		}
	}
	if a := age(0); a != 90 {
		t.Errorf("the first waits for %v s", a)
	}
	if a := age(1); a <= 0 || a > 90 {
		t.Errorf("the second waits for %v s", a)
	}
	if a := age(2); a != 0 {
		t.Errorf("nothing waits for %v s", a)
	}
	other := c.Naming.StoredMessages((c.Naming.PartitionOf("alice") + 1) % events.Partitions)
	if d, err := c.Waiting(t.Context(), c.Naming.Messages(), other, 0, time.Now()); err != nil || d != 0 {
		t.Errorf("in another partition something waits for %s: %v", d, err)
	}
}
