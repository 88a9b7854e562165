package rules

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/text/date"
)

// piece is a word of a sentence, or what separates two words.
type piece struct {
	text string
	low  string // lower case; "" where it is no word
}

// split cuts a sentence into pieces; joined again they are the sentence. Sentences are rewritten piece by piece, so
// this is no list of words as text.Words gives it. A word is letters, digits and inner apostrophes.
func split(s string) []piece {
	var out []piece
	for i := 0; i < len(s); {
		j := i
		word := false
		for j < len(s) {
			r, size := utf8.DecodeRuneInString(s[j:])
			in := letter(r) || r == '\'' && j > i && word && j+1 < len(s) && letter(rune(s[j+1]))
			if j == i {
				word = in
			}
			if in != word {
				break
			}
			j += size
		}
		p := piece{text: s[i:j]}
		if word {
			p.low = strings.ToLower(p.text)
		}
		out = append(out, p)
		i = j
	}
	return out
}

func letter(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
		r >= utf8.RuneSelf && r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

func join(ps []piece) string {
	var b strings.Builder
	for _, p := range ps {
		b.WriteString(p.text)
	}
	return b.String()
}

// phrase returns the words in lower case, with a space before and behind each, so that a phrase is found by its whole
// words.
func phrase(ps []piece) string {
	var b strings.Builder
	b.WriteByte(' ')
	for _, p := range ps {
		if p.low != "" {
			b.WriteString(p.low)
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// next returns the index of the first word at or after i, len(ps) for none.
func next(ps []piece, i int) int {
	for i < len(ps) && ps[i].low == "" {
		i++
	}
	return i
}

// phraseList reads a list of phrases, separated by commas or line breaks.
func phraseList(list string) []string {
	var out []string
	for _, l := range strings.FieldsFunc(list, func(r rune) bool { return r == '\n' || r == ',' }) {
		if l = strings.TrimSpace(l); l != "" {
			out = append(out, l)
		}
	}
	return out
}

// capitalise sets a first letter in upper case, except in names such as iPhone.
func capitalise(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	if !unicode.IsLower(r) {
		return s
	}
	if i := strings.IndexByte(s, ' '); i > 0 && strings.ContainsFunc(s[size:i], unicode.IsUpper) { // iPhone, eBay
		return s
	}
	return string(unicode.ToUpper(r)) + s[size:]
}

// uncapitalise sets the first word of a sentence in lower case, unless it is a name or "I".
func uncapitalise(ps []piece) {
	for i := range ps {
		if ps[i].low == "" {
			continue
		}
		if ps[i].low != "i" && !strings.HasPrefix(ps[i].low, "i'") && len(ps[i].text) > 1 && ps[i].text[1:] == ps[i].low[1:] {
			ps[i].text = ps[i].low
		}
		return
	}
}

// withoutMarks removes the mark or number of a list item, of a heading or of a quotation from the front ("2. ", "3) ",
// "- ", "## "), and the signs of emphasis around words. The number of a date ("20. Februar") stays.
func withoutMarks(s string) string {
	s = strings.TrimLeft(s, "#>*•‣▪◦·–—- ")
	n := 0
	for n < len(s) && n < 3 && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	if n > 0 && n+1 < len(s) && s[n+1] == ' ' && (s[n] == ')' || s[n] == '.' && !text.IsOrdinal(s[:n], s[n+2:])) {
		s = s[n+2:]
	}
	return emphasis.Replace(s)
}

var emphasis = strings.NewReplacer("**", "", "__", "")

// shorten truncates a sentence to maxSentence bytes.
func shorten(s string) string {
	if len(s) > maxSentence {
		return truncate(s, maxSentence)
	}
	return s
}

// question keeps a question that names a time, for it asks about a plan or a deed, and one in which the speaker tells
// something of themselves.
func (t *drafter) question(s string, ps []piece) {
	h := personsOf(ps)
	dates := date.Find(s, t.message.Time, string(text.English))
	content, least := t.content(s), 3
	if len(dates) > 0 {
		least = 2
	}
	if len(dates) == 0 && (!h.I || len(text.Names(s)) == 0) || content < least || len(s) > 300 {
		return
	}
	t.ask(capitalise(t.me)+" asked: "+date.Annotate(s, dates), s, ps, dates)
}

// ask drafts that a sentence was asked.
func (t *drafter) ask(text, s string, ps []piece, dates []date.Span) {
	d := extract.Draft{Text: text, Type: memory.TypeQuestion, Kind: t.kind(memory.TypeQuestion, false), Speaker: t.message.Speaker,
		Sources: []memory.MessageID{t.message.ID}, Occurred: occurred(dates), Confidence: 1, Entities: t.entities(text), Tags: tagsOf(phrase(ps), s, memory.TypeQuestion)}
	t.drafts = append(t.drafts, candidate{Draft: d, weight: 1})
}

// untag removes a tag question from a statement: "I moved to Lisbon, can you believe it?". asks is false if a statement
// remains.
func untag(s string, ps []piece, low string) (string, []piece, string, bool) {
	i := strings.LastIndexAny(s, ",;")
	if i < 12 {
		return s, ps, low, true
	}
	tail := phrase(split(s[i:]))
	if n := strings.Count(tail, " ") - 1; n > 5 || !all.in(tail).has(markTag) {
		return s, ps, low, true
	}
	if head := strings.ToLower(s); startsQuestion.Has(firstWord(split(head))) {
		return s, ps, low, true
	}
	s = strings.TrimRightFunc(s[:i], unicode.IsSpace) + "."
	ps = split(s)
	return s, ps, phrase(ps), false
}

// tags are short questions at the end of a statement.
var tags = phraseList(`you know, right, huh, can you, isn't it, don't you, didn't you, aren't you, do you, what about you, how about you, and you, eh, ok, okay, yeah, you, isn't he, isn't she,
	don't they, did you, have you, won't you, are you, is it, does it, doesn't it, hasn't it`)

// startsQuestion are the words with which a question begins, so that its tail is no tag.
var startsQuestion = text.NewWordSet(`what when where who whom whose which why how is are am was were do does did have has had can could will would should shall may might isn't aren't don't
	doesn't didn't haven't hasn't can't couldn't won't wouldn't shouldn't any`)
