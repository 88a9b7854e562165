// Package thesaurus tells which words everyday talk uses for one another: who asks about the wedding is told that somebody
// got married. It knows what people ask a memory for: family, home, work, health, food, money, travel, pets, leisure.
package thesaurus

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/text/class"
)

//go:embed words.txt
var words string

// entry is a folded word of a language.
type entry struct {
	language text.Language
	word     string
}

// entries are the words of all languages with what stands for each, and the words of each stem.
type entries struct {
	standIns map[entry][]string
	ofStem   map[entry][]string
}

// known is read once, where it is needed first.
var known = sync.OnceValue(func() entries {
	k := entries{map[entry][]string{}, map[entry][]string{}}
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
			of := entry{language, w}
			if _, before := k.standIns[of]; !before {
				stem := entry{language, text.StemIn(w, language)}
				k.ofStem[stem] = append(k.ofStem[stem], w)
			}
			for _, other := range append(slices.Clone(both), folded(only)...) {
				if other != w && !slices.Contains(k.standIns[of], other) {
					k.standIns[of] = append(k.standIns[of], other)
				}
			}
		}
	}
	return k
})

// folded returns the words of s, folded as an index does.
func folded(s string) []string {
	var out []string
	text.EachIndexWord(s, func(w text.IndexWord) { out = append(out, string(w.Folded)) })
	return out
}

// StandIns returns the folded words that stand for a folded word of a language, each once, the closest first; nil for a
// word or a language that is not known. A word that is not known itself has those of the words it may be a plural or a
// case of: in English of its singular, in another language of what has its stem and is no longer than it, for endings are
// added ("boit" has the stem of "boîte" and is none). A text whose language cannot be told ("") is read as English. The
// result is shared and must not be changed.
func StandIns(word string, l text.Language) []string {
	if l == "" {
		l = text.English
	}
	k := known()
	if found := k.standIns[entry{l, word}]; found != nil {
		return found
	}
	var found []string
	if l == text.English {
		class.Singulars(word, func(s string) bool { found = k.standIns[entry{l, s}]; return found != nil })
		return found
	}
	for _, w := range k.ofStem[entry{l, text.StemIn(word, l)}] {
		if utf8.RuneCountInString(w) > utf8.RuneCountInString(word) {
			continue
		}
		for _, s := range k.standIns[entry{l, w}] {
			if s != word && !slices.Contains(found, s) {
				found = append(found, s)
			}
		}
	}
	return found
}
