package llm

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/analysis"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/reply"
)

// summarisePrompt asks for the wordings of a batch; the number of each is its
// place in it, from 1.
func summarisePrompt(_ shown, batch []summariseCase) (memory.Prompt, error) {
	type line struct {
		N     int      `json:"n"`
		Texts []string `json:"texts"`
	}
	lines := make([]any, len(batch))
	for i, c := range batch {
		lines[i] = line{i + 1, c.texts}
	}
	return prompt(memory.StageSummarise, lines)
}

// parseSummaries gives the texts of an answer by number, 1 to n; the first word
// on a number counts, and what names none is refused. The error is
// memory.ErrInvalid where there is no list of summaries in it.
func parseSummaries(text string, n int) (texts map[int]string, refused int, err error) {
	items, notes, err := reply.Items(text, "summaries")
	if err != nil {
		return nil, 0, err
	}
	texts, refused = map[int]string{}, notes.Broken
	for _, raw := range items {
		var in struct {
			N    loose           `json:"n"`
			Text json.RawMessage `json:"text"`
		}
		if json.Unmarshal(raw, &in) != nil {
			refused++
			continue
		}
		at, t := in.N.whole(), plain(in.Text, memory.MaxFactText)
		if _, twice := texts[at]; twice || at < 1 || at > n || t == "" {
			refused++
			continue
		}
		texts[at] = t
	}
	return texts, refused, nil
}

// Unfaithful says why a text is no summary of its members: it misses a name, a
// number or a date that one of them holds, holds a number or a name that none
// does, or is longer than they are together. It is "" for a faithful one.
func Unfaithful(text string, members []string) string {
	length := 40
	for _, m := range members {
		length += len(m) + 1
	}
	if len(text) > length {
		return "it is longer than its members"
	}
	words := wordsOf(text)
	numbers := analysis.Numbers(text)
	all, known := map[string]bool{}, []string{}
	for _, m := range members {
		for w := range wordsOf(m) {
			all[w] = true
		}
		known = append(known, analysis.Numbers(m)...)
		for _, n := range analysis.Names(m) {
			if !holds(words, n) {
				return "it misses a name"
			}
		}
		for _, n := range analysis.Numbers(m) {
			if !slices.Contains(numbers, n) {
				return "it misses a number"
			}
		}
		for _, d := range analysis.Dates(m, memory.Instant{}) {
			if !holds(words, d.Text) {
				return "it misses a date"
			}
		}
	}
	for _, n := range numbers {
		if !slices.Contains(known, n) {
			return "it holds a number that none of its members does"
		}
	}
	for _, n := range analysis.Names(text) {
		if !holds(all, n) {
			return "it holds a name that none of its members does"
		}
	}
	return ""
}

// wordsOf is the set of a text's words, in lower case.
func wordsOf(text string) map[string]bool {
	out := map[string]bool{}
	for _, t := range analysis.Terms(text) {
		out[t.Text] = true
	}
	return out
}

// holds reports whether every word of a phrase is in the set.
func holds(words map[string]bool, phrase string) bool {
	for _, t := range analysis.Terms(phrase) {
		if !words[strings.ToLower(t.Text)] {
			return false
		}
	}
	return true
}
