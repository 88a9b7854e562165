package sketch

import (
	"slices"
	"sync/atomic"
)

// blockRows is the number of rows in a block: small enough to be copied when one of them is removed, large enough that
// a million rows are a few hundred blocks.
const blockRows = 4096

// MaxRow bounds row numbers: they are at least 0 and below it.
const MaxRow = 1 << 48

// block holds rows in no order. What is within its length does not change once a snapshot has it.
type block struct {
	nos    []int64
	bits   []uint64
	lo, hi int64 // bounds of nos, not necessarily tight
}

// Index holds the sketches of rows by number. One goroutine edits it at a time; any number may search it meanwhile, each
// on a snapshot.
type Index struct {
	words int
	now   atomic.Pointer[Snapshot]
}

// NewIndex returns an empty index of the coder's sketches.
func NewIndex(c Coder) *Index {
	x := &Index{words: c.words}
	x.now.Store(&Snapshot{words: c.words})
	return x
}

// Snapshot returns the index as it is; later edits do not change it.
func (x *Index) Snapshot() *Snapshot { return x.now.Load() }

// Edit begins a change of the index, which takes effect with Commit. Without Commit it changes nothing.
func (x *Index) Edit() *Edit {
	was := x.now.Load()
	return &Edit{x: x, blocks: slices.Clone(was.blocks), rows: was.rows, owned: map[int]bool{}}
}

// Edit is a change of an index that is not committed yet.
type Edit struct {
	x      *Index
	blocks []block
	rows   int
	owned  map[int]bool // blocks that no snapshot has
}

// Put sets the sketch of a row. A number out of range, or a sketch of another size, is ignored.
func (e *Edit) Put(no int64, bits []uint64) {
	if no < 0 || no >= MaxRow || len(bits) != e.x.words {
		return
	}
	e.Remove(no)
	last := len(e.blocks) - 1
	if last < 0 || len(e.blocks[last].nos) == blockRows {
		last++
		e.blocks = append(e.blocks, block{nos: make([]int64, 0, blockRows), bits: make([]uint64, 0, blockRows*e.x.words), lo: no, hi: no})
		e.owned[last] = true
	}
	// A shared block may be written past the length that snapshots have.
	b := &e.blocks[last]
	b.nos, b.bits = append(b.nos, no), append(b.bits, bits...)
	b.lo, b.hi = min(b.lo, no), max(b.hi, no)
	e.rows++
}

// Remove removes a row; one that is not in the index changes nothing.
func (e *Edit) Remove(no int64) {
	for i := len(e.blocks) - 1; i >= 0; i-- {
		b := &e.blocks[i]
		if no < b.lo || no > b.hi {
			continue
		}
		at := slices.Index(b.nos, no)
		if at < 0 {
			continue
		}
		e.own(i)
		last, w := len(b.nos)-1, e.x.words
		b.nos[at] = b.nos[last]
		copy(b.bits[at*w:(at+1)*w], b.bits[last*w:])
		clear(b.bits[last*w:]) // erased vectors must leave no trace
		b.nos, b.bits = b.nos[:last], b.bits[:last*w]
		e.rows--
		return
	}
}

// own replaces a block that a snapshot has by a copy of the same capacity.
func (e *Edit) own(i int) {
	if e.owned[i] {
		return
	}
	b := &e.blocks[i]
	nos, bits := make([]int64, len(b.nos), blockRows), make([]uint64, len(b.bits), blockRows*e.x.words)
	copy(nos, b.nos)
	copy(bits, b.bits)
	b.nos, b.bits = nos, bits
	e.owned[i] = true
}

// Commit puts the change into effect: Snapshot returns it from now on. The edit must not be used again.
func (e *Edit) Commit() {
	blocks := slices.DeleteFunc(e.blocks, func(b block) bool { return len(b.nos) == 0 })
	e.x.now.Store(&Snapshot{words: e.x.words, blocks: blocks, rows: e.rows})
}
