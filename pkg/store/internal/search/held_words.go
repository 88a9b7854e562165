package search

import (
	"slices"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// heldWords are rows that have a word, the latest first: all of them up to a number, or the latest.
type heldWords struct {
	nos  []int64 // never changed in place
	all  bool
	upto int64 // the number
	at   int64 // the last change of the record that they are as of
}

// find returns what is held of a word, as a search sees it; known is false where that is nothing.
func (h *heldRows) find(key sketchKey, s rowsState, query uint64) (w heldWords, known bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	k := h.record(key, s)
	if k == nil {
		return w, false
	}
	if k.words == nil {
		return w, false
	}
	if w, known = k.words.Get(query); !known || w.at < k.turnedFrom {
		return w, false
	}
	if w.at < k.at {
		w = k.withoutTurned(w)
		h.put(k, query, w)
	}
	if w.upto > s.last { // rows that came later
		i, _ := slices.BinarySearchFunc(w.nos, s.last, func(no, last int64) int { return int(last - no) })
		w.nos, w.upto = w.nos[i:], s.last
	}
	return w, true
}

// withoutTurned leaves out the rows that were hidden since.
func (k *heldRecord) withoutTurned(w heldWords) heldWords {
	i, _ := slices.BinarySearchFunc(k.turned, w.at+1, func(t turn, change int64) int { return int(t.change - change) })
	for _, t := range k.turned[i:] {
		if at, found := slices.BinarySearchFunc(w.nos, t.no, func(no, turned int64) int { return int(turned - no) }); found {
			w.nos = slices.Delete(slices.Clone(w.nos), at, at+1)
		}
	}
	w.at = k.at
	return w
}

// hold holds the rows that a search found by a word, the latest first: all of them, or the latest.
func (h *heldRows) hold(key sketchKey, s rowsState, query uint64, nos []int64, all bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	k := h.record(key, s)
	if k == nil {
		return
	}
	if k.words != nil {
		if w, found := k.words.Peek(query); found && w.upto > s.last {
			return
		}
	}
	h.put(k, query, heldWords{nos: nos, all: all, upto: s.last, at: k.at})
}

// put holds a word of a record. The bank used longest ago makes room, and of the only one the word.
func (h *heldRows) put(k *heldRecord, query uint64, w heldWords) {
	if k.words == nil {
		k.words, _ = simplelru.NewLRU(mostHeldNumbers/8, func(_ uint64, gone heldWords) { // the size is positive
			k.numbers -= len(gone.nos)
			h.numbers -= len(gone.nos)
		})
	}
	k.words.Remove(query)
	k.words.Add(query, w)
	k.numbers += len(w.nos)
	for h.numbers += len(w.nos); h.numbers > mostHeldNumbers; {
		if _, oldest, _ := h.of.GetOldest(); oldest != k {
			h.of.RemoveOldest()
		} else {
			k.words.RemoveOldest()
		}
	}
}

// dropWords drops the words of a record.
func (h *heldRows) dropWords(k *heldRecord) {
	h.dropIndex(k)
	h.numbers -= k.numbers
	k.words, k.numbers = nil, 0
}
