package llm

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/reply"
	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/text/date"
)

// summarisePrompt returns the prompt for the wordings of a batch, numbered from 1.
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

// parseSummaries returns the texts of an answer by number, 1 to n. It refuses items without a number or a text, and a
// second text for a number. The error wraps memory.ErrInvalid where the answer holds no list of summaries.
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

// Unfaithful returns why a text is no summary of its members: it lacks a name, a number or a date that one of them
// holds, holds a number or a name that none does, or is longer than all of them. It is "" for a faithful one.
func Unfaithful(s string, members []string) string {
	length := 40
	for _, m := range members {
		length += len(m) + 1
	}
	if len(s) > length {
		return "it is longer than its members"
	}
	words := wordsOf(s)
	numbers := text.Numbers(s)
	all, known := map[string]bool{}, []string{}
	for _, m := range members {
		for w := range wordsOf(m) {
			all[w] = true
		}
		known = append(known, text.Numbers(m)...)
		for _, n := range text.Names(m) {
			if !holds(words, n) {
				return "it misses a name"
			}
		}
		for _, n := range text.Numbers(m) {
			if !slices.Contains(numbers, n) {
				return "it misses a number"
			}
		}
		for _, d := range date.Find(m, memory.Instant{}, "") {
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
	for _, n := range text.Names(s) {
		if !holds(all, n) {
			return "it holds a name that none of its members does"
		}
	}
	return ""
}

// wordsOf returns the set of a text's words, in lower case.
func wordsOf(s string) map[string]bool {
	out := map[string]bool{}
	for _, t := range text.Terms(s) {
		out[t.Text] = true
	}
	return out
}

// holds reports whether every word of a phrase is in the set.
func holds(words map[string]bool, phrase string) bool {
	for _, t := range text.Terms(phrase) {
		if !words[strings.ToLower(t.Text)] {
			return false
		}
	}
	return true
}
