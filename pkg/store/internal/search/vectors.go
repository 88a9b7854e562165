package search

import (
	"cmp"
	"context"
	"runtime"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/schema"
	"github.com/eunoe-memory/eunoe/pkg/store/sketch"
)

const (
	// A search by sketches compares minCandidates exactly, or candidatesPerResult for each result that is asked for,
	// whichever is more. With 400 candidates 99.5 % and more of the ten nearest of a million are found.
	minCandidates       = 400
	candidatesPerResult = 4
	// minShare is the share of candidates that must pass the filter for more candidates to be fetched. With fewer, the
	// rows that pass are listed first.
	minShare = .05
	// enoughShare is the share from which no more candidates are fetched.
	enoughShare = .9
)

// Nearest returns up to limit facts by descending cosine similarity to v.
func (r *Reader) Nearest(ctx context.Context, v memory.Vector, limit int, exact bool) ([]recall.Near, error) {
	return vectorSearch{r: r, ctx: ctx, v: v, kind: schema.Facts(), limit: limit}.run(exact)
}

// NearestMessages returns up to limit messages by descending cosine similarity to v.
func (r *Reader) NearestMessages(ctx context.Context, v memory.Vector, limit int, exact bool) ([]recall.Near, error) {
	return vectorSearch{r: r, ctx: ctx, v: v, kind: schema.Messages(), limit: limit}.run(exact)
}

// vectorSearch is one search for the rows of a kind that are nearest to a vector.
type vectorSearch struct {
	r     *Reader
	ctx   context.Context
	v     memory.Vector
	kind  schema.Kind
	limit int
}

func (s vectorSearch) run(exact bool) ([]recall.Near, error) {
	if s.limit <= 0 || len(s.v) == 0 {
		return nil, nil
	}
	passed, err := s.r.passing(s.kind.Record)
	if err != nil {
		return nil, err
	}
	if passed.few {
		near, err := s.among(slices.Clone(passed.nos))
		return near[:min(len(near), s.limit)], err
	}
	if !exact {
		near, done, err := s.bySketches()
		if done || err != nil {
			return near, err
		}
	}
	return s.compare(nil, s.limit)
}

// compare returns the nearest of the rows that pass the filter, among those given by number (nil = all rows of the bank).
func (s vectorSearch) compare(nos []int64, limit int) ([]recall.Near, error) {
	rows := vectorRows{rec: s.kind.Record, number: "x." + s.kind.Vectors.Number, nos: nos}
	source, inBank := s.kind.Vectors.Table+" x", "x.bank = ?"
	if nos != nil {
		inBank = "+" + inBank
		source = "json_each(?) j CROSS JOIN " + source + " ON " + rows.number + " = j.value"
	}
	rows.args = []any{s.r.bank, sketch.PackedSize(len(s.v))}
	var where string
	if s.r.filter.Plain {
		where, rows.args = s.kind.Hidden(rows.number), append(rows.args, s.r.bank)
		rows.plain = true
		rows.passing, rows.passingArgs = "SELECT j.value FROM json_each(?) j WHERE TRUE"+s.kind.Hidden("j.value"), []any{s.r.bank}
	} else {
		passes := s.kind.Passes(s.r.filter.Filter)
		source += " CROSS JOIN " + s.kind.Rows() + " ON " + s.kind.No() + " = " + rows.number
		where, rows.args = " AND "+passes.SQL, append(rows.args, passes.Args...)
		rows.passing, rows.passingArgs = "SELECT "+s.kind.No()+" FROM "+s.kind.Among()+" WHERE "+passes.SQL, passes.Args
	}
	rows.from = "FROM " + source + " WHERE " + inBank + " AND length(x.vector) = ?" + where
	return s.r.near(s.ctx, s.v, rows, limit)
}

// bySketches searches among the candidates that sketches name. done is false when there are no sketches.
func (s vectorSearch) bySketches() (near []recall.Near, done bool, err error) {
	begun, err := s.scan()
	if err != nil || begun == nil {
		return nil, false, err
	}
	snap, bits, enough := begun.snap, begun.bits, begun.enough
	<-begun.done
	nos := slices.Clone(begun.nos)
	tried := len(nos)
	near, err = s.among(nos)
	share := float64(len(near)) / float64(max(1, tried))
	if err == nil && share < enoughShare && share >= minShare && tried < snap.Rows() {
		nos = snap.Nearest(bits, int(1.2*float64(enough)/share), workers(), nil)
		tried = len(nos)
		near, err = s.among(nos)
	}
	if err == nil && tried < snap.Rows() && (share < minShare || len(near) < s.limit) {
		near, err = s.amongPassing(func(pass func(int64) bool) []int64 { return snap.Nearest(bits, enough, workers(), pass) })
	}
	return near[:min(len(near), s.limit)], true, err
}

// among compares rows by number, all of them that pass the filter.
func (s vectorSearch) among(nos []int64) ([]recall.Near, error) {
	if len(nos) == 0 {
		return nil, nil
	}
	slices.Sort(nos) // in the order of the file pages are read one after the other
	return s.compare(nos, len(nos))
}

// amongPassing lists the rows that pass the filter first. Few are compared as they are; of many, those that best names.
func (s vectorSearch) amongPassing(best func(pass func(int64) bool) []int64) ([]recall.Near, error) {
	passes := s.kind.Passes(s.r.filter.Filter)
	find := "SELECT " + s.kind.No() + " FROM " + s.kind.Rows() + " WHERE " + s.kind.InBank() + " AND " + passes.SQL
	nos, err := s.r.tx.With(s.ctx).Numbers("list what passes the filter", find, append([]any{s.r.bank}, passes.Args...)...)
	if err != nil {
		return nil, err
	}
	if len(nos) > s.r.store.config.ListUpTo {
		slices.Sort(nos)
		nos = best(func(no int64) bool { _, in := slices.BinarySearch(nos, no); return in })
	}
	return s.among(nos)
}

// workers is how many goroutines scan sketches.
func workers() int { return min(4, runtime.GOMAXPROCS(0)) }

// Compare returns the cosine similarity of facts or messages to v, by number; those without a vector of its size are
// left out.
func (r *Reader) Compare(ctx context.Context, rec memory.Record, v memory.Vector, nos []int64) ([]recall.Near, error) {
	kind, _ := r.store.schema.Find(rec)
	table := kind.Vectors.Table
	if table == "" || len(nos) == 0 {
		return nil, nil
	}
	number := "x." + kind.Vectors.Number
	from := "FROM json_each(?) j CROSS JOIN " + table + " x ON " + number + " = j.value WHERE +x.bank = ? AND length(x.vector) = ?"
	rows := vectorRows{rec: rec, number: number, from: from, nos: nos, args: []any{r.bank, sketch.PackedSize(len(v))}}
	near, err := r.near(ctx, v, rows, len(nos))
	slices.SortFunc(near, func(a, b recall.Near) int { return cmp.Compare(a.No, b.No) })
	return near, err
}

// Dimension returns the size of the bank's vectors, 0 while there is none.
func (r *Reader) Dimension() (int, error) {
	const find = `SELECT coalesce((SELECT length(vector) FROM fact_vectors WHERE bank = ?1 LIMIT 1),
  (SELECT length(vector) FROM message_vectors WHERE bank = ?1 LIMIT 1), 0)`
	var n int
	err := r.tx.Get("read the size of vectors", find, []any{r.bank}, &n)
	return sketch.PackedDimension(n), err
}

// scan is one pass over the sketches of a kind. It needs no connection, so it runs while the search reads other things.
type scan struct {
	v      memory.Vector
	snap   *sketch.Snapshot
	bits   []uint64
	enough int

	nos  []int64 // valid once done is closed
	done chan struct{}
}

// Prefetch begins the scans that Nearest and NearestMessages will need.
func (r *Reader) Prefetch(v memory.Vector, facts, messages int) error {
	for rec, limit := range map[memory.Record]int{memory.RecordFact: facts, memory.RecordMessage: messages} {
		if limit <= 0 || len(v) == 0 {
			continue
		}
		p, err := r.passing(rec)
		if err != nil {
			return err
		}
		if p.few { // they are compared one by one
			continue
		}
		kind, _ := r.store.schema.Find(rec)
		begun, err := vectorSearch{r: r, v: v, kind: kind, limit: limit}.scan()
		if err != nil {
			return err
		}
		if begun == nil {
			continue
		}
		r.ahead[rec] = begun
	}
	return nil
}

// scan returns the scan that Prefetch began, or begins one; nil when there are no sketches.
func (s vectorSearch) scan() (*scan, error) {
	enough := max(minCandidates, candidatesPerResult*s.limit)
	if begun := s.r.ahead[s.kind.Record]; begun != nil && begun.enough == enough && slices.Equal(begun.v, s.v) {
		return begun, nil
	}
	snap, bits, err := s.snapshot()
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

// snapshot returns the bank's sketches and that of the vector; nil while there are none.
func (s vectorSearch) snapshot() (*sketch.Snapshot, []uint64, error) {
	n, err := s.r.Size(s.kind.Record)
	store := s.r.store
	if err != nil || n < store.config.SketchFrom {
		return nil, nil, err
	}
	coder, err := store.coder(s.r.tx)
	if err != nil || coder == nil || coder.Dimension() != len(s.v) {
		return nil, nil, err
	}
	k := store.sketched(sketchKey{s.r.bank, s.kind.Record}, *coder)
	if k == nil {
		return nil, nil, nil
	}
	snap, err := store.update(s.r.tx, k, s.r.firstChange, s.r.lastChange)
	if snap == nil || err != nil {
		return nil, nil, err
	}
	return snap, coder.Sketch(s.v), nil
}

// awaitScans waits for the scans that were begun and perhaps never used.
func (r *Reader) awaitScans() {
	for _, begun := range r.ahead {
		<-begun.done
	}
}
