package rank

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/text/spelling"
)

// smallName is how a word in lower case names a participant; 0 = it does not.
type smallName uint8

const (
	nameAlone   smallName = iota + 1
	nameAndWord           // it may be an ordinary word as well
)

// inSmall returns which words in lower case of a question that has capitals name participants: a given name, all words
// of a name one after the other, a name that is written so, and, though it may be meant as any word, a name of one word,
// or a part of a name in a script without capitals. "The project" is no Project Manager. nil for a question without
// capitals, whose words may all be names.
func (names nameIndex) inSmall(s string, speakers []string) map[string]smallName {
	if strings.IndexFunc(s, unicode.IsUpper) < 0 && strings.IndexFunc(s, unicode.IsLower) >= 0 {
		return nil
	}
	out := map[string]smallName{}
	folded := foldedWords(s)
	for _, w := range folded {
		if names[w] != nil && text.KnownPerson(w) {
			out[w] = nameAlone
		}
	}
	asked := " " + strings.Join(folded, " ") + " "
	for _, name := range speakers {
		words := foldedWords(name)
		for _, w := range words {
			if names[w] == nil || out[w] == nameAlone {
				continue
			}
			switch {
			case !unicode.Is(unicode.Latin, firstRune(w)) && !unicode.IsLower(firstRune(w)): // no script of capitals
				if out[w] = nameAndWord; len(words) > 1 && strings.Contains(s, name) {
					out[w] = nameAlone
				}
			case strings.IndexFunc(name, unicode.IsUpper) < 0, len(words) > 1 && strings.Contains(asked, " "+strings.Join(words, " ")+" "):
				out[w] = nameAlone
			case len(words) == 1:
				out[w] = nameAndWord
			}
		}
	}
	return out
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

func foldedWords(s string) []string {
	var out []string
	text.EachIndexWord(s, func(w text.IndexWord) { out = append(out, string(w.Folded)) })
	return out
}

// nameIndex maps a folded word of a participant's name to the participants who bear it.
type nameIndex map[string][]string

func nameWords(speakers []string) nameIndex {
	names := nameIndex{}
	for _, s := range speakers {
		text.EachIndexWord(s, func(w text.IndexWord) {
			if f := string(w.Folded); (len(f) > 1 || w.CJK) && !text.IsFunctionWord(f) {
				names[f] = appendNew(names[f], s)
			}
		})
	}
	return names
}

// find returns the participants that a folded word names: by a word of the name, or, where the word is capitalised inside
// the question, by a short form of three letters or more ("Mel" for Melanie) if only one name begins with it.
func (names nameIndex) find(fold string, capital bool) []string {
	if who := names[fold]; who != nil {
		return who
	}
	if !capital || len(fold) < 3 {
		return nil
	}
	var found []string
	n := 0
	for name, who := range names {
		if strings.HasPrefix(name, fold) {
			found = who
			n++
		}
	}
	if n != 1 {
		return nil
	}
	return found
}

// meant returns the participants whom a misspelt word of a language names; nil if it may name nobody or several.
func (names nameIndex) meant(fold string, l text.Language) []string {
	var found []string
	for _, w := range spelling.Corrections(fold, l, true) {
		if who := names[w]; found == nil {
			found = who
		} else if who != nil {
			return nil
		}
	}
	return found
}
