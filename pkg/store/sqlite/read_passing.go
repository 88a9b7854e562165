package sqlite

import (
	"fmt"
	"strings"
	"sync"

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

// passes keeps what passes a filter once it is listed. Who asks while it is
// being listed waits for it.
type passes struct{ facts, messages passList }

type passList struct {
	sync.Mutex
	known bool
	passed
}

// passing is what passes the reader's filter. It is read once.
func (r *reader) passing(rec memory.Record) (passed, error) {
	var list *passList
	switch rec {
	case memory.RecordFact:
		list = &r.passes.facts
	case memory.RecordMessage:
		list = &r.passes.messages
	default:
		return passed{}, nil
	}
	list.Lock()
	defer list.Unlock()
	if list.known {
		return list.passed, nil
	}
	p, err := r.listed(rec, r.filter)
	list.passed, list.known = p, err == nil
	return p, err
}

// listed gives all rows of a record that pass a filter, if an index leads to
// them and they are few.
func (r *reader) listed(rec memory.Record, n narrowing) (passed, error) {
	leads, where, args := n.factLeads, n.facts, n.factArgs
	if rec == memory.RecordMessage {
		leads, where, args = n.messageLeads, n.messages, n.messageArgs
	}
	few := r.db.config.Listed
	if rec != memory.RecordFact && rec != memory.RecordMessage || len(leads) == 0 || few == 0 {
		return passed{}, nil
	}
	nos, err := r.led(leads, few+1)
	if err != nil || len(nos) > few {
		return passed{}, err
	}
	nos, err = r.numbers("list what passes the filter", fmt.Sprintf("SELECT %[1]s FROM %[2]s WHERE %[3]s AND %[4]s ORDER BY %[1]s",
		tables[rec].number, tables[rec].among(), tables[rec].inBank(), where), append([]any{jsonList(nos), r.bank}, args...)...)
	return passed{nos, true}, err
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
