package rank

import (
	"runtime"
	"strings"
	"sync"
)

// reading is what one text holds of a question.
type reading struct {
	tf     []float64 // times each term of the question occurs, its kin counting less
	pairs  []bool    // which pairs of the question stand together, at most one word between them
	words  int       // words in all
	names  int       // capitalised words that do not begin a sentence and are no name of a participant the question names
	asks   bool      // holds a question mark
	asked  int       // words of its questions
	cues   cue
	deeds  int // how often "I" or "we" did something, as far as a verb in the past tells
	things int // words outside its questions for things of the classes the question asks for
}

// place is where a word stands among the terms of a question.
type place struct {
	term int // -1 for none
	kin  bool
}

// reader reads texts for one question; each text is read once and each word stemmed once.
type reader struct {
	q      Question
	kin    float64         // what a word counts that is only kin to a term
	index  map[string]int  // stem to its place in q.Terms
	asked  map[string]bool // folded name words of the participants the question names
	things map[string]bool // q.Things
	begin  [256]uint32     // by the first byte of a word: second bytes it must have to be stemmed at all, modulo 32
	then   [256]uint32     // by its second byte: third bytes
	placed map[string]place
	seen   map[string]*reading
	none   *reading // of no text
}

func newReader(q Question, size int, kin float64) *reader {
	r := &reader{q: q, kin: kin, index: map[string]int{}, asked: map[string]bool{}, things: make(map[string]bool, len(q.Things)), placed: map[string]place{},
		seen: make(map[string]*reading, 2*size), none: &reading{tf: make([]float64, len(q.Terms)), pairs: make([]bool, len(q.Pairs))}}
	for i, t := range q.Terms {
		r.index[t.Stem] = i
		r.allow(t.Stem)
		r.allow(t.Word)
		for _, form := range formsOf[t.Stem] {
			r.allow(form)
		}
	}
	for _, w := range q.Things {
		r.things[w] = true
	}
	for _, s := range q.Speakers {
		eachWord(s, func(w word) { r.asked[string(w.fold)] = true })
	}
	return r
}

// allow lets the words be looked at whose stem may be s, or kin to it. Stemming
// leaves the first two letters as they are, and the third before a fourth, except
// that a y may become an i: "dying" is "die", and "tying" is "tie".
func (r *reader) allow(s string) {
	if len(s) == 0 {
		return
	}
	if len(s) == 1 {
		r.begin[s[0]] = ^uint32(0)
		for i := range r.then {
			r.then[i] = ^uint32(0)
		}
		return
	}
	r.begin[s[0]] |= letter(s[1])
	third := ^uint32(0)
	if len(s) > 3 {
		third = letter(s[2])
	}
	r.then[s[1]] |= third
	if s[1] == 'i' {
		r.then['y'] |= third
	}
}

// letter is the set of a letter, and of the one that stemming makes it of.
func letter(b byte) uint32 {
	if b == 'i' {
		return 1<<('i'%32) | 1<<('y'%32)
	}
	return 1 << (b % 32)
}

// mayBe reports whether a word begins like a term.
func (r *reader) mayBe(fold []byte) bool {
	seconds := r.begin[fold[0]]
	if len(fold) == 1 {
		return seconds != 0
	}
	return seconds&(1<<(fold[1]%32)) != 0 && (len(fold) == 2 || r.then[fold[1]]&(1<<(fold[2]%32)) != 0)
}

// line is what a message holds of a question: its text and its caption.
type line struct{ text, caption *reading }

// lines are what a candidate holds and what the messages beside it do; of one
// that is not there, nothing.
type lines struct{ own, prev, prev2, next line }

// shared is from how many candidates on it is worth a second goroutine to read them.
const shared = 64

// readAll reads candidates and their neighbours, many of them on two cores.
// Candidates that stand together share neighbours, so each core takes half of
// them in their order.
func (r *reader) readAll(c []Candidate) []lines {
	out := make([]lines, len(c))
	if len(c) < shared || runtime.GOMAXPROCS(0) == 1 {
		r.readEach(c, out)
		return out
	}
	half := len(c) / 2
	other := *r
	other.placed, other.seen = map[string]place{}, make(map[string]*reading, len(c))
	var wg sync.WaitGroup
	wg.Go(func() { other.readEach(c[half:], out[half:]) })
	r.readEach(c[:half], out[:half])
	wg.Wait()
	return out
}

func (r *reader) readEach(c []Candidate, out []lines) {
	for i := range c {
		out[i] = lines{line{r.read(c[i].Text), r.read(c[i].Caption)}, r.readNeighbour(c[i].Prev), r.readNeighbour(c[i].Prev2), r.readNeighbour(c[i].Next)}
	}
}

func (r *reader) readNeighbour(n *Neighbour) line {
	if n == nil {
		return line{r.none, r.none}
	}
	return line{r.read(n.Text), r.read(n.Caption)}
}

// read returns the reading of text, which must not be changed.
func (r *reader) read(text string) *reading {
	if text == "" {
		return r.none
	}
	if got, ok := r.seen[text]; ok {
		return got
	}
	got := &reading{tf: make([]float64, len(r.q.Terms)), pairs: make([]bool, len(r.q.Pairs)),
		asks: HasQuestionMark(text)}
	r.seen[text] = got
	latest := make([]int, len(r.q.Terms)) // the number of the word that was the term's latest occurrence, 0 for none
	end := 0
	var tell telling
	sentence := sentences(text)
	eachWord(text, func(w word) {
		got.words++
		is := cues[string(w.fold)]
		got.cues |= is
		if sentence.asks(w.start) {
			got.asked++
		} else {
			if r.things[string(w.fold)] {
				got.things++
			}
			if tell.deed(w.fold, is) {
				got.deeds++
			}
		}
		if w.upper && got.words > 1 && len(w.fold) > 1 && !endsSentence(text[end:w.start]) && !r.asked[string(w.fold)] {
			got.names++
		}
		end = w.end
		at := r.place(w)
		switch {
		case at.term < 0:
		case at.kin:
			got.tf[at.term] += r.kin
		default:
			got.tf[at.term]++
			r.pair(got, latest, at.term)
			latest[at.term] = got.words
		}
	})
	return got
}

// pair marks the pairs that the occurrence of term just read completes. latest holds the occurrences before it.
func (r *reader) pair(got *reading, latest []int, term int) {
	for p, two := range r.q.Pairs {
		other := two[0]
		if other == term {
			other = two[1]
		} else if two[1] != term {
			continue
		}
		if at := latest[other]; at > 0 && got.words-at <= 2 {
			got.pairs[p] = true
		}
	}
}

// place returns which term of the question w is or is kin to.
func (r *reader) place(w word) place {
	if !r.mayBe(w.fold) {
		return place{term: -1}
	}
	if at, ok := r.placed[string(w.fold)]; ok {
		return at
	}
	at := r.find(w)
	r.placed[string(w.fold)] = at
	return at
}

func (r *reader) find(w word) place {
	if stopwords[string(w.fold)] {
		return place{term: -1}
	}
	stem := termOf(w)
	if i, ok := r.index[stem]; ok {
		return place{term: i}
	}
	if r.kin > 0 && !w.cjk {
		for i, t := range r.q.Terms {
			if !t.CJK && kin(stem, t.Stem) {
				return place{term: i, kin: true}
			}
		}
	}
	return place{term: -1}
}

// endsSentence reports whether what stands between two words begins a new sentence.
func endsSentence(gap string) bool {
	return strings.ContainsFunc(gap, func(r rune) bool {
		switch r {
		case '.', '!', '?', '\n', ':', '"', '“':
			return true
		}
		return false
	})
}
