package scriptedmodel

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/text/date"
)

// rows returns the JSON objects that stand each on a line of their own in what the user shows.
func rows(req *Request) []object {
	var out []object
	for line := range strings.Lines(req.User) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "{") {
			if v, ok := parse(line); ok {
				out = append(out, v.(object)) //nolint:errcheck // what begins with a brace is one
			}
		}
	}
	return out
}

// decide compares each new statement with each of its older ones and leaves out
// the pairs that have nothing to do with each other.
func decide(req *Request) Response {
	texts := map[string]string{}
	var out []hints
	for _, row := range rows(req) {
		if text := word(row, "text"); text != "" {
			texts[word(row, "n")] = text
			continue
		}
		older, _ := row.get("older").([]any) //nolint:errcheck // it is no case
		for _, o := range older {
			if action := verdict(texts[word(row, "new")], texts[dump(o)]); action != memory.ActionIgnore {
				out = append(out, hints{{"new", row.get("new")}, {"older", o}, {"action", string(action)}, {"reason", "shared words"}})
			}
		}
	}
	return Response{Text: dump(shapeOf(req, memory.StageDecide).filled(out, nil))}
}

// verdict compares two statements by their words: one that says all the older one does is the same; the same subject
// with another end is a new value, but for likings and dated events, of which there are many.
func verdict(newer, older string) memory.Action {
	a, b := text.ContentStems(newer), text.ContentStems(older)
	if len(a) == 0 || len(b) == 0 {
		return memory.ActionIgnore
	}
	shared := 0
	for _, w := range b {
		if slices.Contains(a, w) {
			shared++
		}
	}
	same := slices.Equal(text.Numbers(newer), text.Numbers(older)) && text.Negated(newer) == text.Negated(older)
	dated := len(date.Find(newer, anyDay, ""))+len(date.Find(older, anyDay, "")) > 0
	switch {
	case shared == len(b) && same:
		return memory.ActionMerge
	case a[0] == b[0] && shared >= 2 && 2*shared >= min(len(a), len(b)) && !dated && !likes.MatchString(newer+" "+older):
		return memory.ActionSupersede
	}
	return memory.ActionIgnore
}

// summarise puts the statements of each group side by side, each once.
func summarise(req *Request) Response {
	var out []hints
	for _, row := range rows(req) {
		texts, _ := row.get("texts").([]any) //nolint:errcheck // it is no group
		out = append(out, hints{{"n", row.get("n")}, {"text", joined(texts)}})
	}
	return Response{Text: dump(shapeOf(req, memory.StageSummarise).filled(out, nil))}
}

// joined returns texts as consecutive sentences, without duplicates.
func joined(texts []any) string {
	var parts []string
	for _, t := range texts {
		text, _ := t.(string) //nolint:errcheck // nothing is said
		text = strings.TrimRight(strings.Join(strings.Fields(text), " "), ".") + "."
		if !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, " ")
}

// sighted is a subject with the statements about it.
type sighted struct {
	number  any
	name    string
	known   []any
	texts   []any
	numbers []any
}

// observe makes an observation of each subject with at least three facts, or with two that have a word in common.
func observe(req *Request) Response {
	var subjects []sighted
	for _, row := range rows(req) {
		if n := row.get("subject"); n != nil {
			known, _ := row.get("known").([]any) //nolint:errcheck // nothing is known
			subjects = append(subjects, sighted{number: n, name: word(row, "name"), known: known})
		} else if len(subjects) > 0 {
			s := &subjects[len(subjects)-1]
			s.texts, s.numbers = append(s.texts, word(row, "text")), append(s.numbers, row.get("n"))
		}
	}
	var out []hints
	for _, s := range subjects {
		topic, shared := s.topic()
		if len(s.texts) < 2 || len(s.texts) == 2 && shared < 2 {
			continue
		}
		kind, liked := "pattern", 0
		for _, t := range s.texts {
			if text, ok := t.(string); ok && likes.MatchString(text) {
				liked++
			}
		}
		if liked >= 2 {
			kind = "preference"
		}
		out = append(out, hints{
			{"subject", s.number}, {"type", kind}, {"topic", topic}, {"text", clip("Of "+s.name+": "+joined(s.texts), 600)},
			{"reasoning", itoa(len(s.texts)) + " facts say so of " + s.name + "."}, {"confidence", json.Number("0.8")}, {"facts", s.numbers}, {"known", s.same(kind)},
		})
	}
	return Response{Text: dump(shapeOf(req, memory.StageObserve).filled(out, nil))}
}

// topic is the word that most facts of the subject share besides its name, and how many do.
func (s sighted) topic() (string, int) {
	own := text.ContentStems(s.name)
	var order []string
	counts := map[string]int{}
	for _, t := range s.texts {
		content, _ := t.(string) //nolint:errcheck // nothing is said
		for _, w := range text.ContentStems(content) {
			if slices.Contains(own, w) {
				continue
			}
			if counts[w]++; counts[w] == 1 {
				order = append(order, w)
			}
		}
	}
	best := s.name
	for _, w := range order {
		if counts[w] > counts[best] {
			best = w
		}
	}
	return best, counts[best]
}

// same is the number of a known observation of a type, nil without one.
func (s sighted) same(kind string) any {
	for _, k := range s.known {
		if o, ok := k.(object); ok && word(o, "type") == kind {
			return o.get("n")
		}
	}
	return nil
}
