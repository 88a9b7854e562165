package search

import (
	"math"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

const (
	// mostHeldNumbers bounds the row numbers that words are held with, and mostHeldHidden those of hidden rows: 32 and 16 MB.
	mostHeldNumbers, mostHeldHidden = 4 << 20, 2 << 20
	// mostHeldRecords bounds the banks, a record each.
	mostHeldRecords = 1024
	// turnsKept is how many of the rows that were hidden since are known one by one. What is older is read again.
	turnsKept = 1 << 12
)

// heldRows are what this process holds of the rows of large banks, so that a search in a far database need not ask for it
// again: which rows a word finds, which rows no search without a filter finds (schema.Kind.Hidden), messages and their order
// in a session (held_messages.go).
//
// Each bank's record is held as of a state, which is how often rows went (row_counts.gone), and up to where the list of
// changes was followed. Nothing that is held is for a search in a state before the last change of it.
type heldRows struct {
	mu        sync.Mutex
	of        *simplelru.LRU[sketchKey, *heldRecord]
	beginning map[sketchKey]bool // whose hidden rows are being read
	numbers   int                // of all words
	hidden    int                // of all records
	bytes     int                // of the messages of all records
	closed    bool

	indexed    int  // numbers in the indexes of all records
	indexing   bool // words of a record are being read
	indexAfter time.Time
}

// rowsState is a state of the rows of a bank's record, as a search sees it.
type rowsState struct {
	gone          int64 // how often rows went, or were hidden where no change is listed
	from, last    int64 // no row has a number below or above
	first, change int64 // of the changes that are listed
}

// heldRecord is what is held of a bank's record.
type heldRecord struct {
	gone       int64
	at, upto   int64   // the last change of the record, and the one up to which changes were followed
	hidden     []int64 // ascending; never changed in place
	turned     []turn  // those hidden since the record was begun, by change
	turnedFrom int64   // turned has all behind this change
	tooMany    bool    // rows are hidden: nothing is held
	unindexed  bool    // there are too many rows for an index
	searches   int     // without one
	indexAfter time.Time

	words    *simplelru.LRU[uint64, heldWords]
	numbers  int                // of words
	index    *wordIndex         // nil = none
	resting  map[int64]struct{} // of facts: all messages that hidden ones rest on, and perhaps others
	messages heldMessages       // of messages
}

// turn is a row that was hidden by a change.
type turn struct{ no, change int64 }

func newHeldRows() *heldRows {
	h := &heldRows{beginning: map[sketchKey]bool{}}
	// The size is positive.
	h.of, _ = simplelru.NewLRU(mostHeldRecords, func(_ sketchKey, gone *heldRecord) {
		h.hidden -= len(gone.hidden) + len(gone.resting)
		h.bytes -= gone.messages.bytes
		h.numbers -= gone.numbers
		h.dropIndex(gone)
	})
	return h
}

// sees reports whether what is held of a record is what a search sees.
func (k *heldRecord) sees(s rowsState) bool {
	return !k.tooMany && k.gone == s.gone && k.at <= s.change && s.change <= k.upto
}

// record returns what is held of a bank's record if a search sees it; nil if not.
func (h *heldRows) record(key sketchKey, s rowsState) *heldRecord {
	if k, found := h.of.Get(key); found && k.sees(s) {
		return k
	}
	return nil
}

// lacking is what a search has to read for a record to be held in its state.
type lacking struct {
	hidden        bool  // which rows are hidden
	changes, came bool  // the changes behind one, the messages that came behind one
	behind        int64 // that one

	words       bool  // those of the rows behind one
	wordsBehind int64 // that one
}

// lacks returns what a record lacks to be held in the state of a search.
func (h *heldRows) lacks(key sketchKey, s rowsState) (l lacking) {
	h.mu.Lock()
	defer h.mu.Unlock()
	k, found := h.of.Get(key)
	if found && k.index != nil && k.index.upto < s.last {
		defer func() { l.words, l.wordsBehind = !l.hidden, k.index.upto }()
	}
	switch {
	case h.closed || h.beginning[key] || found && (k.tooMany || k.gone > s.gone):
		return lacking{}
	case !found || s.first-1 > k.upto:
		return lacking{hidden: true}
	case key.record == memory.RecordFact:
		return lacking{changes: s.change > k.upto || k.gone < s.gone, behind: k.upto}
	case k.gone < s.gone:
		return lacking{hidden: true}
	}
	return lacking{came: k.messages.lack(s), behind: k.messages.upto}
}

// beginLater notes that the hidden rows of a record are being read apart from a search, until end is called. ok is false where
// that is so already.
func (h *heldRows) beginLater(key sketchKey) (end func(), ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.beginning[key] {
		return nil, false
	}
	h.beginning[key] = true
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.beginning, key)
	}, true
}

// begin holds a record in a state, with the rows that are hidden in it, ascending, and the messages that hidden facts rest on.
// Nothing is held of a record of which too many are.
func (h *heldRows) begin(key sketchKey, s rowsState, hidden, resting []int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	was, found := h.of.Peek(key)
	if h.closed || found && (was.gone > s.gone || was.gone == s.gone && was.upto >= s.change) {
		return
	}
	k := &heldRecord{gone: s.gone, at: s.change, upto: s.change, hidden: hidden, turnedFrom: s.change,
		resting: make(map[int64]struct{}, len(resting))}
	for _, no := range resting {
		k.resting[no] = struct{}{}
	}
	if len(hidden)+len(k.resting) > mostHeldHidden {
		k.tooMany, k.hidden, k.resting = true, nil, nil
	}
	if key.record == memory.RecordMessage { // gone counts those that are hidden too
		k.at, k.upto, k.turnedFrom = 0, math.MaxInt64, 0
	}
	if found && was.gone == s.gone && !k.tooMany {
		k.index, was.index = was.index, nil
	}
	if found {
		k.unindexed, k.searches, k.indexAfter = was.unindexed, was.searches, was.indexAfter
	}
	h.of.Remove(key)
	h.of.Add(key, k)
	for h.hidden += len(k.hidden) + len(k.resting); h.hidden > mostHeldHidden; {
		h.of.RemoveOldest()
	}
}

// changedRow is a row in the list of changes, with its last change, and whether it is hidden.
type changedRow struct {
	no, change int64
	hidden     bool
}

// follow brings facts to a state, with the changes of them behind the one that lacks named and the messages that those rest on.
func (h *heldRows) follow(key sketchKey, s rowsState, behind int64, changes []changedRow, resting []int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	k, found := h.of.Get(key)
	if !found || k.gone > s.gone || k.upto != behind {
		return
	}
	if k.gone < s.gone { // the list names the facts that went, and not those that have other words
		h.dropWords(k)
		k.gone = s.gone
	}
	for _, no := range resting {
		if _, known := k.resting[no]; !known {
			k.resting[no] = struct{}{}
			h.hidden++
		}
	}
	slices.SortFunc(changes, func(a, b changedRow) int { return int(a.change - b.change) })
	var hidden []int64
	again := map[int64]struct{}{}
	for _, c := range changes {
		k.at = max(k.at, c.change)
		_, was := slices.BinarySearch(k.hidden, c.no)
		switch {
		case c.hidden && !was:
			hidden = append(hidden, c.no)
			k.turned = append(k.turned, turn{c.no, c.change})
		case !c.hidden && was: // words may find it again, of which those that are held know nothing
			again[c.no] = struct{}{}
			k.turned, k.turnedFrom = nil, k.at
		}
	}
	if h.hidden += len(hidden) - len(again); len(hidden)+len(again) > 0 {
		k.hidden = slices.DeleteFunc(slices.Concat(k.hidden, hidden), func(no int64) bool { _, holds := again[no]; return holds })
		slices.Sort(k.hidden)
	}
	if n := len(k.turned) - turnsKept; n > 0 {
		k.turnedFrom = k.turned[n-1].change
		k.turned = slices.Clone(k.turned[n:])
	}
	k.upto = s.change
}

// passing returns those of some rows that a search without a filter finds; known is false where that is not held.
func (h *heldRows) passing(key sketchKey, s rowsState, nos []int64) (out []int64, known bool) {
	h.mu.Lock()
	k := h.record(key, s)
	if k == nil {
		h.mu.Unlock()
		return nil, false
	}
	hidden := k.hidden
	h.mu.Unlock()
	out = make([]int64, 0, len(nos))
	for _, no := range nos {
		if _, found := slices.BinarySearch(hidden, no); !found {
			out = append(out, no)
		}
	}
	return out, true
}

// resting returns those of some messages that hidden facts may rest on; known is false where that is not held.
func (h *heldRows) resting(key sketchKey, s rowsState, messages []int64) (out []int64, known bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	k := h.record(key, s)
	if k == nil {
		return nil, false
	}
	for _, no := range messages {
		if _, rests := k.resting[no]; rests {
			out = append(out, no)
		}
	}
	return out, true
}

// keys returns the keys of the records that are held.
func (h *heldRows) keys() []sketchKey {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.of.Keys()
}

// drop drops the messages and the words that are held of a state before some went.
func (h *heldRows) drop(key sketchKey, gone int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch k, found := h.of.Peek(key); {
	case !found || k.gone >= gone:
	case key.record == memory.RecordFact: // which are hidden is numbers alone
		h.dropWords(k)
	case !k.tooMany:
		h.of.Remove(key)
	}
}

// size is about how many bytes are held.
func (h *heldRows) size() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	const number = 8
	return int64(h.bytes + number*(h.numbers+h.hidden) + number/2*h.indexed)
}

// close drops everything, for good.
func (h *heldRows) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	h.of.Purge()
}
