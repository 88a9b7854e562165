package rules

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/text/pattern"
)

// spelled writes out what chats shorten in English: "dont", "u", "pls". What is a word too is written out only where those
// around it leave no doubt: "its" before "not", "ill" before "be".
func spelled(s string) string {
	if !shortened(s) { // as nearly every sentence is
		return s
	}
	s = shorthand.ReplaceAllStringFunc(s, func(w string) string {
		whole := written[strings.ToLower(w)]
		if w[0] >= 'A' && w[0] <= 'Z' {
			return strings.ToUpper(whole[:1]) + whole[1:]
		}
		return whole
	})
	for _, d := range doubtful {
		s = d.found.ReplaceAllString(s, d.whole)
	}
	return s
}

// shortened reports whether s has a word that may be shorthand.
func shortened(s string) bool {
	for word := range strings.FieldsFuncSeq(s, func(r rune) bool { return r < 'A' || r > 'Z' && r < 'a' || r > 'z' && r < utf8.RuneSelf }) {
		word = strings.ToLower(word)
		if _, found := written[word]; found || doubted[word] {
			return true
		}
	}
	return false
}

// written are the long forms of what is no word of its own.
var written = map[string]string{"dont": "don't", "didnt": "didn't", "doesnt": "doesn't", "cant": "can't", "couldnt": "couldn't", "wont": "won't",
	"wouldnt": "wouldn't", "shouldnt": "shouldn't", "isnt": "isn't", "arent": "aren't", "wasnt": "wasn't", "werent": "weren't", "hasnt": "hasn't",
	"havent": "haven't", "hadnt": "hadn't", "youre": "you're", "youve": "you've", "theyre": "they're", "theyve": "they've", "weve": "we've",
	"hes": "he's", "shes": "she's", "thats": "that's", "theres": "there's", "pls": "please", "plz": "please"}

var shorthand = pattern.New(`(?i)\b(?:` + strings.Join(slices.Sorted(maps.Keys(written)), "|") + `)\b`)

// doubtful are what is a word too, or a letter, with what must stand beside it. Where a clause begins "ill" is no illness and
// "its" nobody's: "she was ill just then", "lost its 3 best players".
var doubtful = []struct {
	found *pattern.Pattern
	whole string
}{
	{pattern.New(`(^|[a-z,] )u( |[.,!?]|$)`), "${1}you$2"},
	{pattern.New(`^U ((?:can|could|should|will|have|had|are|were|know|said|told|want|need|might|may) )`), "You $1"},
	{pattern.New(beginning + `([Ii])ts ((?:not|a|an|the|my|our|been|just|still|so|too|really|very|always|never|now|going|gonna|\d\S*) )`), "$1${2}t's $3"},
	{pattern.New(`\b([Ii]t's not \S+(?: \S+)?) its `), "$1 it's "},
	{pattern.New(beginning + `[Ii]ll ((?:be|have|do|go|get|call|see|let|try|take|come|send|check|make|need|` +
		`bring|probably|never|just|also|always|pay|start|pick) )`), "${1}I'll $2"},
	{pattern.New(beginning + `[Ii]d ((?:rather|love|like|prefer|be|say|have|never|been|really|much|want) )`), "${1}I'd $2"},
	{pattern.New(`^([Ll])ets ((?:not |all |just )?(?:meet|go|do|have|get|make|try|say|see|use|keep|start|talk|plan|book|eat|take|move|stick|call) )`), "${1}et's $2"},
	{pattern.New(`\b(?:[Ii]mma|[Ii]'mma|[Ii]'ma) `), "I'm gonna "},
	{pattern.New(`\b([Ii]) luv `), "$1 love "},
}

// doubted are the words for which doubtful looks.
var doubted = map[string]bool{"u": true, "its": true, "ill": true, "id": true, "lets": true, "imma": true, "ma": true, "mma": true, "luv": true}

// beginning is where a clause begins.
const beginning = `(^|[,;:.!?] |\b(?:so|but|think|guess|hope|know|because|cause|cuz|maybe|then) )`
