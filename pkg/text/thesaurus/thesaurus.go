// Package thesaurus tells which words everyday talk uses for one another: who asks about the wedding is told that somebody
// got married. It knows what people ask a memory for: family, home, work, health, food, money, travel, pets, leisure.
package thesaurus

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/text/class"
)

//go:embed words.txt
var words string

// entry is a folded word of a language, or of one that has stems, the stem of one.
type entry struct {
	language text.Language
	word     string
}

// standIns is read once, where it is needed first.
var standIns = sync.OnceValue(func() map[entry][]string {
	all := map[entry][]string{}
	for line := range strings.Lines(words) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		language := text.English
		if tag, rest, other := strings.Cut(line, ": "); other {
			language, line = text.Language(tag), rest
		}
		group, only, _ := strings.Cut(line, ">")
		both := folded(group)
		for _, w := range both {
			of := entry{language, text.StemIn(w, language)}
			if language == text.English {
				of.word = w
			}
			for _, other := range append(slices.Clone(both), folded(only)...) {
				if other != w && !slices.Contains(all[of], other) {
					all[of] = append(all[of], other)
				}
			}
		}
	}
	return all
})

// folded returns the words of s, folded as an index does.
func folded(s string) []string {
	var out []string
	text.EachIndexWord(s, func(w text.IndexWord) { out = append(out, string(w.Folded)) })
	return out
}

// StandIns returns the folded words that stand for a folded word of a language, each once, the closest first; nil for a
// word or a language that is not known. A plural of English has those of its singular, and a word of another language
// those of the words with its stem. A text whose language cannot be told ("") is read as English. The result is shared
// and must not be changed.
func StandIns(word string, l text.Language) []string {
	if l == "" {
		l = text.English
	}
	all := standIns()
	if l != text.English {
		return all[entry{l, text.StemIn(word, l)}]
	}
	found := all[entry{l, word}]
	if found == nil {
		class.Singulars(word, func(s string) bool { found = all[entry{l, s}]; return found != nil })
	}
	return found
}
