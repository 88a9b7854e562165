package trace_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
)

// span is a span as it is written to a trace file.
type span struct {
	Name        string
	SpanContext struct{ TraceID, SpanID string }
	Parent      struct{ TraceID, SpanID string }
	Attributes  []struct {
		Key   string
		Value struct{ Value any }
	}
	Links []struct {
		SpanContext struct{ TraceID, SpanID string }
	}
	Resource []struct {
		Key   string
		Value struct{ Value any }
	}
	Status struct{ Code string }
}

func (s span) attribute(key string) any {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value.Value
		}
	}
	return nil
}

func (s span) service() any {
	for _, a := range s.Resource {
		if a.Key == "service.name" {
			return a.Value.Value
		}
	}
	return nil
}

// traces is a file of traces.
type traces struct {
	t    *testing.T
	path string
}

func newTraces(t *testing.T) traces {
	return traces{t, filepath.Join(t.TempDir(), "traces.jsonl")}
}

func (f traces) raw() []byte {
	b, err := os.ReadFile(f.path)
	if err != nil && !os.IsNotExist(err) {
		f.t.Fatal(err)
	}
	return b
}

func (f traces) all() []span {
	f.t.Helper()
	var out []span
	lines := bufio.NewScanner(bytes.NewReader(f.raw()))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var s span
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			continue // the last line may be on its way
		}
		out = append(out, s)
	}
	return out
}

// of returns the spans of a trace once done reports that they are complete.
func (f traces) of(trace string, done func([]span) bool) []span {
	f.t.Helper()
	var out []span
	natstest.Eventually(f.t, "the trace is in the file", func() bool {
		out = slices.DeleteFunc(f.all(), func(s span) bool { return s.SpanContext.TraceID != trace })
		return done(out)
	})
	return out
}

// named returns the spans with a name.
func named(list []span, name string) []span {
	var out []span
	for _, s := range list {
		if s.Name == name {
			out = append(out, s)
		}
	}
	return out
}

// has reports whether a span of each name exists.
func has(names ...string) func([]span) bool {
	return func(list []span) bool {
		for _, n := range names {
			if len(named(list, n)) == 0 {
				return false
			}
		}
		return true
	}
}

// find returns the span at the end of a chain: one of each name, each directly
// under one of the name before it, the first directly under parent.
func find(list []span, parent string, names ...string) (last span, missing string) {
	at := []string{parent}
	for _, n := range names {
		var next []string
		for _, s := range named(list, n) {
			if slices.Contains(at, s.Parent.SpanID) {
				next, last = append(next, s.SpanContext.SpanID), s
			}
		}
		if len(next) == 0 {
			return span{}, n
		}
		at = next
	}
	return last, ""
}

// linked reports whether the chain exists.
func linked(parent string, names ...string) func([]span) bool {
	return func(list []span) bool {
		_, missing := find(list, parent, names...)
		return missing == ""
	}
}

// chain is like find, and fails the test if there is no such chain.
func chain(t *testing.T, list []span, parent string, names ...string) span {
	t.Helper()
	last, missing := find(list, parent, names...)
	if missing != "" {
		t.Fatalf("no span %q stands under the one before it:\n%s", missing, show(list))
	}
	return last
}

func show(list []span) string {
	var b bytes.Buffer
	for _, s := range list {
		b.WriteString(s.SpanContext.SpanID + " under " + s.Parent.SpanID + "  " + s.Name + "\n")
	}
	return b.String()
}
