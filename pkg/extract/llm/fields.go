package llm

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// fields are the fields of an item, by short or long name.
type fields map[string]json.RawMessage

// raw gives the first of the named fields that is there and not null.
func (f fields) raw(names ...string) json.RawMessage {
	for _, n := range names {
		if v, ok := f[n]; ok && string(v) != "null" {
			return v
		}
	}
	return nil
}

// text gives a field that is a string or a number, else "".
func (f fields) text(names ...string) string { return scalar(f.raw(names...)) }

// list gives a field that is a list of strings, or strings with commas between.
func (f fields) list(names ...string) []string {
	raw := f.raw(names...)
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		return words(scalar(raw))
	}
	var out []string
	for _, i := range items {
		if s := strings.TrimSpace(scalar(i)); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// maxSources bounds the numbers one fact may name.
const maxSources = 512

// sources gives the numbers of the messages a fact rests on, or why there are none.
func (f fields) sources() (numbers []int, why string) {
	raw := f.raw("s", "sources", "source", "source_ids", "source_id")
	if raw == nil {
		return nil, "names no message"
	}
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		items = nil
		if text := scalar(raw); text != "" {
			for _, w := range words(text) {
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

// kind gives the kind; world for one that is not known.
func (f fields) kind() memory.Kind {
	if k := memory.Kind(label(f.text("k", "kind"))); k.Valid() {
		return k
	}
	return memory.KindWorld
}

// typ gives the type; fact for one that has not the form of a type.
func (f fields) typ() memory.Type {
	if t := memory.Type(label(f.text("y", "type"))); t.Valid() {
		return t
	}
	return memory.TypeFact
}

// confidence is 1 where it is not said or out of range; a fact of none is refused.
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

func (f fields) topic() string {
	t := strings.Join(strings.Fields(f.text("p", "topic")), " ")
	if len(t) > memory.MaxName {
		return ""
	}
	return t
}

// parts gives a field that is a list, or an object with these keys, as strings in the
// keys' order.
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

// outcome is nil where how the attempt ended is not one of three words.
func (f fields) outcome() *memory.Result {
	p := parts(f.raw("o", "outcome"), "strategy", "result", "surprise")
	if len(p) < 2 {
		return nil
	}
	r := memory.Result{Strategy: clip(p[0], memory.MaxName), Result: label(p[1])}
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

// state is nil where it is not whole.
func (f fields) state(who named) *memory.State {
	p := parts(f.raw("v", "state"), "subject", "attribute", "value")
	if len(p) != 3 || p[0] == "" || p[1] == "" || p[2] == "" {
		return nil
	}
	_, value := known(p[2])
	return &memory.State{Subject: who.id(p[0]), Attribute: p[1], Value: value}
}

// relations leaves out what does not name two things and a relation.
func (f fields) relations(who named) []extract.Edge {
	var items []json.RawMessage
	if json.Unmarshal(f.raw("r", "relations"), &items) != nil {
		return nil
	}
	if one := parts(f.raw("r", "relations")); len(one) == 3 && one[0] != "" { // a single one, not in a list of its own
		items = []json.RawMessage{f.raw("r", "relations")}
	}
	var out []extract.Edge
	for _, i := range items[:min(len(items), memory.MaxEntities)] {
		p := parts(i, "from", "type", "to")
		if len(p) < 3 || p[0] == "" || p[1] == "" || p[2] == "" {
			continue
		}
		out = append(out, extract.Edge{From: who.id(p[0]), To: who.id(p[2]), Type: memory.RelationType(label(p[1]))})
	}
	return out
}

// scalar gives a JSON string, number or truth value as text, else "".
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

// label is a word of a closed list: lower case, with _ between its parts.
func label(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return r == ' ' || r == '-' || r == '_' || r == '\t' }), "_")
}

// words cuts a text at its commas.
func words(s string) []string {
	var out []string
	for _, w := range strings.Split(s, ",") {
		if w = strings.TrimSpace(w); w != "" {
			out = append(out, w)
		}
	}
	return out
}
