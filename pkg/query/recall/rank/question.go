package rank

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/text/date"
)

// Kind is the kind of answer a question asks for, as far as its words tell.
type Kind uint8

// The kinds of question.
const (
	KindOther Kind = iota
	KindWho
	KindWhen
	KindWhere
	KindHowMany // how many, how much, how old
	KindHowLong // how long, how often
	KindWhy
	KindYesNo
)

// Term is one content term of a question.
type Term struct {
	Stem string // what words of a text are compared by
	Word string // the folded word as asked, for a look-up in an index that stems by itself
	CJK  bool   // one or two Chinese, Japanese or Korean characters

	Language text.Language // whose stem it is; "" for English and languages without stems
	Earlier  bool          // only lines before the last have it
}

// Forms returns what an index that stems by itself is asked for: the word of the question and the irregular forms of the
// same word; of Chinese, Japanese and Korean the characters. They hold letters and digits alone.
func (t Term) Forms() []string {
	if t.CJK {
		return []string{t.Stem}
	}
	if t.Language != "" {
		return []string{t.Word}
	}
	return appendNew([]string{t.Word}, text.FormsOf(t.Stem)...)
}

// Question is a question understood by rules.
type Question struct {
	Text     string
	Terms    []Term   // content terms, in order, each once; names of participants only if nothing else is left
	Named    []Term   // its words for participants, unless they are the Terms
	Pairs    [][2]int // indexes of terms that stand next to each other, stopwords between them skipped, each once
	Speakers []string // the participants it names, as given to ParseQuestion, each once
	Kind     Kind
	Language text.Language // it is asked in, as far as its words tell; "" if they do not
	When     date.Range    // the time it speaks of, zero if none
	Things   []string      // words for things of the classes it asks for ("cat" for pets), each once; nil for none
}

// ParseQuestion reads a question. now anchors relative times; speakers are the names of the participants of the bank.
// Any text is accepted: one without words gives a Question without terms. What several lines ask for (Kind, When, Things)
// is what the last one with words does: the lines before it are the talk so far.
func ParseQuestion(s string, now time.Time, speakers []string) Question {
	language := text.LanguageOf(s)
	q := Question{Text: s, Language: language}
	names := nameWords(speakers)
	var words, asked []string // every folded word, and those of the last line
	lastLine := startOfLastLine(s)
	var named []Term // the name words left out of the terms
	var empty []Term // characters without content, which are terms where nothing else is
	small := names.inSmall(s, speakers)
	at, paired := map[string]int{}, map[[2]int]bool{}
	var earlier, bearers []string // who was named before the name that is being read, and who bears all words of it so far
	last, lastName := -1, 0
	var lone loneCharacters
	text.EachIndexWord(s, func(w text.IndexWord) {
		fold := string(w.Folded)
		words = append(words, fold)
		if w.Start >= lastLine {
			asked = append(asked, fold)
		}
		if text.IsFunctionWordIn(fold, language) {
			return
		}
		term := termOf(w, language)
		if who := names.find(fold, w.Upper && len(words) > 1); who != nil && (w.Upper || small == nil || small[fold] > 0) {
			if both := inBoth(bearers, who); len(both) > 0 && lastName == len(words)-1 { // "Lena Lund" is no other Lena
				who = both
			} else {
				earlier = q.Speakers
			}
			bearers, lastName = who, len(words)
			q.Speakers = appendNew(slices.Clone(earlier), who...)
			if w.Upper || small[fold] != nameAndWord {
				named = append(named, term)
				last = -1
				return
			}
		}
		if w.CJK {
			without := text.IsFunctionGram(fold, language)
			lone.add(w, without)
			if without {
				empty = append(empty, term)
				last = -1
				return
			}
		}
		i, known := at[term.Stem]
		if !known {
			i = len(q.Terms)
			at[term.Stem] = i
			term.Earlier = w.Start < lastLine
			q.Terms = append(q.Terms, term)
		} else if w.Start >= lastLine {
			q.Terms[i].Earlier = false
		}
		if pair := [2]int{last, i}; last >= 0 && !paired[pair] { // a word said twice makes a pair with itself: "3-3"
			paired[pair] = true
			q.Pairs = append(q.Pairs, pair)
		}
		last = i
	})
	for _, c := range lone.found() {
		if _, known := at[c]; !known && !text.IsFunctionGram(c, language) {
			at[c] = len(q.Terms)
			q.Terms = append(q.Terms, Term{Stem: c, Word: c, CJK: true})
		}
	}
	if q.Named = named; len(q.Terms) == 0 {
		q.Terms, q.Named = named, nil
	}
	if len(q.Terms) == 0 {
		q.Terms = empty
	}
	q.Kind, q.Things = kindOf(asked), thingsOf(asked)
	if language != "" && language != text.English {
		q.When = date.AskedIn(s[lastLine:], now, string(language))
	}
	if q.When.IsZero() {
		q.When = date.Asked(asked, now)
	}
	return q
}

// startOfLastLine returns where the last line with a letter or digit begins; 0 where there is none.
func startOfLastLine(s string) int {
	end := strings.LastIndexFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
	return strings.LastIndexByte(s[:end+1], '\n') + 1
}

// loneCharacters finds the Chinese characters of a question that none of its pairs with content holds: words of one
// character between particles.
type loneCharacters struct {
	out  []string
	rest string // the character that the pairs so far end with, "" if one of them that has content holds it
	end  int    // of the last pair
}

// add takes the next pair, or a character that stands alone; without says that it carries no content.
func (l *loneCharacters) add(w text.IndexWord, without bool) {
	first, n := utf8.DecodeRune(w.Folded)
	second, m := utf8.DecodeRune(w.Folded[n:])
	if m == 0 {
		return
	}
	begins := w.Start+n != l.end // of a run
	if begins {
		l.flush()
	}
	if without && unicode.Is(unicode.Han, first) && (begins || l.rest != "") {
		l.out = append(l.out, string(first))
	}
	l.rest, l.end = "", w.End
	if without && unicode.Is(unicode.Han, second) {
		l.rest = string(second)
	}
}

// flush ends a run of characters.
func (l *loneCharacters) flush() {
	if l.rest != "" {
		l.out = append(l.out, l.rest)
	}
	l.rest = ""
}

func (l *loneCharacters) found() []string {
	l.flush()
	return l.out
}

// inBoth returns what two lists share, in the order of the first.
func inBoth(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return !slices.Contains(b, s) })
}

// smallName is how a word in lower case names a participant; 0 = it does not.
type smallName uint8

const (
	nameAlone   smallName = iota + 1
	nameAndWord           // it may be an ordinary word as well
)

// inSmall returns which words in lower case of a question that has capitals name participants: a given name, all words of a
// name one after the other, a name that is written so, and, though it may be meant as any word, a name of one word, or a
// part of a name in a script without capitals. "The project" is no Project Manager. nil for a question without capitals, whose words may all be names.
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

// appendNew adds the strings that the list does not hold yet.
func appendNew(list []string, more ...string) []string {
	for _, m := range more {
		if !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}

// kindOf decides by the first question word; after "how" and "what" by the next word.
func kindOf(words []string) Kind {
	for i, w := range words {
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch w {
		case "who", "whom", "whose":
			return KindWho
		case "when":
			return KindWhen
		case "where":
			return KindWhere
		case "why":
			return KindWhy
		case "how":
			switch next {
			case "many", "much", "old":
				return KindHowMany
			case "long", "often":
				return KindHowLong
			}
			return KindOther
		case "what", "which":
			switch next {
			case "year", "month", "day", "date", "time", "week", "season":
				return KindWhen
			case "city", "cities", "country", "countries", "place", "places", "state", "states", "town":
				return KindWhere
			}
			return KindOther
		}
		if i == 0 && yesNo[w] {
			return KindYesNo
		}
	}
	return KindOther
}

var yesNo = set("is are was were do does did has have had can could will would should am")
