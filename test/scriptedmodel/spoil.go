package scriptedmodel

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// brokenMark stands where an answer is to have bytes that are no UTF-8.
const brokenMark = "\ue0ff"

// hugeText is the size of a text that Megabytes blows up, in bytes.
const hugeText = 4 << 20

// spoil applies an answer's fault to it. Tool calls are spoilt in their arguments, texts as a whole.
func spoil(out Response, req *Request) Response {
	switch out.Fault {
	case "", Slow, Reset, Cut, WebPage, NoChoices:
		return out
	case Empty:
		return Response{Fault: Empty}
	case Refusal:
		return Response{Fault: Refusal, Text: "I'm sorry, but I can't help with that request."}
	case Length:
		out.Truncated = true
	}
	calls := make([]memory.ToolCall, len(out.Calls))
	for i, c := range out.Calls {
		c.Arguments = spoilText(c.Arguments, out.Fault, req)
		calls[i] = c
	}
	out.Calls = calls
	if out.Text != "" || len(calls) == 0 {
		out.Text = spoilText(out.Text, out.Fault, req)
	}
	return out
}

func spoilText(text string, kind Kind, req *Request) string {
	switch kind {
	case Truncated, Length:
		n := len(text) * 3 / 5
		for n > 0 && !utf8.RuneStart(text[n]) {
			n--
		}
		return text[:n]
	case Fences:
		return "```json\n" + text + "\n```"
	case Prose:
		return "Sure! Here is what I found {as asked}:\n\n" + text + "\n\nLet me know if there is anything else [I can do]."
	case InvalidUTF8:
		if at := strings.LastIndexByte(text, ' '); at >= 0 {
			return text[:at] + brokenMark + text[at:]
		}
		return text + brokenMark
	}
	v, ok := parse(text)
	if !ok {
		if kind == Megabytes {
			return strings.Repeat(text+" ", 1+hugeText/(1+len(text)))
		}
		return text
	}
	switch kind {
	case BareList:
		if _, list := firstList(v); list != nil {
			return dump(list)
		}
	case WrongTypes:
		return dump(wrong(v))
	case BadItem:
		return dump(onList(v, func(list []any) []any {
			for i := min(5, len(list)/2); i < len(list); i += 10 {
				list[i] = wrong(list[i])
			}
			return list
		}))
	case MissingIDs:
		return dump(onList(v, func(list []any) []any { return each(list, withoutIDs) }))
	case ForeignIDs, InventedIDs:
		return dump(renumber(v, req, kind == ForeignIDs))
	case Duplicates:
		return dump(onList(v, func(list []any) []any { return slices.Concat(list, list) }))
	case NoItems:
		return dump(onList(v, func([]any) []any { return []any{} }))
	case Megabytes:
		return dump(inflate(v))
	case SingleQuotes:
		var b strings.Builder
		sloppy(&b, v)
		return b.String()
	}
	return text
}

// idFields are the names of fields that say what an item rests on or is about.
var idFields = []string{
	"s", "sources", "source", "source_ids", "source_id", "evidence", "messages", "message", "target", "targets", "id", "ids", "n", "number", "numbers",
	"facts", "fact_ids", "citations", "cites", "index", "item", "items_used", "member", "members", "composite", "group", "new", "older", "subject", "known",
}

func namesThings(field string) bool { return slices.Contains(idFields, field) }

// wrong returns a value of another type: numbers in objects, texts in lists, lists as texts, and so through objects.
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

// renumber makes every item name something else: with foreign what is shown and not offered (the context of a window,
// where it has numbers, else the next number), else what was never shown.
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
