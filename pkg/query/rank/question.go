package rank

import (
	"strings"
	"time"
)

// Kind is what a question asks for, as far as its words tell.
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
	Stem string // as Terms gives it: what is compared
	Word string // the folded word as asked, for a look-up in an index that stems by itself
	CJK  bool   // a character or a pair of characters
}

// Question is a question understood by rules.
type Question struct {
	Text     string
	Terms    []Term   // content terms, in order, each once; names of participants only if nothing else is left
	Pairs    [][2]int // indexes of terms that stand next to each other, stopwords between them skipped, each once
	Speakers []string // the participants it names, as given to ParseQuestion, each once
	Kind     Kind
	When     Range    // the time it speaks of, zero if none
	Picture  bool     // asks for what an image shows
	Things   []string // words for things of the classes it asks for ("cat" for pets), each once; nil for none
}

// ParseQuestion reads a question. now anchors relative times; speakers are the names of the participants of the bank.
// Any text is accepted: one without words gives a Question without terms.
func ParseQuestion(text string, now time.Time, speakers []string) Question {
	q := Question{Text: text}
	names := nameWords(speakers)
	var words []string // every folded word
	var named []Term   // the name words left out of the terms
	at, paired := map[string]int{}, map[[2]int]bool{}
	last := -1
	eachWord(text, func(w word) {
		fold := string(w.fold)
		words = append(words, fold)
		if stopwords[fold] {
			return
		}
		term := Term{Stem: termOf(w), Word: fold, CJK: w.cjk}
		if who := names.find(fold, w.upper && len(words) > 1); who != nil {
			q.Speakers = appendNew(q.Speakers, who...)
			named = append(named, term)
			last = -1
			return
		}
		i, known := at[term.Stem]
		if !known {
			i = len(q.Terms)
			at[term.Stem] = i
			q.Terms = append(q.Terms, term)
		}
		if pair := [2]int{last, i}; last >= 0 && !paired[pair] { // a word said twice makes a pair with itself: "3-3"
			paired[pair] = true
			q.Pairs = append(q.Pairs, pair)
		}
		last = i
	})
	if len(q.Terms) == 0 {
		q.Terms = named
	}
	q.Kind, q.Things = kindOf(words), thingsOf(words)
	q.When = parseRange(words, now)
	return q
}

// nameIndex maps a folded word of a participant's name to the participants who bear it.
type nameIndex map[string][]string

func nameWords(speakers []string) nameIndex {
	names := nameIndex{}
	for _, s := range speakers {
		eachWord(s, func(w word) {
			if f := string(w.fold); (len(f) > 1 || w.cjk) && !stopwords[f] {
				names[f] = appendNew(names[f], s)
			}
		})
	}
	return names
}

// find returns the participants a folded word names: by a word of the name, or, where the word is capitalised inside the
// question, by a short form of three letters or more ("Mel" for Melanie), if just one name has it.
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

func appendNew(list []string, more ...string) []string {
next:
	for _, m := range more {
		for _, l := range list {
			if l == m {
				continue next
			}
		}
		list = append(list, m)
	}
	return list
}

// kindOf decides by the first question word, "how" and "what" by the word after it.
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
