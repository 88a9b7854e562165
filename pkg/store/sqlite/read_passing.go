package sqlite

import (
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// lead is a query of row numbers that finds them by an index.
type lead struct {
	query string
	args  []any
}

// passed are all rows that pass the filter, ascending; few is false where they
// are many, or no index leads to them.
type passed struct {
	nos []int64
	few bool
}

// passing gives all rows of a record that pass the filter, if an index leads to
// them and they are few. It reads them once.
func (r *reader) passing(rec memory.Record) (passed, error) {
	leads, find, args := r.filter.factLeads, "SELECT f.no FROM json_each(?) j CROSS JOIN facts f ON f.no = j.value WHERE f.bank = ? AND "+r.filter.facts+" ORDER BY f.no", r.filter.factArgs
	if rec == memory.RecordMessage {
		leads, find, args = r.filter.messageLeads, "SELECT m.seq FROM json_each(?) j CROSS JOIN messages m ON m.seq = j.value WHERE m.bank = ? AND "+r.filter.messages+" ORDER BY m.seq", r.filter.messageArgs
	}
	few := r.db.config.Listed
	if rec != memory.RecordFact && rec != memory.RecordMessage || len(leads) == 0 || few == 0 {
		return passed{}, nil
	}
	if p, known := r.passes[rec]; known {
		return p, nil
	}
	var p passed
	nos, err := r.led(leads, few+1)
	if err == nil && len(nos) <= few {
		p.few = true
		p.nos, err = r.numbers("list what passes the filter", find, append([]any{jsonList(nos), r.bank}, args...)...)
	}
	if r.passes == nil {
		r.passes = map[memory.Record]passed{}
	}
	r.passes[rec] = p
	return p, err
}

// led gives what leads lead to, each number once; limit numbers or more where
// one of them leads to so many.
func (r *reader) led(leads []lead, limit int) ([]int64, error) {
	var queries []string
	var args []any
	for _, l := range leads {
		queries = append(queries, "SELECT * FROM ("+l.query+" LIMIT ?)")
		args = append(append(args, l.args...), limit)
	}
	return r.numbers("list what may pass the filter", strings.Join(queries, " UNION "), args...)
}
