package state

import (
	_ "embed" // the tables of the languages
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/text/pattern"
)

// Cue is a set of signals that the words of a sentence give in addition to its content.
type Cue uint32

// The cues, as revisions.txt describes them.
const (
	Denies Cue = 1 << iota
	NoLonger
	News
	Again
	Also
	Stopped
	Gone
	CalledOff
	Retimed
	Lives
	Moved
	Works
	Quit
	Couple
	Parted
	Is
	Has
	Single
	Another
	Self
)

// cueNames are the cues by their names in revisions.txt; those of most are no content.
var cueNames = []string{"not", "longer", "news", "again", "also", "stopped", "gone", "called off", "retimed", "lives", "moved", "works",
	"quit", "couple", "parted", "is", "has", "single", "another", "self"}

// Ends are the cues of sentences that take something back.
const Ends = NoLonger | Stopped | Gone | CalledOff | Retimed | Moved | Quit | Parted

// Revision is a sentence that is not English as the grammar of changes sees it.
type Revision struct {
	Language text.Language
	Cues     Cue
	Words    []string // content words without those of cues, lower case, in order
}

// RevisionOf reads a sentence in a language; false for a language without a table, English among them, and for a sentence that
// asks, or tells of what nearly was, may be or is wished.
func RevisionOf(s string, lang text.Language) (Revision, bool) {
	t := revisionTables()[lang]
	if t == nil || len(s) > longestStatement || strings.ContainsAny(s, "?？؟") {
		return Revision{}, false
	}
	r, plain := Revision{Language: lang}, t.plain(s)
	if t.unsure != nil && t.unsure.MatchString(plain) {
		return Revision{}, false
	}
	content := plain
	for i, form := range t.cues {
		if form == nil || !form.MatchString(plain) {
			continue
		}
		r.Cues |= 1 << i
		if c := Cue(1) << i; c != Is && c != Has && c&(Lives|Works|Couple|NoLonger|Single|Another|Self) == 0 {
			content = form.ReplaceAllString(content, " ")
		}
	}
	if t.stop != nil {
		for next := ""; next != content; { // words that share a space are found one after the other
			next, content = content, t.stop.ReplaceAllString(content, " ")
		}
	}
	r.Words = strings.Fields(groupedDigits.ReplaceAllString(content, "$1"))
	return r, true
}

// WithoutAnnotations returns a sentence without the dates in brackets that were added to it.
func WithoutAnnotations(s string) string { return annotation.ReplaceAllString(s, "") }

// groupedDigits finds where a number is written in groups.
var groupedDigits = pattern.New(`(\d{2,}) +\b`)

// annotation is a date in brackets as text/date writes it.
var annotation = pattern.New(` ?\([^()]*\d{4}[^()]*\)`)

// Languages returns the languages that RevisionOf reads, in order of their codes.
func Languages() []text.Language { return slices.Sorted(maps.Keys(revisionTables())) }

// revisionTable is what is known of a language.
type revisionTable struct {
	cjk  bool
	stop *pattern.Pattern
	// unsure is in sentences of what nearly was, may be or is wished; nil = the language has none.
	unsure *pattern.Pattern
	cues   []*pattern.Pattern // by the order of cueNames; nil = the language has none
}

// plain returns the words of a sentence in lower case between spaces, or, where words have no spaces between them, its
// letters and digits with a space for all else.
func (t *revisionTable) plain(s string) string {
	return " " + strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) && r != 'ー'
	}), " ") + " "
}

//go:embed revisions.txt
var revisionsFile string

// revisionTables returns the tables by language. They are read once.
var revisionTables = sync.OnceValue(func() map[text.Language]*revisionTable {
	out := map[text.Language]*revisionTable{}
	var t *revisionTable
	for line := range strings.Lines(revisionsFile) {
		line = strings.TrimSpace(line)
		if code, ok := strings.CutPrefix(line, "["); ok {
			t = &revisionTable{cues: make([]*pattern.Pattern, len(cueNames))}
			out[text.Language(strings.TrimSuffix(code, "]"))] = t
			continue
		}
		name, forms, ok := strings.Cut(line, ": ")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		switch {
		case name == "script":
			t.cjk = true
		case name == "stop":
			t.stop = t.compile(forms)
		case name == "unsure":
			t.unsure = t.compile(forms)
		default:
			t.cues[slices.Index(cueNames, name)] = t.compile(forms)
		}
	}
	return out
})

func (t *revisionTable) compile(forms string) *pattern.Pattern {
	if t.cjk {
		return pattern.New(forms)
	}
	return pattern.New(` (?:` + forms + `) `)
}

// Alike reports whether two content words of one language are forms of one: a common beginning and short endings. Words
// without spaces between them are alike where one holds the other.
func Alike(a, b string) bool {
	if a == b {
		return true
	}
	first, _ := utf8.DecodeRuneInString(a)
	if first >= utf8.RuneSelf && unicode.In(first, unicode.Han, unicode.Katakana, unicode.Hiragana) {
		return strings.Contains(a, b) || strings.Contains(b, a)
	}
	n := 0 // characters of the common beginning, which is cut off
	for a != "" && b != "" {
		x, size := utf8.DecodeRuneInString(a)
		y, other := utf8.DecodeRuneInString(b)
		if x != y {
			break
		}
		a, b, n = a[size:], b[other:], n+1
	}
	if n < 3 {
		return false
	}
	x, y := utf8.RuneCountInString(a), utf8.RuneCountInString(b)
	return x <= 3 && y <= 3 && (n >= 4 || x+y <= 3) && !unicode.IsNumber(first)
}
