package rank

import (
	"bytes"
	"runtime"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/text/class"
)

// reading is what one text holds of a question.
type reading struct {
	tf     []float64 // how often each term of the question occurs, words of its family counting less
	pairs  []bool    // which pairs of the question stand together, at most one word between them
	words  int
	names  int  // capitalised words that do not begin a sentence and name no participant of the question
	asks   bool // it has a question mark
	asked  int  // words in its questions
	cues   cue
	deeds  int // how often "I" or "we" did something, as far as a verb in the past tells
	things int // words outside its questions for things of the classes the question asks for

	passages []passage // of a long text, in order
}

// passage is a part of a long text.
type passage struct {
	Passage
	size int // words, each counted as pairWords
	tf   []float64
}

const (
	passageLeast = 40  // words after which a passage ends with a sentence
	passageMost  = 80  // words after which it ends anywhere
	passageText  = 400 // bytes of a text that has passages

	// Text without spaces is read in overlapping pairs of characters: five of them are as long as three words.
	pairWords, pairExtra = 5, 2
)

// reader reads texts for one question; each text is read once and each word stemmed once.
type reader struct {
	q        Question
	family   float64         // what a word of a term's family counts
	standIn  float64         // what a word that stands for a term counts
	index    map[string]int  // stem to its place in q.Terms
	standIns map[string]int  // the same for the stems of words that stand for a term
	lone     map[rune]int    // terms of one Chinese character, which texts have in pairs
	named    map[string]bool // folded name words of the participants the question names
	things   map[string]bool // q.Things
	unspaced unspacedThings  // those of scripts without spaces
	second   [256]uint32     // by the first byte of a word: second bytes it must have to be stemmed at all, modulo 32
	third    [256]uint32     // by its second byte: third bytes
	matched  map[string]match
	seen     map[string]*reading
	none     *reading // of no text
}

func newReader(q Question, size int, w Weights) *reader {
	r := &reader{q: q, family: w.Family, standIn: w.StandIn, index: map[string]int{}, standIns: map[string]int{}, named: map[string]bool{}, things: make(map[string]bool, len(q.Things)), unspaced: unspacedThings{}, matched: map[string]match{},
		seen: make(map[string]*reading, 2*size), none: &reading{tf: make([]float64, len(q.Terms)), pairs: make([]bool, len(q.Pairs))}}
	for i, t := range q.Terms {
		r.index[t.Stem] = i
		if c, n := utf8.DecodeRuneInString(t.Stem); t.CJK && n == len(t.Stem) {
			if r.lone == nil {
				r.lone = map[rune]int{}
			}
			r.lone[c] = i
		}
		r.allow(t.Stem)
		r.allow(t.Word)
		for _, form := range text.FormsOf(t.Stem) {
			r.allow(form)
		}
		r.addStandIns(i)
	}
	for _, w := range q.Things {
		if text.GramForm(w) != "" {
			r.unspaced.add(w)
		} else {
			r.things[w] = true
		}
	}
	for _, s := range q.Speakers {
		text.EachIndexWord(s, func(w text.IndexWord) { r.named[string(w.Folded)] = true })
	}
	return r
}

// message is what a message holds of a question: its text and its caption.
type message struct{ text, caption *reading }

// readings are what a candidate and the messages next to it hold; a message that is not there holds nothing.
type readings struct{ own, prev, prev2, next message }

// minParallel is the number of candidates from which on a second goroutine is worth its cost.
const minParallel = 64

// readAll reads candidates and their neighbours, many of them on two cores. Candidates next to each other share
// neighbours, so each core takes one half of them, in their order.
func (r *reader) readAll(c []Candidate) []readings {
	out := make([]readings, len(c))
	if len(c) < minParallel || runtime.GOMAXPROCS(0) == 1 {
		r.readEach(c, out)
		return out
	}
	half := len(c) / 2
	other := *r
	other.matched, other.seen = map[string]match{}, make(map[string]*reading, len(c))
	var wg sync.WaitGroup
	wg.Go(func() { other.readEach(c[half:], out[half:]) })
	r.readEach(c[:half], out[:half])
	wg.Wait()
	return out
}

func (r *reader) readEach(c []Candidate, out []readings) {
	for i := range c {
		out[i] = readings{message{r.read(c[i].Text), r.read(c[i].Caption)}, r.readNeighbour(c[i].Prev), r.readNeighbour(c[i].Prev2), r.readNeighbour(c[i].Next)}
	}
}

func (r *reader) readNeighbour(n *Neighbour) message {
	if n == nil {
		return message{r.none, r.none}
	}
	return message{r.read(n.Text), r.read(n.Caption)}
}

// read returns the reading of s, which must not be changed.
func (r *reader) read(s string) *reading {
	if s == "" {
		return r.none
	}
	if got, ok := r.seen[s]; ok {
		return got
	}
	got := &reading{tf: make([]float64, len(r.q.Terms)), pairs: make([]bool, len(r.q.Pairs)),
		asks: HasQuestionMark(s)}
	r.seen[s] = got
	latest := make([]int, len(r.q.Terms)) // the number of the word that was the term's latest occurrence, 0 for none
	end, pairs, askedPairs := 0, 0, 0     // pairs of characters of a script without spaces
	var past pastTense
	sentence := sentences(s)
	text.EachIndexWord(s, func(w text.IndexWord) {
		got.words++
		if w.CJK {
			pairs++
		}
		is := cues[string(w.Folded)]
		got.cues |= is
		if sentence.asks(w.Start) {
			got.asked++
			if w.CJK {
				askedPairs++
			}
		} else {
			if len(r.things) > 0 && r.isThing(w.Folded) {
				got.things++
			}
			if past.deed(w.Folded, is) {
				got.deeds++
			}
		}
		if w.Upper && got.words > 1 && len(w.Folded) > 1 && !endsSentence(s[end:w.Start]) && !r.named[string(w.Folded)] {
			got.names++
		}
		var part *passage
		if len(s) > passageText {
			part = r.passage(got, w, w.Start >= end && endsSentence(s[end:w.Start]))
		}
		end = w.End
		if w.CJK && r.lone != nil {
			r.countLone(got, part, w)
		}
		m := r.match(w)
		if m.term < 0 {
			return
		}
		counts := m.counts
		if counts == 1 {
			r.pair(got, latest, m.term)
			latest[m.term] = got.words
		}
		got.tf[m.term] += counts
		if part != nil {
			part.tf[m.term] += counts
		}
	})
	if pairs > 0 && len(r.unspaced) > 0 {
		got.things += r.unspaced.in(s)
	}
	got.words -= pairs * pairExtra / pairWords
	got.asked -= askedPairs * pairExtra / pairWords
	return got
}

// isThing reports whether a word, or what it is the plural of, is one of q.Things.
func (r *reader) isThing(fold []byte) bool {
	if r.things[string(fold)] {
		return true
	}
	return bytes.HasSuffix(fold, []byte("s")) && class.Singulars(string(fold), func(s string) bool { return r.things[s] })
}

// countLone counts the characters of a pair that are terms by themselves, each half: it is in two pairs, or at an end.
func (r *reader) countLone(got *reading, part *passage, w text.IndexWord) {
	first, n := utf8.DecodeRune(w.Folded)
	second, m := utf8.DecodeRune(w.Folded[n:])
	if m == 0 {
		return // it matches as a whole
	}
	for _, c := range [2]rune{first, second} {
		if i, ok := r.lone[c]; ok {
			got.tf[i] += .5
			if part != nil {
				part.tf[i] += .5
			}
		}
	}
}

// passage adds a word to the last passage of a long text, or to a new one. The passage is valid until the next call.
func (r *reader) passage(got *reading, w text.IndexWord, begins bool) *passage {
	last := len(got.passages) - 1
	if last < 0 || begins && got.passages[last].size >= passageLeast*pairWords || got.passages[last].size >= passageMost*pairWords {
		got.passages = append(got.passages, passage{Passage: Passage{Start: w.Start}, tf: make([]float64, len(r.q.Terms))})
		last++
	}
	p := &got.passages[last]
	p.size += pairWords
	if w.CJK {
		p.size -= pairExtra
	}
	p.End = w.End
	return p
}

// pair marks the pairs that the occurrence of a term that was just read completes. latest holds the occurrences before it.
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

// endsSentence reports whether a new sentence begins after the text between two words.
func endsSentence(gap string) bool {
	return strings.ContainsFunc(gap, func(r rune) bool { return isSentenceEnd(r) || r == ':' || r == '"' || r == '“' })
}
