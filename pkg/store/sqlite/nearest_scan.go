package sqlite

import (
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/sketch"
)

// scan is one look through the sketches of a record. It needs no connection, so
// it goes on beside whatever else a search reads.
type scan struct {
	v      memory.Vector
	snap   *sketch.Snapshot
	bits   []uint64
	enough int

	nos  []int64 // once done is closed
	done chan struct{}
}

// Expect begins the scans that Nearest and NearestMessages will want.
func (r *reader) Expect(v memory.Vector, facts, messages int) error {
	for rec, limit := range map[memory.Record]int{memory.RecordFact: facts, memory.RecordMessage: messages} {
		if limit <= 0 || len(v) == 0 {
			continue
		}
		if p, err := r.passing(rec); err != nil || p.few { // those are compared one by one
			if err != nil {
				return err
			}
			continue
		}
		s := vectorSearch{r: r, v: v, record: rec, limit: limit}
		begun, err := s.scan()
		if err != nil {
			return err
		}
		if begun == nil {
			continue
		}
		if r.ahead == nil {
			r.ahead = map[memory.Record]*scan{}
		}
		r.ahead[rec] = begun
	}
	return nil
}

// scan gives the scan that was expected, or begins one; nil where there are no sketches.
func (s vectorSearch) scan() (*scan, error) {
	enough := max(candidates, candidatesEach*s.limit)
	if begun := s.r.ahead[s.record]; begun != nil && begun.enough == enough && slices.Equal(begun.v, s.v) {
		return begun, nil
	}
	snap, bits, err := s.sketches()
	if err != nil || snap == nil {
		return nil, err
	}
	begun := &scan{v: s.v, snap: snap, bits: bits, enough: enough, done: make(chan struct{})}
	go func() {
		defer close(begun.done)
		begun.nos = snap.Nearest(bits, enough, workers(), nil)
	}()
	return begun, nil
}

// awaitScans waits for what was expected and perhaps never asked for.
func (r *reader) awaitScans() {
	for _, begun := range r.ahead {
		<-begun.done
	}
}
