package sqlite

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/store/sketch"
)

const (
	// candidates are compared exactly for every search by sketches, and
	// candidatesEach for each place that is asked for, whichever is more. With 400
	// the ten nearest of a million are found to 99.5 % and more.
	candidates     = 400
	candidatesEach = 4
	// passing is which share of the candidates must pass the filter at least for
	// more of them to be looked at; where fewer do, what passes is listed first.
	passing = .05
)

// Nearest gives up to limit facts by descending cosine similarity to v.
func (r *reader) Nearest(ctx context.Context, v memory.Vector, limit int, exact bool) ([]query.Near, error) {
	s := vectorSearch{r: r, ctx: ctx, v: v, record: memory.RecordFact, limit: limit, plain: noneEnded("x.rowid"),
		join: " CROSS JOIN facts f ON f.no = x.fact", filter: r.filter.facts, args: r.filter.factArgs, rows: "SELECT f.no FROM facts f WHERE f.bank = ? AND "}
	return s.run(exact)
}

// NearestMessages gives up to limit messages by descending cosine similarity to v.
func (r *reader) NearestMessages(ctx context.Context, v memory.Vector, limit int, exact bool) ([]query.Near, error) {
	s := vectorSearch{r: r, ctx: ctx, v: v, record: memory.RecordMessage, limit: limit, plain: noneReplaced("x.rowid"),
		join: " CROSS JOIN messages m ON m.seq = x.message", filter: r.filter.messages, args: r.filter.messageArgs, rows: "SELECT m.seq FROM messages m WHERE m.bank = ? AND "}
	return s.run(exact)
}

// vectorSearch is one search for the rows of a record that are nearest to a vector.
type vectorSearch struct {
	r      *reader
	ctx    context.Context
	v      memory.Vector
	record memory.Record
	limit  int

	plain        string // condition of the default filter, by the number alone; takes the bank
	join, filter string // any other filter, and what it needs beside the vector
	args         []any
	rows         string // begins a query of the rows that pass
}

func (s vectorSearch) run(exact bool) ([]query.Near, error) {
	if s.limit <= 0 || len(s.v) == 0 {
		return nil, nil
	}
	passed, err := s.r.passing(s.record)
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
	return s.compare("", nil, s.limit)
}

// compare gives the nearest of the rows that pass the filter, among those given
// by number as JSON in list (nil = all rows of the bank).
func (s vectorSearch) compare(from string, list any, limit int) ([]query.Near, error) {
	t := vectorTables[s.record]
	where, args := s.plain, []any{s.v.Bytes(), s.r.bank, sketch.PackedSize(len(s.v)), s.r.bank}
	join := ""
	if !s.r.filter.plain {
		join, where, args = s.join, " AND "+s.filter, append(args[:3:3], s.args...)
	}
	source := t.table + " x"
	if list != nil {
		source = from + " CROSS JOIN " + t.table + " x ON x.rowid = j.value"
		args = slices.Insert(args, 1, list)
	}
	find := "SELECT x.rowid, vec_distance_l2(unpacked(x.vector), ?) AS d FROM " + source + join +
		" WHERE x.bank = ? AND length(x.vector) = ?" + where + " ORDER BY d, x.rowid LIMIT ?"
	return s.r.near(s.ctx, "compare "+string(s.record)+" vectors", find, append(args, limit))
}

// bySketches looks where sketches point to. done is false when there are none.
func (s vectorSearch) bySketches() (near []query.Near, done bool, err error) {
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
	if err == nil && share < .9 && share >= passing && tried < snap.Rows() {
		nos = snap.Nearest(bits, int(1.2*float64(enough)/share), workers(), nil)
		tried = len(nos)
		near, err = s.among(nos)
	}
	if err == nil && tried < snap.Rows() && (share < passing || len(near) < s.limit) {
		near, err = s.amongPassing(func(pass func(int64) bool) []int64 { return snap.Nearest(bits, enough, workers(), pass) })
	}
	return near[:min(len(near), s.limit)], true, err
}

// sketches gives the bank's sketches and that of the vector; nil while there are none.
func (s vectorSearch) sketches() (*sketch.Snapshot, []uint64, error) {
	n, err := s.r.Size(s.record)
	if err != nil || n < s.r.db.config.Sketched {
		return nil, nil, err
	}
	coder, err := s.r.db.coderOf(s.r.ctx, s.r.tx)
	if err != nil || coder == nil || coder.Dimension() != len(s.v) {
		return nil, nil, err
	}
	k := s.r.db.sketchedOf(sketchKey{s.r.bank, s.record}, *coder)
	if k == nil {
		return nil, nil, nil
	}
	snap, err := s.r.db.current(s.r.ctx, s.r.tx, k)
	if snap == nil || err != nil {
		return nil, nil, err
	}
	return snap, coder.Sketch(s.v), nil
}

// among compares rows by number, all of them that pass the filter.
func (s vectorSearch) among(nos []int64) ([]query.Near, error) {
	if len(nos) == 0 {
		return nil, nil
	}
	// In the order of the file the pages are read one after the other.
	slices.Sort(nos)
	return s.compare("json_each(?) j", jsonList(nos), len(nos))
}

// amongPassing lists what passes the filter first. Few rows are compared as they
// are; of many, those that best names.
func (s vectorSearch) amongPassing(best func(pass func(int64) bool) []int64) ([]query.Near, error) {
	var nos []int64
	args := append([]any{s.r.bank}, s.args...)
	err := s.r.eachNumber(s.ctx, "list what passes the filter", s.rows+s.filter, args, func(no int64) { nos = append(nos, no) })
	if err != nil {
		return nil, err
	}
	if len(nos) > s.r.db.config.Listed {
		slices.Sort(nos)
		nos = best(func(no int64) bool { _, in := slices.BinarySearch(nos, no); return in })
	}
	return s.among(nos)
}

// workers is how many goroutines look through sketches.
func workers() int { return min(4, runtime.GOMAXPROCS(0)) }

// eachNumber runs a query of one number a row, and ends early with ctx's error.
func (r *reader) eachNumber(ctx context.Context, what, find string, args []any, fn func(int64)) error {
	rows, err := r.tx.QueryContext(ctx, find, args...)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	defer rows.Close()
	for rows.Next() {
		var no int64
		if err := rows.Scan(&no); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		fn(no)
	}
	return rows.Err()
}
