package search

import (
	"fmt"
	"slices"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/schema"
)

// Matching returns the numbers of rows whose text contains the term, the latest first, and how many there are in all:
// counted below limit, estimated from there on.
func (r *Reader) Matching(rec memory.Record, t recall.Term, limit int) ([]int64, int, error) {
	kind, q, err := r.wordQuery(rec, t, limit)
	if err != nil || q.Limit == 0 {
		return nil, 0, err
	}
	passed, err := r.passing(rec)
	if err != nil || passed.few && len(passed.nos) == 0 {
		return nil, 0, err
	}
	switch {
	case kind.Hidden == nil: // filtered when the rows are read
	case r.filter.Plain:
		q.Where, q.Args = kind.Hidden("x.rowid"), []any{r.bank}
	default:
		passes := kind.Passes(r.filter.Filter)
		q.From, q.Where, q.Args = " CROSS JOIN "+kind.Rows()+" ON "+kind.No()+" = x.rowid", " AND "+passes.SQL, slices.Clone(passes.Args)
	}
	if n := len(passed.nos); n > 0 { // rows that pass are often close together
		q.Where, q.Args = q.Where+" AND x.rowid BETWEEN ? AND ?", append(q.Args, passed.nos[0], passed.nos[n-1])
	}
	search := r.latest
	if !r.filter.Plain || kind.Hidden == nil {
		search = r.words
	}
	nos, err := search(kind, q)
	if err != nil || len(nos) < limit {
		return nos, len(nos), err
	}
	return nos, r.counts[rec].estimate(nos), nil
}

// Known reports whether a message or a fact of the bank has the term, whatever the filter excludes. Under a filter, which may
// name a time, so has what ended since.
func (r *Reader) Known(t recall.Term) (bool, error) {
	for _, rec := range []memory.Record{memory.RecordMessage, memory.RecordFact} {
		kind, q, err := r.wordQuery(rec, t, 1)
		if err != nil {
			return false, err
		}
		if q.Limit == 0 {
			continue
		}
		search := r.words
		if r.filter.Plain {
			search, q.Where, q.Args = r.latest, kind.Hidden("x.rowid"), []any{r.bank}
		}
		if nos, err := search(kind, q); err != nil || len(nos) > 0 {
			return err == nil, err
		}
	}
	return false, nil
}

// wordQuery returns the search for the rows of a record that have a term, without a filter, and the record's kind; the
// limit of the search is 0 where there is nothing to find.
func (r *Reader) wordQuery(rec memory.Record, t recall.Term, limit int) (kind schema.Kind, q engine.WordQuery, err error) {
	kind, known := r.store.schema.Find(rec)
	rows := r.counts[rec]
	if !known || limit <= 0 || len(kind.Indexed) == 0 || rows.n == 0 {
		return kind, q, nil
	}
	if t.Prefix == "" && !t.Grams {
		if t.Forms, err = r.present(kind, t.Forms); err != nil || len(t.Forms) == 0 {
			return kind, q, err
		}
	}
	return kind, engine.WordQuery{Bank: r.bank, Alone: rows.alone, First: rows.first, Last: rows.last,
		Forms: t.Forms, Prefix: t.Prefix, Grams: t.Grams, Limit: limit}, nil
}

// estimate returns about how many rows there are, given the latest of them: as many in every range of row numbers as
// in the range that these fill.
func (c counted) estimate(latest []int64) int {
	share := float64(c.last-latest[len(latest)-1]+1) / float64(c.last-c.first+1)
	return max(len(latest), min(c.n, int(float64(len(latest))/share)))
}

// Size returns how many rows of the record the bank has.
func (r *Reader) Size(rec memory.Record) (n int, err error) { return r.counts[rec].n, nil }

// manyStates is how many states of one subject are found faster among the latest facts than by the subject.
const manyStates = 2000

// States returns facts that give a subject a state, the latest said first.
func (r *Reader) States(subject memory.EntityID, limit int) ([]recall.StateRow, error) {
	var states int
	if err := r.tx.Get("count states", countStates, []any{r.bank, string(subject), manyStates}, &states); err != nil || states == 0 {
		return nil, err
	}
	args := append(append([]any{r.bank, string(subject)}, r.filter.Facts.Args...), limit)
	var out []recall.StateRow
	err := r.tx.Batch("find facts by subject", 2, findStates(states, r.filter.Facts.SQL), args, func(row *engine.Rowset) error {
		out = append(out, recall.StateRow{Fact: row.Int(), Attribute: row.Text()})
		return nil
	})
	return out, err
}

// countStates counts the states of a subject, up to a limit.
const countStates = `SELECT count(*) FROM (SELECT 1 FROM facts f INDEXED BY facts_state WHERE f.bank = ? AND f.subject = ? LIMIT ?)`

// findStates returns the statement that finds the states of a subject with so many of them. Left alone, SQLite reads the
// latest facts, which is all facts of the bank for a subject with few.
func findStates(states int, filter string) string {
	index := "facts_state"
	if states >= manyStates {
		index = "facts_said"
	}
	return `SELECT f.no, f.attribute FROM facts f INDEXED BY ` + index + ` WHERE f.bank = ? AND f.subject = ? AND f.value NOT LIKE 'not %' AND ` +
		filter + ` ORDER BY f.said DESC, f.no LIMIT ?`
}

// Within returns up to limit facts or messages said or happened in [from, to], the latest first.
func (r *Reader) Within(rec memory.Record, from, to time.Time, limit int) ([]int64, error) {
	lo, hi := bounds(&from, &to)
	facts, messages := r.filter.Facts, r.filter.Messages
	switch rec {
	case memory.RecordMessage:
		find := `SELECT m.seq FROM messages m WHERE m.bank = ? AND m.time BETWEEN ? AND ? AND ` + messages.SQL + ` ORDER BY m.time DESC, m.seq DESC LIMIT ?`
		return r.tx.Numbers("find messages by time", find, append(append([]any{r.bank, lo, hi}, messages.Args...), limit)...)
	case memory.RecordFact:
		// The latest of both are among the latest of each. An index returns the latest said, however long the time is.
		latest := facts.SQL + " ORDER BY f.said DESC, f.no LIMIT ?"
		args := append(append([]any{r.bank, lo, hi}, facts.Args...), limit, r.bank, hi, lo)
		args = append(append(args, facts.Args...), limit, limit)
		return r.tx.Numbers("find facts by time", `SELECT no FROM (
  SELECT * FROM (SELECT f.no, f.said FROM facts f WHERE f.bank = ? AND f.said BETWEEN ? AND ? AND `+latest+`)
  UNION SELECT * FROM (SELECT f.no, f.said FROM facts f INDEXED BY facts_occurred WHERE f.bank = ? AND f.occurred_from IS NOT NULL AND f.occurred_from <= ?
    AND coalesce(f.occurred_to, f.occurred_from) >= ? AND `+latest+`)
) ORDER BY said DESC, no LIMIT ?`, args...)
	}
	return nil, nil
}

// Recent returns up to limit facts or messages, the latest said first.
func (r *Reader) Recent(rec memory.Record, limit int) ([]int64, error) {
	order := "m.time DESC, m.seq DESC"
	switch rec {
	case memory.RecordMessage:
	case memory.RecordFact:
		order = "f.said DESC, f.no"
	default:
		return nil, nil
	}
	p, err := r.passing(rec)
	if err != nil {
		return nil, err
	}
	kind, _ := r.store.schema.Find(rec)
	passes := kind.Passes(r.filter.Filter)
	source, where, args := kind.Rows(), passes.SQL, append([]any{r.bank}, passes.Args...)
	if p.few {
		source, where, args = kind.Among(), "TRUE", []any{engine.List(p.nos), r.bank}
	}
	return r.tx.Numbers("list recent "+string(rec)+"s", fmt.Sprintf("SELECT %s FROM %s WHERE %s AND %s ORDER BY %s LIMIT ?",
		kind.No(), source, kind.InBank(), where, order), append(args, limit)...)
}
