package search

import (
	"math"
	"slices"
	"strings"
	"time"
)

const (
	// mostIndexed bounds the row numbers of all indexes, of which a word counts as wordNumbers: 64 MB.
	mostIndexed, wordNumbers = 16 << 20, 32
	// startBytes is how many bytes of words are looked up for those that begin alike, of which queries have as many at least.
	startBytes = 4
	// searchesBefore is how often a bank is searched before its words are read.
	searchesBefore = 3
	// indexPause is how many times as long as words took to be read passes before any are read again, and againPause before those
	// of the same record: a bank whose words change all the time is to cost little more than one that is not indexed.
	indexPause, againPause = 10, 100
	// noState is how often rows went in the state that an index is of whose rows went while it was made.
	noState = -1
)

// wordIndex has the rows of a bank's record by word, hidden ones too: what the database's own index has of them, so that a word
// for which nobody has searched yet is not looked for there. It is right for as long as no row goes and none has other words, which
// both count as gone.
type wordIndex struct {
	gone int64               // the state that it is of
	base int64               // no row has a lower number
	upto int64               // it has all rows up to this number
	rows map[string][]uint32 // less base, ascending
	size int                 // in numbers

	starts map[string][]string // words by their first startBytes
}

// newWordIndex returns the index of a record without rows.
func newWordIndex(s rowsState) *wordIndex {
	return &wordIndex{gone: s.gone, base: s.from, rows: map[string][]uint32{}, starts: map[string][]string{}}
}

// add notes that a row has a word. No row with a higher number was added. It is false where the index cannot have the row.
func (x *wordIndex) add(no int64, word string) bool {
	at := no - x.base
	if at < 0 || at > math.MaxUint32 {
		return false
	}
	nos, known := x.rows[word]
	if n := len(nos); n > 0 && nos[n-1] == uint32(at) {
		return true
	}
	if x.size++; !known {
		word = strings.Clone(word)
		x.size += wordNumbers
		if len(word) >= startBytes {
			x.starts[word[:startBytes]] = append(x.starts[word[:startBytes]], word)
		}
	}
	x.rows[word] = append(nos, uint32(at))
	return x.size <= mostIndexed
}

// beginIndexes notes that the words of records are being read, until end is called, and returns which: those that are held in
// their state, without an index. It is none where the bank was searched too seldom, and while others are read or shortly after.
func (h *heldRows) beginIndexes(records map[sketchKey]rowsState) (lacking []sketchKey, end func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	began := time.Now()
	if h.closed || h.indexing || began.Before(h.indexAfter) {
		return nil, nil
	}
	for key, s := range records {
		k := h.record(key, s)
		if k == nil || k.index != nil || k.unindexed || began.Before(k.indexAfter) {
			continue
		}
		if k.searches++; k.searches > searchesBefore {
			lacking = append(lacking, key)
		}
	}
	h.indexing = len(lacking) > 0
	return lacking, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		now := time.Now()
		h.indexing, h.indexAfter = false, now.Add(indexPause*now.Sub(began))
	}
}

// holdIndex holds the index of a record, which took a time to make, unless it is of another state. One that does not have all rows
// is not held, and none is made again.
func (h *heldRows) holdIndex(key sketchKey, x *wordIndex, all bool, took time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	k, found := h.of.Peek(key)
	if !found {
		return
	}
	k.indexAfter = time.Now().Add(againPause * took)
	switch {
	case k.index != nil || k.gone != x.gone:
	case !all:
		k.unindexed = true
	default:
		k.index = x
		h.indexed += x.size
		h.roomForIndex(key)
	}
}

// roomForIndex keeps to mostIndexed. The banks used longest ago make room, and the one that needs it last.
func (h *heldRows) roomForIndex(key sketchKey) {
	for _, other := range append(slices.DeleteFunc(h.of.Keys(), func(other sketchKey) bool { return other == key }), key) {
		if h.indexed <= mostIndexed {
			return
		}
		k, _ := h.of.Peek(other)
		h.dropIndex(k)
	}
}

// dropIndex drops the index of a record, if it has one.
func (h *heldRows) dropIndex(k *heldRecord) {
	if k.index != nil {
		h.indexed -= k.index.size
		k.index = nil
	}
}

// find returns the rows that have one of some words, or one that begins like another, "" for none: a list of each word.
func (x *wordIndex) find(words []string, begins string) (lists [][]uint32) {
	for _, word := range words {
		if nos := x.rows[word]; len(nos) > 0 {
			lists = append(lists, nos)
		}
	}
	if begins == "" {
		return lists
	}
	for _, word := range x.starts[begins[:startBytes]] {
		if strings.HasPrefix(word, begins) && !slices.Contains(words, word) {
			lists = append(lists, x.rows[word])
		}
	}
	return lists
}

// indexedWord is a word of a row.
type indexedWord struct {
	no   int64
	word string
}

// extend adds the words of the rows behind the last of an index, up to a number.
func (h *heldRows) extend(key sketchKey, s rowsState, behind int64, words []indexedWord, upto int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	k, found := h.of.Get(key) // changes may not be followed yet: they change no words
	if !found || k.gone != s.gone || k.index == nil || k.index.upto != behind {
		return
	}
	x, fits := k.index, true
	h.indexed -= x.size
	for _, w := range words {
		fits = x.add(w.no, w.word) && fits
	}
	x.upto = upto
	if h.indexed += x.size; !fits {
		h.dropIndex(k)
		k.unindexed = true
	}
	h.roomForIndex(key)
}

// findIndexed returns the latest rows that have one of some words, or one that begins like another, "" for none, as a search
// sees it; known is false where there is no index that tells.
func (h *heldRows) findIndexed(key sketchKey, s rowsState, words []string, begins string, limit int) (w heldWords, known bool) {
	h.mu.Lock()
	k := h.record(key, s)
	if k == nil || k.index == nil || begins != "" && len(begins) < startBytes {
		h.mu.Unlock()
		return w, false
	}
	// What the lists have is not changed, whatever is added.
	lists, base, hidden := k.index.find(words, begins), k.index.base, k.hidden
	w.upto = min(k.index.upto, s.last)
	h.mu.Unlock()
	for i, nos := range lists {
		n, _ := slices.BinarySearchFunc(nos, w.upto, func(at uint32, upto int64) int {
			if base+int64(at) <= upto {
				return -1
			}
			return 1
		})
		lists[i] = nos[:n]
	}
	for len(w.nos) < limit {
		at, some := latestOf(lists)
		if !some {
			break
		}
		no := base + int64(at)
		if _, hides := slices.BinarySearch(hidden, no); !hides {
			w.nos = append(w.nos, no)
		}
	}
	w.all = len(w.nos) < limit
	return w, true
}

// latestOf takes the greatest number off the ends of lists, each ascending; ok is false where all are empty.
func latestOf(lists [][]uint32) (latest uint32, ok bool) {
	for _, nos := range lists {
		if n := len(nos); n > 0 && (!ok || nos[n-1] > latest) {
			latest, ok = nos[n-1], true
		}
	}
	for i, nos := range lists {
		if n := len(nos); n > 0 && nos[n-1] == latest {
			lists[i] = nos[:n-1]
		}
	}
	return latest, ok
}
