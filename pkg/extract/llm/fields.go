package llm

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text/date"
)

// fields are the fields of an item of an answer, by short or long name.
type fields map[string]json.RawMessage

// raw returns the first of the named fields that is present and not null.
func (f fields) raw(names ...string) json.RawMessage {
	for _, n := range names {
		if v, ok := f[n]; ok && string(v) != "null" {
			return v
		}
	}
	return nil
}

// text returns a field that is a string or a number, else "".
func (f fields) text(names ...string) string { return scalar(f.raw(names...)) }

// list returns a field that is a list of strings, or one string with commas between the items.
func (f fields) list(names ...string) []string {
	raw := f.raw(names...)
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		return commaSeparated(scalar(raw))
	}
	var out []string
	for _, i := range items {
		if s := strings.TrimSpace(scalar(i)); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// maxSources bounds the messages that one fact may name.
const maxSources = 512

// sources returns the numbers of the messages that a fact rests on, or why there are none.
func (f fields) sources() (numbers []int, why string) {
	raw := f.raw("s", "sources", "source", "source_ids", "source_id")
	if raw == nil {
		return nil, "names no message"
	}
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		items = nil
		if text := scalar(raw); text != "" {
			for _, w := range commaSeparated(text) {
				items = append(items, json.RawMessage(strconv.Quote(w)))
			}
		}
	}
	if len(items) > maxSources {
		return nil, "names too many messages"
	}
	for _, i := range items {
		v, err := strconv.ParseFloat(strings.Trim(scalar(i), " []#"), 64)
		if err != nil || v != math.Trunc(v) || math.Abs(v) > 1e9 {
			return nil, "names a message by what is no number"
		}
		numbers = append(numbers, int(v))
	}
	if len(numbers) == 0 {
		return nil, "names no message"
	}
	return numbers, ""
}

// kind returns the kind; world for an unknown one.
func (f fields) kind() memory.Kind {
	if k := memory.Kind(label(f.text("k", "kind"))); k.Valid() {
		return k
	}
	return memory.KindWorld
}

// factType returns the type; fact for a text that has not the form of a type.
func (f fields) factType() memory.Type {
	if t := memory.Type(label(f.text("y", "type"))); t.Valid() {
		return t
	}
	return memory.TypeFact
}

// confidence returns 1 where it is missing or out of range; a fact with a confidence of 0 is refused.
func (f fields) confidence() (c float64, why string) {
	text := f.text("c", "confidence")
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	switch {
	case err != nil || !(v >= 0 && v <= 1):
		return 1, ""
	case v == 0:
		return 0, "has a confidence of 0"
	}
	return v, ""
}

// topic returns the topic, "" where it is too long.
func (f fields) topic() string {
	t := strings.Join(strings.Fields(f.text("p", "topic")), " ")
	if len(t) > memory.MaxName {
		return ""
	}
	return t
}

// parts returns a list, or the values of an object in the keys' order, as strings.
func parts(raw json.RawMessage, keys ...string) []string {
	var items []json.RawMessage
	var named fields
	switch {
	case json.Unmarshal(raw, &items) == nil:
	case json.Unmarshal(raw, &named) == nil && named != nil:
		for _, k := range keys {
			items = append(items, named[k])
		}
	}
	out := make([]string, len(items))
	for i, v := range items {
		out[i] = strings.TrimSpace(scalar(v))
	}
	return out
}

// outcome returns nil where the result of the attempt is not one of the three words.
func (f fields) outcome() *memory.Result {
	p := parts(f.raw("o", "outcome"), "strategy", "result", "surprise")
	if len(p) < 2 {
		return nil
	}
	r := memory.Result{Strategy: memory.Truncate(p[0], memory.MaxName), Result: label(p[1])}
	if r.Result != "success" && r.Result != "failure" && r.Result != "partial" {
		return nil
	}
	if len(p) > 2 {
		if v, err := strconv.ParseFloat(p[2], 64); err == nil && v >= 0 && v <= 1 {
			r.Surprise = v
		}
	}
	return &r
}

// state returns nil where subject, attribute or value is missing.
func (f fields) state(names entityNames) *memory.State {
	p := parts(f.raw("v", "state"), "subject", "attribute", "value")
	if len(p) != 3 || p[0] == "" || p[1] == "" || p[2] == "" {
		return nil
	}
	_, value := splitTypedName(p[2])
	return &memory.State{Subject: names.id(p[0]), Attribute: p[1], Value: value}
}

// relations returns those that name two things and a relation.
func (f fields) relations(names entityNames) []extract.Edge {
	var items []json.RawMessage
	if json.Unmarshal(f.raw("r", "relations"), &items) != nil {
		return nil
	}
	if one := parts(f.raw("r", "relations")); len(one) == 3 && one[0] != "" { // a single relation without a list around it
		items = []json.RawMessage{f.raw("r", "relations")}
	}
	var out []extract.Edge
	for _, i := range items[:min(len(items), memory.MaxEntities)] {
		p := parts(i, "from", "type", "to")
		if len(p) < 3 || p[0] == "" || p[1] == "" || p[2] == "" {
			continue
		}
		out = append(out, extract.Edge{From: names.id(p[0]), To: names.id(p[2]), Type: memory.RelationType(label(p[1]))})
	}
	return out
}

// scalar returns a JSON string or number as text, else "".
func scalar(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return ""
	}
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return ""
}

// label normalises a word of a closed list: lower case, with _ between its parts.
func label(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return r == ' ' || r == '-' || r == '_' || r == '\t' }), "_")
}

// commaSeparated cuts a text at its commas and drops empty items.
func commaSeparated(s string) []string {
	var out []string
	for _, w := range strings.Split(s, ",") {
		if w = strings.TrimSpace(w); w != "" {
			out = append(out, w)
		}
	}
	return out
}

// ParseSpan reads a time as the model writes it: a year, a month, a day, a moment, or two of them with "/" separator,
// either left out for an open end. Days are in UTC; a span ends with the last microsecond of its last day. A time in words
// ("last Friday") is resolved against said, the time of the message. A time that cannot be read, or that ends before it
// begins, is the zero span.
func ParseSpan(s string, said time.Time) memory.Span {
	s = strings.TrimSpace(s)
	if len(s) > 128 {
		return memory.Span{}
	}
	if from, to, ok := parseTime(s); ok {
		return span(from, to)
	}
	for _, separator := range []string{"/", "..", " to ", " – ", " - "} {
		left, right, cut := strings.Cut(s, separator)
		if !cut {
			continue
		}
		from, _, okFrom := parseTime(strings.TrimSpace(left))
		_, to, okTo := parseTime(strings.TrimSpace(right))
		openFrom, openTo := isOpen(left), isOpen(right)
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
	if found := date.Find(s, said, ""); len(found) == 1 {
		return span(memory.At(found[0].From), memory.At(found[0].To))
	}
	return memory.Span{}
}

func span(from, to time.Time) memory.Span { return memory.Span{From: &from, To: &to} }

func isOpen(s string) bool {
	s = strings.TrimSpace(s)
	return s == "" || s == ".." || s == "?"
}

// layouts are the ways to write one time, and how its last instant follows from its first; nil = it is the same.
var layouts = []struct {
	layout string
	end    func(time.Time) time.Time
}{
	{"2006", func(t time.Time) time.Time { return t.AddDate(1, 0, 0).Add(-time.Microsecond) }},
	{"2006-01", func(t time.Time) time.Time { return t.AddDate(0, 1, 0).Add(-time.Microsecond) }},
	{time.DateOnly, func(t time.Time) time.Time { return t.AddDate(0, 0, 1).Add(-time.Microsecond) }},
	{time.RFC3339Nano, nil}, {"2006-01-02T15:04:05", nil}, {"2006-01-02T15:04", nil}, {"2006-01-02T15:04Z07:00", nil},
	{time.DateTime, nil}, {"2006-01-02 15:04", nil},
}

// parseTime reads one time.
func parseTime(s string) (from, to time.Time, ok bool) {
	for _, f := range layouts {
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
