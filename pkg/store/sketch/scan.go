package sketch

import (
	"math/bits"
	"slices"
	"sync"
)

// Snapshot is an unchanging state of an index. It is safe for concurrent use.
type Snapshot struct {
	words  int
	blocks []block
	rows   int
}

// Rows returns the number of rows.
func (s *Snapshot) Rows() int { return s.rows }

// Bytes returns about how much memory it uses.
func (s *Snapshot) Bytes() int64 { return int64(len(s.blocks)) * blockRows * int64(8+8*s.words) }

// rowsPerWorker is the number of rows from which another goroutine pays.
const rowsPerWorker = 1 << 16

// Nearest returns the numbers of up to limit rows by ascending distance to the sketch, ties by number. Rows for which
// pass returns false are left out; a nil pass accepts all. Up to workers goroutines scan, and all of them call pass.
func (s *Snapshot) Nearest(sketch []uint64, limit, workers int, pass func(no int64) bool) []int64 {
	if limit <= 0 || len(sketch) != s.words {
		return nil
	}
	workers = max(1, min(workers, s.rows/rowsPerWorker, len(s.blocks)))
	tops := make([]*top, workers)
	var wg sync.WaitGroup
	for i := range tops {
		t := newTop(limit, s.rows, s.words, pass)
		tops[i] = t
		part := s.blocks[i*len(s.blocks)/workers : (i+1)*len(s.blocks)/workers]
		if i == workers-1 { // the caller works too
			t.scan(part, sketch)
			break
		}
		wg.Go(func() { t.scan(part, sketch) })
	}
	wg.Wait()
	all := tops[0]
	all.pass = nil // all of them have passed
	for _, t := range tops[1:] {
		for _, k := range t.keys {
			if int(k>>48) <= min(all.far, t.far) {
				all.add(int64(k&(MaxRow-1)), int(k>>48))
			}
		}
	}
	all.truncate()
	out := make([]int64, len(all.keys))
	for i, k := range all.keys {
		out[i] = int64(k & (MaxRow - 1))
	}
	return out
}

// slack is how many times the limit a top holds before it removes the worst.
const slack = 8

// top collects the nearest rows met so far, and some that are no longer among them. A key is the distance in the high
// bits and the row number in the low ones, so keys sort as rows do.
type top struct {
	limit int
	pass  func(int64) bool
	far   int    // rows farther than this are not among the nearest
	cut   uint64 // keys from this on are not among the nearest
	at    []int  // number of rows met, by distance up to far
	near  int    // their sum
	keys  []uint64
}

func newTop(limit, rows, words int, pass func(int64) bool) *top {
	return &top{limit: limit, pass: pass, cut: ^uint64(0), far: 64 * words, at: make([]int, 64*words+1), keys: make([]uint64, 0, slack*min(limit, rows+1))}
}

func (t *top) scan(blocks []block, q []uint64) {
	for _, b := range blocks {
		if len(q) == 6 {
			t.scan6(b, [6]uint64(q))
			continue
		}
		w := len(q)
		for i, no := range b.nos {
			row, d := b.bits[i*w:(i+1)*w], 0
			for j, x := range q {
				d += bits.OnesCount64(x ^ row[j])
			}
			if d <= t.far {
				t.add(no, d)
			}
		}
	}
}

// scan6 is scan for 384 dimensions, the most common size, without an inner loop.
func (t *top) scan6(b block, q [6]uint64) {
	rows := b.bits
	for _, no := range b.nos {
		if len(rows) < 6 {
			return
		}
		d := bits.OnesCount64(q[0]^rows[0]) + bits.OnesCount64(q[1]^rows[1]) + bits.OnesCount64(q[2]^rows[2]) +
			bits.OnesCount64(q[3]^rows[3]) + bits.OnesCount64(q[4]^rows[4]) + bits.OnesCount64(q[5]^rows[5])
		rows = rows[6:]
		if d <= t.far {
			t.add(no, d)
		}
	}
}

func (t *top) add(no int64, d int) {
	key := uint64(d)<<48 | uint64(no)
	if key >= t.cut || t.pass != nil && !t.pass(no) {
		return
	}
	t.at[d]++
	for t.near++; t.near-t.at[t.far] >= t.limit; t.far-- {
		t.near -= t.at[t.far]
	}
	if t.keys = append(t.keys, key); len(t.keys) >= slack*t.limit {
		t.drop()
		if len(t.keys) >= slack/2*t.limit { // many at one distance
			t.truncate()
		}
	}
}

// drop removes what is too far by now.
func (t *top) drop() {
	t.keys = slices.DeleteFunc(t.keys, func(k uint64) bool { return int(k>>48) > t.far })
}

// truncate sorts what was met and removes what is not among the nearest.
func (t *top) truncate() {
	t.drop()
	slices.Sort(t.keys)
	if len(t.keys) > t.limit {
		t.near -= len(t.keys) - t.limit
		t.at[t.far] -= len(t.keys) - t.limit
		t.keys = t.keys[:t.limit]
		t.cut = t.keys[t.limit-1] // each row is met once, so no two keys are equal
	}
}
