package search

import (
	"sync"
	"sync/atomic"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

const (
	// heldBytes bounds what a process holds of the vectors of a store.
	heldBytes = 128 << 20
	// heldAtOnce is for how many vectors memory is taken at a time.
	heldAtOnce = 1024
)

// heldVectors are packed vectors of large banks that this process holds, so that a search in a far database need not fetch
// them. The least recently used make room. Each was read in a state of the store, which is the number of the last vector change
// that it has, and what keeps sketches up to date drops those that changed or went: one that is still there has not changed
// from its state to the one up to which the changes were followed, and is what a search in between sees.
type heldVectors struct {
	mu    sync.RWMutex
	most  int                 // bytes
	size  int                 // of a vector; 0 before the first
	upto  map[sketchKey]int64 // nil once closed
	at    map[sketchKey]*slotsOf
	held  int // vectors
	slots []heldSlot
	used  []atomic.Bool // since the hand passed; of as many slots as there are at most
	data  [][]byte      // of heldAtOnce slots each
	free  []int32
	hand  int
}

// heldKey names a row. Like the slots it has no pointers, which the collector would follow.
type heldKey struct {
	bank, no int64
	message  bool
}

type heldSlot struct {
	key   heldKey
	state int64 // in which the vector was read
}

func newHeldVectors(bytes int) *heldVectors {
	return &heldVectors{most: bytes, upto: map[sketchKey]int64{}, at: map[sketchKey]*slotsOf{}}
}

func (k sketchKey) row(no int64) heldKey {
	return heldKey{bank: k.bank, no: no, message: k.record == memory.RecordMessage}
}

// record is the record of the row.
func (k heldKey) record() sketchKey {
	if k.message {
		return sketchKey{k.bank, memory.RecordMessage}
	}
	return sketchKey{k.bank, memory.RecordFact}
}

// slotsOf are the slots of the rows of a bank's record, in pages of numbers in succession.
type slotsOf struct{ pages map[int64]*slotPage }

// slotPage has 1 + the slot of each row that has one.
type slotPage struct {
	slots [slotsOfPage]int32
	n     int
}

const slotsOfPage = 64

// get returns the slot of a row that has one. Nil has no rows.
func (s *slotsOf) get(no int64) (int32, bool) {
	if s == nil {
		return 0, false
	}
	page, found := s.pages[no/slotsOfPage]
	if !found {
		return 0, false
	}
	i := page.slots[no%slotsOfPage]
	return i - 1, i > 0
}

// assign assigns a slot to a row without one.
func (h *heldVectors) assign(row heldKey, i int32) {
	s := h.at[row.record()]
	if s == nil {
		s = &slotsOf{pages: map[int64]*slotPage{}}
		h.at[row.record()] = s
	}
	page := s.pages[row.no/slotsOfPage]
	if page == nil {
		page = &slotPage{}
		s.pages[row.no/slotsOfPage] = page
	}
	page.slots[row.no%slotsOfPage] = i + 1
	page.n, h.held = page.n+1, h.held+1
}

// take takes the slot of a row that has one.
func (h *heldVectors) take(row heldKey) {
	s := h.at[row.record()]
	page := s.pages[row.no/slotsOfPage]
	page.slots[row.no%slotsOfPage] = 0
	if page.n, h.held = page.n-1, h.held-1; page.n > 0 {
		return
	}
	if delete(s.pages, row.no/slotsOfPage); len(s.pages) == 0 {
		delete(h.at, row.record())
	}
}

// begin lets vectors of a bank's record be held, of which the caller follows the changes behind a state.
func (h *heldVectors) begin(key sketchKey, state int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.upto != nil {
		h.upto[key] = state
	}
}

// each calls fn with those of the vectors that are held as they are in a state, in the order of the numbers, and returns the
// numbers of the others. A vector is valid during the call. follows is false where the changes up to the state are not known.
func (h *heldVectors) each(key sketchKey, state int64, size int, nos []int64, fn func(no int64, packed []byte)) (others []int64, follows bool) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if upto, ok := h.upto[key]; !ok || upto < state {
		return nil, false
	}
	at := h.at[key]
	for _, no := range nos {
		i, ok := at.get(no)
		if !ok || h.slots[i].state > state || h.size != size {
			others = append(others, no)
			continue
		}
		if !h.used[i].Load() {
			h.used[i].Store(true)
		}
		fn(no, h.bytes(i))
	}
	return others, true
}

// put holds the vector of a row that was read in a state, unless that is no longer the one up to which changes were followed:
// what came after it may have erased the vector. Only with evict another one makes room for it.
func (h *heldVectors) put(key sketchKey, no, state int64, packed []byte, evict bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if upto, ok := h.upto[key]; !ok || upto != state || len(packed) == 0 {
		return
	}
	if h.size == 0 {
		h.size = len(packed)
		h.used = make([]atomic.Bool, max(1, h.most/(heldAtOnce*h.size))*heldAtOnce)
	}
	if len(packed) != h.size {
		return
	}
	row := key.row(no)
	i, found := h.at[key].get(no)
	if !found {
		var room bool
		if i, room = h.room(evict); !room {
			return
		}
		h.assign(row, i)
	}
	h.slots[i] = heldSlot{row, state}
	copy(h.bytes(i), packed)
}

// room returns a slot that holds nothing.
func (h *heldVectors) room(evict bool) (int32, bool) {
	if n := len(h.free); n > 0 {
		i := h.free[n-1]
		h.free = h.free[:n-1]
		return i, true
	}
	if n := len(h.slots); n < len(h.used) {
		if n%heldAtOnce == 0 {
			h.data = append(h.data, make([]byte, heldAtOnce*h.size))
		}
		h.slots = append(h.slots, heldSlot{})
		return int32(n), true //nolint:gosec // far fewer
	}
	if !evict {
		return 0, false
	}
	for h.used[h.hand].Swap(false) {
		h.hand = (h.hand + 1) % len(h.used)
	}
	i := int32(h.hand) //nolint:gosec // far fewer
	h.hand = (h.hand + 1) % len(h.used)
	h.take(h.slots[i].key)
	return i, true
}

// count returns how many vectors are held, and the memory that they take.
func (h *heldVectors) count() (vectors int, bytes int64) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	const slot, entry = 32, 64 // with its key and version, and in its page, of which a tenth is in use
	return h.held, int64(len(h.data))*heldAtOnce*int64(h.size+slot) + int64(h.held)*entry
}

func (h *heldVectors) bytes(i int32) []byte {
	in := int(i) % heldAtOnce * h.size
	return h.data[int(i)/heldAtOnce][in : in+h.size]
}

// drop drops what changed or went, up to a state.
func (h *heldVectors) drop(key sketchKey, upto int64, nos []int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.upto == nil {
		return
	}
	h.upto[key] = upto
	for _, no := range nos {
		if i, ok := h.at[key].get(no); ok {
			h.release(i)
		}
	}
}

// end drops all that is held of a bank's record, whose changes are not followed any more.
func (h *heldVectors) end(key sketchKey) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.upto, key)
	if s := h.at[key]; s != nil {
		for _, page := range s.pages {
			for _, i := range page.slots {
				if i > 0 {
					h.release(i - 1)
				}
			}
		}
	}
}

// release frees a slot.
func (h *heldVectors) release(i int32) {
	h.take(h.slots[i].key)
	clear(h.bytes(i)) // erased vectors must leave no trace
	h.slots[i] = heldSlot{}
	h.free = append(h.free, i)
}

// close drops everything, for good.
func (h *heldVectors) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.upto, h.at, h.slots, h.data, h.free, h.hand, h.held = nil, nil, nil, nil, nil, 0, 0
}
