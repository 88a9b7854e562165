package scriptedmodel

import (
	"math"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text"
)

// rule answers a call like a small model.
func (h *Handler) rule(req *Request) Response {
	shown := show(req)
	switch req.Stage {
	case memory.StageExtract:
		if h.script.Facts != nil {
			return extractFacts(req, h.script.Facts.answer(shown))
		}
		return extractFacts(req, extractRules(shown))
	case memory.StageDecide:
		return decide(req)
	case memory.StageSummarise:
		return summarise(req)
	case memory.StageObserve:
		return observe(req)
	case memory.StageJudge:
		return judge(req, shown)
	case StageAdequacy:
		return adequacy(req, shown)
	case memory.StageReflect:
		return reflect(req, shown)
	}
	return generic(req)
}

// generic answers what no rule is for: a tool that must be called, the least that meets the schema, or a sentence.
func generic(req *Request) Response {
	if t, ok := forced(req); ok {
		s, _ := readShape(string(t.Schema))
		return Response{Calls: []memory.ToolCall{{Name: t.Name, Arguments: dump(s.fill(hints{{"query|text|question", question(req)}}))}}}
	}
	if s := shapeOf(req, req.Stage); s.node != nil || req.Format != "" {
		if s.node == nil {
			return Response{Text: "{}"}
		}
		if names := text.Names(question(req)); s.is("object") && len(names) > 0 {
			return Response{Text: dump(s.fill(hints{{"city|place|name", names[len(names)-1]}}))}
		}
		return Response{Text: dump(s.least())}
	}
	return Response{Text: "You said: " + clip(question(req), 400)}
}

// forced returns the tool that a call has to use.
func forced(req *Request) (memory.Tool, bool) {
	for _, t := range req.Tools {
		if req.ToolChoice == "required" || req.ToolChoice == t.Name {
			return t, true
		}
	}
	return memory.Tool{}, false
}

// judge scores each item by the words it shares with the question.
func judge(req *Request, shown []item) Response {
	asked := question(req)
	var out []hints
	for _, it := range shown {
		score := overlap(asked, it.text)
		if bears(asked, it.text) {
			score = 0.5 + score/2
		} else {
			score /= 5
		}
		out = append(out, hints{{"n|number|id|index|item", it.id()}, {"score|relevance", math.Round(100*score) / 100},
			{"relevant|keep|useful", score >= 0.5}, {"reason", "shared words"}})
	}
	return Response{Text: dump(shapeOf(req, memory.StageJudge).filled(out, nil))}
}

// adequacy is content when something bears on the question, and when it has asked in other words already.
func adequacy(req *Request, shown []item) Response {
	asked := question(req)
	query := strings.Join(contentWords(asked), " ")
	enough := query == "" || query == asked || strings.Contains(req.User, dump(query))
	for _, it := range shown {
		enough = enough || bears(asked, it.text)
	}
	queries := []any{}
	if !enough {
		queries = append(queries, query)
	}
	return Response{Text: dump(shapeOf(req, StageAdequacy).fill(hints{
		{"enough|adequate|sufficient", enough}, {"queries|query|missing", queries}, {"reason", "shared words"},
	}))}
}

// bears reports whether a text has to do with a question: a word in common that
// is no name, or a name where the question has nothing else.
func bears(question, s string) bool {
	said := text.ContentStems(s)
	words, names := 0, false
	for _, t := range text.Terms(question) {
		if t.Stop {
			continue
		}
		shared := slices.Contains(said, t.Stem)
		if !t.Name {
			if words++; shared {
				return true
			}
		}
		names = names || shared
	}
	return words == 0 && names
}

// contentWords returns the words of a text that are no stop words, as they are written.
func contentWords(s string) []string {
	var out []string
	for _, t := range text.Terms(s) {
		if w := s[t.Start:t.End]; !t.Stop && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// id is the item's number, or its label where it is none.
func (it item) id() any {
	if it.number > 0 && itoa(it.number) == it.label || it.label == "" {
		return it.number
	}
	return it.label
}

// best returns the items that bear on a question, those with most in common first.
func best(asked string, shown []item, n int) []item {
	out := slices.DeleteFunc(slices.Clone(shown), func(it item) bool { return it.label == "" || !bears(asked, it.text) })
	slices.SortStableFunc(out, func(a, b item) int {
		switch x, y := overlap(asked, a.text), overlap(asked, b.text); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	return out[:min(n, len(out))]
}

func clip(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return string(r[:n])
	}
	return text
}
