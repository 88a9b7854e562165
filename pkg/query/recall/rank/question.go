package rank

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/text/class"
	"github.com/eunoe-memory/eunoe/pkg/text/date"
	"github.com/eunoe-memory/eunoe/pkg/text/thesaurus"
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
	Upper    bool          // begins with a capital and does not begin the question: a name, or a noun of German
	StandIns []string      // folded words that everyday talk uses for it, each once; nil for none, and in a long question
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
	Things   []string      // words for things of the classes it asks for ("cat" for pets), each once, common ones first; nil for none
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
		who := names.find(fold, w.Upper && len(words) > 1)
		if who == nil && len(names) > 0 && (small == nil || w.Upper && len(words) > 1) {
			who = names.meant(fold, language)
		}
		if who != nil && (w.Upper || small == nil || small[fold] > 0) {
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
			term.Earlier, term.Upper, term.StandIns = w.Start < lastLine, w.Upper && len(words) > 1, thesaurus.StandIns(fold, language)
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
	if len(q.Terms) > mostForStandIns {
		for i := range q.Terms {
			q.Terms[i].StandIns = nil
		}
	}
	if q.Named = named; len(q.Terms) == 0 {
		q.Terms, q.Named = named, nil
	}
	if len(q.Terms) == 0 {
		q.Terms = empty
	}
	q.Kind, q.Things = kindOf(asked), class.Things(asked, language)
	if language != "" && language != text.English {
		q.When = date.AskedIn(s[lastLine:], now, string(language))
	}
	if q.When.IsZero() {
		q.When = date.Asked(asked, now)
	}
	return q
}

// Correct makes another word a term: what the word of the question was meant to be.
func (q *Question) Correct(term int, word string) {
	t := &q.Terms[term]
	t.Stem, t.Word, t.StandIns = StemOf(word, t.Language), word, nil
	if len(q.Terms) <= mostForStandIns {
		t.StandIns = thesaurus.StandIns(word, t.Language)
	}
}

// mostForStandIns is the number of terms of a question up to which words stand in for them: a longer question is found by its
// other terms. With up to 4 or 5 the sets of the benchmark find the most, and without a limit less is found first.
const mostForStandIns = 4

// startOfLastLine returns where the last line with a letter or digit begins; 0 where there is none.
func startOfLastLine(s string) int {
	end := strings.LastIndexFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
	return strings.LastIndexByte(s[:end+1], '\n') + 1
}

// inBoth returns what two lists share, in the order of the first.
func inBoth(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return !slices.Contains(b, s) })
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
		case "who", "whom", "whose", "whos":
			return KindWho
		case "when", "whens":
			return KindWhen
		case "where", "wheres":
			return KindWhere
		case "why", "whys":
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
