package search

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
)

// rowsOf returns what holds of the facts of bank 1 that rows 9, 7 and 4 have a word, as of a change.
func rowsOf(change int64) (*heldRows, rowsState) {
	h, s := newHeldRows(), rowsState{gone: 2, last: 10, first: 1, change: change}
	h.begin(held1, s, nil, nil)
	h.hold(held1, s, 5, []int64{9, 7, 4}, true)
	return h, s
}

func TestRowsAreReadAgainWhereChangesAreMissing(t *testing.T) {
	t.Parallel()
	h, s := rowsOf(100)
	if l := h.lacks(held1, s); l.hidden || l.changes {
		t.Error("what is held as of a state lacks something in it")
	}
	s.change = 140
	if l := h.lacks(held1, s); l.hidden || !l.changes || l.behind != 100 {
		t.Errorf("a later search reads %+v; expected the changes behind 100", l)
	}
	if _, known := h.find(held1, s, 5); known {
		t.Error("something is known as of a change that nobody followed")
	}
	s.first = 101
	if h.lacks(held1, s).hidden {
		t.Error("every change is listed, and what is hidden is read again")
	}
	s.first = 102
	if !h.lacks(held1, s).hidden {
		t.Error("a change is listed no more, and what is hidden is not read again")
	}
	h.begin(held1, s, []int64{7}, nil)
	if _, known := h.find(held1, s, 5); known {
		t.Error("what a word found before is known still")
	}
	if passing, known := h.passing(held1, s, []int64{4, 7, 9}); !known || !slices.Equal(passing, []int64{4, 9}) {
		t.Errorf("%v of 4, 7 and 9 pass, %v; 7 is hidden", passing, known)
	}
}

func TestAWordIsLookedForAgainWhenTooManyRowsWereHidden(t *testing.T) {
	t.Parallel()
	h, s := rowsOf(100)
	turn := func(no int64) {
		s.change++
		h.follow(held1, s, s.change-1, []changedRow{{no: no, change: s.change, hidden: true}}, nil)
	}
	turn(7)
	if w, known := h.find(held1, s, 5); !known || !slices.Equal(w.nos, []int64{9, 4}) {
		t.Errorf("the word finds %v, %v; expected 9 and 4", w.nos, known)
	}
	h.hold(held1, s, 6, []int64{9, 4}, true)
	h.hold(held1, s, 7, []int64{9, 4}, true)
	for no := range int64(turnsKept) {
		turn(1000 + no)
	}
	if _, known := h.find(held1, s, 6); !known {
		t.Error("a word of which every hidden row is known is not held")
	}
	turn(4)
	if w, known := h.find(held1, s, 6); !known || !slices.Equal(w.nos, []int64{9}) {
		t.Errorf("the word finds %v, %v; expected 9", w.nos, known)
	}
	if _, known := h.find(held1, s, 7); known {
		t.Error("a word is held though it is not known which of its rows were hidden")
	}
}

func TestHeldRowsAreBounded(t *testing.T) {
	t.Parallel()
	h, s := rowsOf(100)
	many := make([]int64, mostHeldNumbers/4)
	for query := range uint64(6) {
		h.hold(held1, s, 10+query, many, true)
	}
	if _, known := h.find(held1, s, 5); known || h.numbers > mostHeldNumbers {
		t.Errorf("%d numbers are held, %d at most; those of the word used longest ago: %v", h.numbers, mostHeldNumbers, known)
	}
	if _, known := h.find(held1, s, 15); !known {
		t.Error("the rows of the latest word are not held")
	}
	hidden := make([]int64, mostHeldHidden/2)
	for bank := range int64(4) {
		h.begin(sketchKey{2 + bank, memory.RecordFact}, s, hidden, nil)
	}
	if h.hidden > mostHeldHidden {
		t.Errorf("%d hidden rows are held, %d at most", h.hidden, mostHeldHidden)
	}
	if _, known := h.passing(held1, s, nil); known {
		t.Error("the bank used longest ago is held")
	}
	h.close()
	h.begin(held1, s, nil, nil)
	h.hold(held1, s, 5, []int64{1}, true)
	if _, known := h.find(held1, s, 5); known || h.numbers != 0 || h.hidden != 0 {
		t.Error("something is held of a store that is closed")
	}
}

func TestNothingIsHeldWhereTooManyRowsAreHidden(t *testing.T) {
	t.Parallel()
	h, s := rowsOf(100)
	s.gone, s.change, s.first = 9, 500, 400 // the changes between are not listed
	if !h.lacks(held1, s).hidden {
		t.Error("what is hidden is not read again")
	}
	end, ok := h.beginLater(held1)
	if _, again := h.beginLater(held1); !ok || again || h.lacks(held1, s) != (lacking{}) {
		t.Error("what is being read is read again")
	}
	h.begin(held1, s, make([]int64, mostHeldHidden+1), nil)
	end()
	if _, known := h.passing(held1, s, nil); known || h.hidden > 0 {
		t.Errorf("%d hidden rows are held", h.hidden)
	}
	s.gone, s.change = 10, 510
	if l := h.lacks(held1, s); l != (lacking{}) {
		t.Errorf("they are read again: %+v", l)
	}
}

func TestFactsThatWentAreFollowedByTheListOfChanges(t *testing.T) {
	t.Parallel()
	h, s := rowsOf(100)
	earlier := s
	s.gone++
	if l := h.lacks(held1, s); l.hidden || !l.changes {
		t.Errorf("a search after a fact was reworded lacks %+v; expected the changes", l)
	}
	h.follow(held1, s, 100, nil, nil)
	if _, known := h.find(held1, s, 5); known || h.numbers != 0 {
		t.Errorf("a word is held though facts have others now, with %d rows", h.numbers)
	}
	if _, known := h.passing(held1, s, []int64{4}); !known {
		t.Error("which facts are hidden is not held")
	}
	if _, known := h.passing(held1, earlier, []int64{4}); known {
		t.Error("an earlier search sees a later state")
	}
}

func TestHeldMessagesAreBounded(t *testing.T) {
	t.Parallel()
	h, s := rowsOf(100)
	small, large := sketchKey{1, memory.RecordMessage}, sketchKey{2, memory.RecordMessage}
	h.begin(small, s, nil, nil)
	h.begin(large, s, nil, nil)
	message := func(no int64) (m heldMessage) {
		m.No, m.Text = no, strings.Repeat("x", 1<<20)
		return m
	}
	s.last = 1 << 30
	h.holdMessages(small, s, []heldMessage{message(1)})
	const many = mostHeldBytes >> 20
	for no := range int64(many) {
		h.holdMessages(large, s, []heldMessage{message(no)})
	}
	if h.bytes > mostHeldBytes {
		t.Errorf("messages take %d bytes, %d at most", h.bytes, mostHeldBytes)
	}
	if found, _ := h.findMessages(small, s, []int64{1}); len(found) > 0 {
		t.Error("a message of the bank used longest ago is held")
	}
	found, others := h.findMessages(large, s, []int64{0, many - 1})
	if len(found) != 1 || !slices.Equal(others, []int64{0}) {
		t.Errorf("%d messages are held, and not %v; expected the last and not the first", len(found), others)
	}
	h.begin(large, rowsState{gone: 3, last: 1 << 30, first: 1, change: 100}, nil, nil)
	if h.bytes != 0 {
		t.Errorf("%d bytes are held of messages of which one went", h.bytes)
	}
}

func TestTheOrderOfMessagesIsHeldBySession(t *testing.T) {
	t.Parallel()
	h, s := rowsOf(100)
	key := sketchKey{1, memory.RecordMessage}
	h.begin(key, s, nil, nil)
	is := func(want ...recall.Neighbourhood) {
		t.Helper()
		if got, _ := h.neighbours(key, s, []int64{4}, 1, 3); !cmp.Equal(got, want) {
			t.Errorf("next to the fourth message are %v; expected %v", got, want)
		}
	}
	h.holdSession(key, s, "s", []int64{1, 2, 3, 4, 5, 6})
	is(recall.Neighbourhood{No: 4, Before: []int64{3}, After: []int64{5, 6}})
	h.holdSession(key, s, "long", make([]int64, mostOfSession+1))
	if unknown := h.unknownSessions(key, s, []memory.SessionID{"s", "long", "new", "new"}); !slices.Equal(unknown, []memory.SessionID{"new"}) {
		t.Errorf("the sessions %q are read; expected the new one", unknown)
	}
	before := s
	s.last = 20
	is()
	if l := h.lacks(key, s); !l.came || l.behind != 10 {
		t.Errorf("a search of later messages lacks %+v; expected those behind 10", l)
	}
	h.messagesCame(key, s, 10, []placed{{"s", 15}, {"another", 16}, {"long", 17}})
	is(recall.Neighbourhood{No: 4, Before: []int64{3}, After: []int64{5, 6, 15}})
	if got, others := h.neighbours(key, s, []int64{17}, 1, 1); len(got) > 0 || len(others) != 1 {
		t.Errorf("next to a message of a long session are %v", got)
	}
	s, before = before, s
	is(recall.Neighbourhood{No: 4, Before: []int64{3}, After: []int64{5, 6}})
	h.holdSession(key, s, "seen by the earlier one", []int64{7, 8})
	if _, others := h.neighbours(key, s, []int64{7}, 1, 1); len(others) != 1 {
		t.Error("a session is held of which a later message may be missing")
	}
	s = before
	s.last = 10_000
	h.messagesCame(key, s, 20, make([]placed, mostCame+1))
	is()
	if h.lacks(key, s).came || h.bytes != 0 {
		t.Errorf("messages are read for sessions that are not held, which take %d bytes", h.bytes)
	}
	nos := make([]int64, mostOfSession)
	for n := range mostHeldSessions / mostOfSession {
		for i := range nos {
			nos[i] = int64(n*mostOfSession + i)
		}
		h.holdSession(key, s, memory.SessionID(strings.Repeat("x", n+1)), nos)
	}
	nos[0] = 1 << 40
	h.holdSession(key, s, "of too many", nos)
	if h.bytes != placeBytes*mostOfSession {
		t.Errorf("the places of the last session's messages take %d bytes; expected %d", h.bytes, placeBytes*mostOfSession)
	}
}
