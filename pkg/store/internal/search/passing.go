package search

import (
	"fmt"
	"strings"
	"sync"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/schema"
)

// lead is a query of row numbers that uses an index.
type lead struct {
	query string
	args  []any
}

// passing is the list of all rows that pass a filter, ascending. few is false, and the list empty, when they are many
// or no index leads to them.
type passing struct {
	nos []int64
	few bool
}

// passes caches the rows that pass the filter of a search. A goroutine that asks while they are being listed waits.
type passes struct{ facts, messages passList }

type passList struct {
	sync.Mutex
	known bool
	passing
}

// passing returns the rows that pass the reader's filter. It lists them once.
func (r *Reader) passing(rec memory.Record) (passing, error) {
	var list *passList
	switch rec {
	case memory.RecordFact:
		list = &r.passes.facts
	case memory.RecordMessage:
		list = &r.passes.messages
	default:
		return passing{}, nil
	}
	list.Lock()
	defer list.Unlock()
	if list.known {
		return list.passing, nil
	}
	kind, _ := r.store.schema.Find(rec)
	p, err := r.listPassing(kind, r.filter)
	list.passing, list.known = p, err == nil
	return p, err
}

// listAhead lists the rows that pass the filter where what is read together must not wait for a list that another one
// makes.
func (r *Reader) listAhead() error {
	if _, ok := r.tx.Engine().(engine.Sender); !ok || len(r.filter.leads[memory.RecordFact])+len(r.filter.leads[memory.RecordMessage]) == 0 {
		return nil
	}
	list := func(rec memory.Record) func(recall.Searcher, func() bool) error {
		return func(s recall.Searcher, _ func() bool) error {
			_, err := s.(*Reader).passing(rec)
			return err
		}
	}
	return r.Together(list(memory.RecordFact), list(memory.RecordMessage))
}

// listPassing lists the rows of a kind that pass a filter, if an index leads to them and they are few.
func (r *Reader) listPassing(kind schema.Kind, n filter) (passing, error) {
	leads, few := n.leads[kind.Record], r.store.config.ListUpTo
	if len(leads) == 0 || few == 0 {
		return passing{}, nil
	}
	nos, err := r.follow(leads, few+1)
	if err != nil || len(nos) > few {
		return passing{}, err
	}
	passes := kind.Passes(n.Filter)
	find := fmt.Sprintf("SELECT %[1]s FROM %[2]s WHERE %[3]s AND %[4]s ORDER BY %[1]s", kind.No(), kind.Among(), kind.InBank(), passes.SQL)
	nos, err = r.tx.Numbers("list what passes the filter", find, append([]any{engine.List(nos), r.bank}, passes.Args...)...)
	return passing{nos, true}, err
}

// follow returns the rows that the leads find, each once; limit of them or more when one lead finds so many.
func (r *Reader) follow(leads []lead, limit int) ([]int64, error) {
	var queries []string
	var args []any
	for _, l := range leads {
		queries = append(queries, "SELECT * FROM ("+l.query+" LIMIT ?)")
		args = append(append(args, l.args...), limit)
	}
	return r.tx.Numbers("list what may pass the filter", strings.Join(queries, " UNION "), args...)
}
