package search

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// lamps is an index of the facts of bank 1 up to row 30, of which none had gone.
func lamps() *wordIndex {
	x := newWordIndex(rowsState{from: 10})
	for _, r := range []struct {
		no    int64
		words []string
	}{
		{10, []string{"wlamp", "wred"}},
		{12, []string{"wlamplight"}},
		{15, []string{"wred", "wlamp", "wlamp"}},
		{21, []string{"wlampooned", "wred"}},
		{30, []string{"wlamp"}},
	} {
		for _, word := range r.words {
			x.add(r.no, word)
		}
	}
	x.upto = 30
	return x
}

// indexed holds the index of lamps, with rows that are hidden, and returns the state of a search.
func indexed(hidden ...int64) (*heldRows, rowsState) {
	h, s := newHeldRows(), rowsState{from: 10, last: 30, first: 1, change: 5}
	h.begin(held1, s, hidden, nil)
	h.holdIndex(held1, lamps(), true, 0)
	return h, s
}

func TestAnIndexFindsTheRowsOfWords(t *testing.T) {
	t.Parallel()
	h, s := indexed(12)
	for _, c := range []struct {
		words  []string
		begins string
		last   int64
		limit  int
		want   []int64
		all    bool
	}{
		{[]string{"wlamp"}, "", 30, 9, []int64{30, 15, 10}, true},
		{[]string{"wlamp"}, "", 29, 9, []int64{15, 10}, true},
		{[]string{"wlamp"}, "", 30, 2, []int64{30, 15}, false},
		{[]string{"wlamp", "wred"}, "", 30, 9, []int64{30, 21, 15, 10}, true},
		{[]string{"wlamp"}, "wlamp", 30, 9, []int64{30, 21, 15, 10}, true}, // 12 is hidden
		{[]string{"wred"}, "wlampl", 30, 9, []int64{21, 15, 10}, true},
		{nil, "wlampoon", 30, 9, []int64{21}, true},
		{[]string{"wlam"}, "", 30, 9, nil, true},
		{[]string{"glamp"}, "glam", 30, 9, nil, true},
	} {
		s.last = c.last
		w, known := h.findIndexed(held1, s, c.words, c.begins, c.limit)
		if !known || !slices.Equal(w.nos, c.want) || w.all != c.all || w.upto != c.last {
			t.Errorf("%q and what begins with %q up to %d, %d at most: %+v, %v; expected %v, all %v", c.words, c.begins, c.last, c.limit, w, known, c.want, c.all)
		}
	}
	if _, known := h.findIndexed(held1, s, nil, "wla", 9); known {
		t.Error("an index tells which words begin with two letters")
	}
	if _, known := h.findIndexed(sketchKey{2, memory.RecordFact}, s, []string{"wlamp"}, "", 9); known {
		t.Error("another bank has an index")
	}
}

func TestAnIndexIsExtendedByWhatCame(t *testing.T) {
	t.Parallel()
	h, s := indexed()
	s.last = 40
	l := h.lacks(held1, s)
	if !l.words || l.wordsBehind != 30 {
		t.Fatalf("a search that sees row 40 lacks %+v; expected words behind 30", l)
	}
	if w, known := h.findIndexed(held1, s, []string{"wlamp"}, "", 1); !known || w.upto != 30 {
		t.Errorf("before they were read it finds %+v, %v", w, known)
	}
	came := []indexedWord{{33, "wlamp"}, {40, "wlamp"}, {40, "wlantern"}}
	s.change++    // nobody followed yet
	for range 2 { // two searches read the same
		h.extend(held1, s, 30, came, 40)
	}
	if l := h.lacks(held1, s); l.words {
		t.Error("what was read is read again")
	}
	h.follow(held1, s, s.change-1, nil, nil)
	for word, want := range map[string][]int64{"wlamp": {40, 33, 30, 15, 10}, "wlantern": {40}} {
		if w, known := h.findIndexed(held1, s, []string{word}, "", 9); !known || !slices.Equal(w.nos, want) {
			t.Errorf("%s finds %+v, %v; expected %v", word, w, known, want)
		}
	}
	if w, _ := h.findIndexed(held1, s, nil, "wlant", 9); !slices.Equal(w.nos, []int64{40}) {
		t.Errorf("the beginning of a word that came finds %+v", w)
	}
	s.last = 35
	if w, _ := h.findIndexed(held1, s, []string{"wlamp", "wlantern"}, "", 9); !slices.Equal(w.nos, []int64{33, 30, 15, 10}) {
		t.Errorf("a search that does not see row 40 finds %+v", w)
	}
}

func TestAnIndexIsOfOneState(t *testing.T) {
	t.Parallel()
	later := func(s rowsState) rowsState { s.gone++; s.change++; return s }
	known := func(h *heldRows, s rowsState) bool {
		_, known := h.findIndexed(held1, s, []string{"wlamp"}, "", 9)
		return known
	}
	h, s := indexed()
	h.follow(held1, later(s), s.change, nil, nil)
	if known(h, s) || known(h, later(s)) || h.indexed != 0 {
		t.Errorf("it is held though a fact went or has other words, with %d numbers", h.indexed)
	}
	h.holdIndex(held1, lamps(), true, 0)
	if known(h, later(s)) {
		t.Error("one that was made before a fact went is held after that")
	}
	h, s = indexed()
	if h.drop(held1, s.gone); !known(h, s) {
		t.Error("it is dropped though nothing went")
	}
	if h.drop(held1, s.gone+1); known(h, s) || h.indexed != 0 {
		t.Error("words of facts are held that went, for as long as nobody searches")
	}
	if _, passes := h.passing(held1, s, []int64{10}); !passes {
		t.Error("which facts are hidden is dropped with the words, and is numbers alone")
	}
	h, s = indexed()
	s.first, s.change = 400, 500 // the changes between are not listed: hidden rows are read again
	if h.begin(held1, s, []int64{15}, nil); !known(h, s) {
		t.Error("the words are dropped though none changed")
	}
	if w, _ := h.findIndexed(held1, s, []string{"wlamp"}, "", 9); !slices.Equal(w.nos, []int64{30, 10}) {
		t.Errorf("with 15 hidden it finds %v", w.nos)
	}
	h.close()
	if known(h, s) || h.indexed != 0 {
		t.Error("it is held of a store that is closed")
	}
}

func TestWordsAreReadOfWhatIsSearchedAgainAndAgain(t *testing.T) {
	t.Parallel()
	h, s := newHeldRows(), rowsState{from: 1, last: 9, first: 1}
	messages := sketchKey{1, memory.RecordMessage}
	h.begin(held1, s, nil, nil)
	h.begin(messages, s, nil, nil)
	both := map[sketchKey]rowsState{held1: s, messages: s}
	for n := range searchesBefore {
		if lacking, _ := h.beginIndexes(both); len(lacking) > 0 {
			t.Fatalf("words are read at search %d", n+1)
		}
	}
	lacking, end := h.beginIndexes(both)
	if len(lacking) != 2 {
		t.Fatalf("the words of %v are read; expected both records", lacking)
	}
	if again, _ := h.beginIndexes(both); len(again) > 0 {
		t.Error("words are read while they are read")
	}
	h.holdIndex(held1, newWordIndex(s), true, time.Hour)
	h.holdIndex(messages, newWordIndex(s), false, 0)
	end()
	h.indexAfter = time.Time{}
	if lacking, _ = h.beginIndexes(both); len(lacking) > 0 {
		t.Error("words are read again of a record with an index, or of one with too many rows for any")
	}
	s.gone++
	h.follow(held1, s, s.change, nil, nil)
	if lacking, _ = h.beginIndexes(map[sketchKey]rowsState{held1: s}); len(lacking) > 0 {
		t.Error("words are read again right after they took long")
	}
	k, _ := h.of.Peek(held1)
	k.indexAfter = time.Time{}
	h.indexAfter = time.Now().Add(time.Hour)
	if lacking, _ = h.beginIndexes(map[sketchKey]rowsState{held1: s}); len(lacking) > 0 {
		t.Error("words are read right after those of others")
	}
	h.indexAfter = time.Time{}
	if lacking, _ = h.beginIndexes(map[sketchKey]rowsState{held1: s}); len(lacking) != 1 {
		t.Error("words are not read again after a fact went")
	}
}

func TestIndexesAreBounded(t *testing.T) {
	t.Parallel()
	h, s := newHeldRows(), rowsState{from: 1, last: 9, first: 1}
	third := func() *wordIndex {
		x := newWordIndex(s)
		x.size = mostIndexed / 3
		return x
	}
	for bank := range int64(5) {
		key := sketchKey{1 + bank, memory.RecordFact}
		h.begin(key, s, nil, nil)
		h.holdIndex(key, third(), true, 0)
	}
	for bank, want := range []bool{false, false, true, true, true} {
		if _, known := h.findIndexed(sketchKey{1 + int64(bank), memory.RecordFact}, s, nil, "", 1); known != want {
			t.Errorf("bank %d, the %d. of five: %v; the banks used longest ago make room", 1+bank, 1+bank, known)
		}
	}
	if h.indexed > mostIndexed || h.size() < 2*mostIndexed {
		t.Errorf("%d numbers are held, %d at most, in %d bytes", h.indexed, mostIndexed, h.size())
	}
	last := sketchKey{5, memory.RecordFact}
	s.last = 10
	words := make([]indexedWord, 0, mostIndexed/wordNumbers)
	for n := range cap(words) {
		words = append(words, indexedWord{10, fmt.Sprint("w", n)})
	}
	h.extend(last, s, 0, words, 10)
	if _, known := h.findIndexed(last, s, nil, "", 1); known || h.indexed != mostIndexed/3*2 {
		t.Errorf("one that grew too large is held, %v, with %d numbers", known, h.indexed)
	}
	x := newWordIndex(s)
	if x.add(0, "wlow") || x.add(1<<33, "whigh") {
		t.Error("an index has a row below the first, or one that is too far from it")
	}
}
