package providertest

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// idFields are the names of fields that say what an item rests on or is about.
var idFields = []string{
	"s", "sources", "source", "source_ids", "source_id", "evidence", "messages", "message", "target", "targets", "id", "ids", "n", "number", "numbers",
	"facts", "fact_ids", "citations", "cites", "index", "item", "items_used", "member", "members", "composite", "group", "new", "older", "subject", "known",
}

func namesThings(field string) bool { return slices.Contains(idFields, field) }

// wrong gives a value of another type: numbers in objects, texts in lists, lists
// as texts, and so through objects.
func wrong(v any) any {
	switch v := v.(type) {
	case object:
		out := make(object, len(v))
		for i, f := range v {
			out[i] = field{f.name, wrong(f.value)}
		}
		return out
	case []any:
		if len(v) > 0 {
			if _, items := v[0].(object); items {
				return each(v, wrong)
			}
		}
		return "a list"
	case json.Number:
		return object{{"value", v}}
	case string:
		return []any{object{{"text", v}}}
	case bool:
		return "perhaps"
	}
	return 7
}

func withoutIDs(v any) any {
	o, ok := v.(object)
	if !ok {
		return v
	}
	return slices.DeleteFunc(slices.Clone(o), func(f field) bool { return namesThings(f.name) && ids(f.value) })
}

// ids reports whether a field's value is made of numbers or short texts, and not of items.
func ids(v any) bool {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, e := range list {
		switch e := e.(type) {
		case json.Number:
		case string:
			if len(e) > 64 || strings.ContainsAny(e, " \n") {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// renumber makes every item name something else: with foreign what is shown and
// not offered (the context of a window, where it has numbers, else the next
// number), else what was never shown.
func renumber(v any, req *Request, foreign bool) any {
	other := "90001"
	if foreign {
		last := 0
		for _, it := range show(req) {
			last = max(last, it.number)
		}
		other = strconv.Itoa(last + 1)
		for _, it := range show(req) {
			if it.before && it.label != "" {
				other = it.label
			}
		}
	}
	var walk func(name string, v any) any
	walk = func(name string, v any) any {
		switch v := v.(type) {
		case object:
			out := make(object, len(v))
			for i, f := range v {
				out[i] = field{f.name, walk(f.name, f.value)}
			}
			return out
		case []any:
			return each(v, func(e any) any { return walk(name, e) })
		case json.Number:
			if n, err := strconv.Atoi(other); err == nil && namesThings(name) {
				return n
			}
		case string:
			if namesThings(name) && ids(v) {
				return other
			}
		}
		return v
	}
	return walk("", v)
}

// inflate makes the first text that is no id megabytes long.
func inflate(v any) any {
	done := false
	var walk func(name string, v any) any
	walk = func(name string, v any) any {
		switch v := v.(type) {
		case object:
			out := make(object, len(v))
			for i, f := range v {
				out[i] = field{f.name, walk(f.name, f.value)}
			}
			return out
		case []any:
			return each(v, func(e any) any { return walk(name, e) })
		case string:
			if !done && v != "" && (!ids(v) || !namesThings(name)) {
				done = true
				return strings.Repeat(v+" ", 1+hugeText/(1+len(v)))
			}
		}
		return v
	}
	return walk("", v)
}

// sloppy writes a value with single quotes and a comma after every last element.
func sloppy(b *strings.Builder, v any) {
	switch v := v.(type) {
	case object:
		b.WriteByte('{')
		for _, f := range v {
			sloppy(b, f.name)
			b.WriteString(": ")
			sloppy(b, f.value)
			b.WriteString(", ")
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for _, e := range v {
			sloppy(b, e)
			b.WriteString(", ")
		}
		b.WriteByte(']')
	case string:
		quoted := dump(v)
		quoted = strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
		b.WriteString("'" + strings.ReplaceAll(quoted, "'", `\'`) + "'")
	default:
		b.WriteString(dump(v))
	}
}
