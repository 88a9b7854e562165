package providertest

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// brokenMark stands where an answer is to have bytes that are no UTF-8.
const brokenMark = "\ue0ff"

// hugeText is the size of a text that Megabytes blows up, in bytes.
const hugeText = 4 << 20

// spoil does to an answer what its fault says. Tool calls are spoilt in their
// arguments, texts as a whole.
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
