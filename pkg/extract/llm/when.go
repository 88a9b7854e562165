package llm

import (
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/analysis"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// When reads a time as the model writes it: a year, a month, a day, a moment,
// or two of them with "/" between, either left out for an open end. Days are
// of UTC; a span ends with the last microsecond of its last day. What is in words ("last
// Friday") is resolved against said. What cannot be read, or ends before it
// begins, is no time: the zero span.
func When(s string, said time.Time) memory.Span {
	s = strings.TrimSpace(s)
	if len(s) > 128 {
		return memory.Span{}
	}
	if from, to, ok := single(s); ok {
		return span(from, to)
	}
	for _, between := range []string{"/", "..", " to ", " – ", " - "} {
		left, right, cut := strings.Cut(s, between)
		if !cut {
			continue
		}
		from, _, okFrom := single(strings.TrimSpace(left))
		_, to, okTo := single(strings.TrimSpace(right))
		openFrom, openTo := open(left), open(right)
		switch {
		case okFrom && okTo && !to.Before(from):
			return span(from, to)
		case okFrom && openTo:
			return memory.Span{From: &from}
		case okTo && openFrom:
			return memory.Span{To: &to}
		}
	}
	if said.IsZero() {
		return memory.Span{}
	}
	if found := analysis.Dates(s, said); len(found) == 1 {
		return span(memory.At(found[0].From), memory.At(found[0].To))
	}
	return memory.Span{}
}

func span(from, to time.Time) memory.Span { return memory.Span{From: &from, To: &to} }

func open(s string) bool {
	s = strings.TrimSpace(s)
	return s == "" || s == ".." || s == "?"
}

// forms are the ways to write one time, and what its last instant is.
var forms = []struct {
	layout string
	end    func(time.Time) time.Time
}{
	{"2006", func(t time.Time) time.Time { return t.AddDate(1, 0, 0).Add(-time.Microsecond) }},
	{"2006-01", func(t time.Time) time.Time { return t.AddDate(0, 1, 0).Add(-time.Microsecond) }},
	{time.DateOnly, func(t time.Time) time.Time { return t.AddDate(0, 0, 1).Add(-time.Microsecond) }},
	{time.RFC3339Nano, nil}, {"2006-01-02T15:04:05", nil}, {"2006-01-02T15:04", nil}, {"2006-01-02T15:04Z07:00", nil},
	{time.DateTime, nil}, {"2006-01-02 15:04", nil},
}

// single reads one time.
func single(s string) (from, to time.Time, ok bool) {
	for _, f := range forms {
		t, err := time.Parse(f.layout, s)
		if err != nil {
			continue
		}
		if y := t.UTC().Year(); y < 1 || y > 9998 {
			return from, to, false
		}
		from = memory.At(t)
		if to = from; f.end != nil {
			to = f.end(from)
		}
		return from, to, true
	}
	return from, to, false
}
