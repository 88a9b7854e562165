package search

import (
	"context"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// hiddenAtOnce is how many hidden rows are read within a search, which takes some milliseconds.
const hiddenAtOnce = 2000

// state is the state of a record's rows as the reader sees them.
func (r *Reader) state(rec memory.Record) rowsState {
	c := r.counts[rec]
	return rowsState{gone: c.gone, from: c.first, last: c.last, first: r.firstChange, change: r.lastChange}
}

// holds reports whether this process holds row numbers of the bank's record.
func (r *Reader) holds(rec memory.Record) bool {
	if _, far := r.tx.Engine().(engine.Distancer); !far || rec != memory.RecordFact && rec != memory.RecordMessage {
		return false
	}
	return r.counts[rec].n >= r.store.config.SketchFrom
}

// followRows brings what is held of the bank's rows to the reader's state.
func (r *Reader) followRows() error {
	var reads []func(recall.Searcher, func() bool) error
	var held []memory.Record
	for _, rec := range []memory.Record{memory.RecordFact, memory.RecordMessage} {
		if !r.holds(rec) {
			continue
		}
		lacks := r.store.rows.lacks(sketchKey{r.bank, rec}, r.state(rec))
		read := func(fn func(*Reader) error) {
			reads = append(reads, func(s recall.Searcher, _ func() bool) error { return fn(s.(*Reader)) })
		}
		switch {
		case lacks.hidden:
			read(func(r *Reader) error { return r.beginRows(rec, hiddenAtOnce) })
		case lacks.changes:
			read(func(r *Reader) error { return r.readChanges(rec, lacks.behind) })
		case lacks.came:
			read(func(r *Reader) error { return r.readCame(lacks.behind) })
		}
		if lacks.words {
			read(func(r *Reader) error { return r.readWords(rec, lacks.wordsBehind) })
		}
		held = append(held, rec)
	}
	r.indexLater(held)
	if len(reads) == 0 {
		return nil
	}
	return r.Together(reads...)
}

// beginRows reads which rows no search without a filter finds, and which messages such facts rest on. Where they are more than
// most, they are read apart from the search.
func (r *Reader) beginRows(rec memory.Record, most int) error {
	kind, _ := r.store.schema.Find(rec)
	hidden, err := r.tx.Numbers(fmt.Sprintf("list hidden %ss", rec), kind.AllHidden+" LIMIT ?", r.bank, most+1)
	switch {
	case err != nil:
		return err
	case len(hidden) > most && most < mostHeldHidden:
		r.store.beginLater(r.id, sketchKey{r.bank, rec})
		return nil
	}
	var resting []int64
	if rec == memory.RecordFact && len(hidden) <= most {
		if resting, err = r.resting(hidden); err != nil {
			return err
		}
	}
	r.store.rows.begin(sketchKey{r.bank, rec}, r.state(rec), hidden, resting)
	r.store.followGone()
	return nil
}

// beginLater begins to read the hidden rows of a bank's record.
func (s *Store) beginLater(id memory.BankID, key sketchKey) {
	end, ok := s.rows.beginLater(key)
	if !ok {
		return
	}
	s.database.Go(func(ctx context.Context) {
		defer end()
		err := s.readBank(ctx, id, func(r *Reader) error { return r.beginRows(key.record, mostHeldHidden) })
		if ctx.Err() == nil {
			s.database.Warn(err, "reading hidden rows failed; searches ask the database until it works")
		}
	})
}

// resting returns the messages that facts rest on.
func (r *Reader) resting(facts []int64) ([]int64, error) {
	if len(facts) == 0 {
		return nil, nil
	}
	const find = `SELECT DISTINCT s.seq FROM json_each(?) j CROSS JOIN fact_sources s ON s.fact = j.value`
	return r.tx.Numbers("list what hidden facts rest on", find, engine.List(facts))
}

// readChanges reads which rows are listed as changed behind a change.
func (r *Reader) readChanges(rec memory.Record, behind int64) error {
	kind, _ := r.store.schema.Find(rec)
	find := `SELECT c.no, c.seq, CASE WHEN TRUE` + kind.Hidden("c.no") + ` THEN 0 ELSE 1 END
FROM (SELECT no, max(seq) AS seq FROM vector_changes WHERE seq > ? AND bank = ? AND record = ? GROUP BY no) c`
	var changes []changedRow
	var hidden []int64
	err := r.tx.Batch(fmt.Sprintf("read changes of %ss", rec), 3, find, []any{r.bank, behind, r.bank, string(rec)}, func(row *engine.Rowset) error {
		c := changedRow{no: row.Int(), change: row.Int(), hidden: row.Bool()}
		if changes = append(changes, c); c.hidden {
			hidden = append(hidden, c.no)
		}
		return nil
	})
	if err != nil {
		return err
	}
	resting, err := r.resting(hidden)
	if err != nil {
		return err
	}
	r.store.rows.follow(sketchKey{r.bank, rec}, r.state(rec), behind, changes, resting)
	return nil
}

// readCame reads the messages that came behind one.
func (r *Reader) readCame(behind int64) error {
	const find = `SELECT session, seq FROM messages WHERE bank = ? AND seq > ? ORDER BY seq LIMIT ?`
	var came []placed
	err := r.tx.Batch("read the sessions of new messages", 2, find, []any{r.bank, behind, mostCame + 1}, func(row *engine.Rowset) error {
		came = append(came, placed{memory.SessionID(row.Text()), row.Int()})
		return nil
	})
	if err == nil {
		r.store.rows.messagesCame(sketchKey{r.bank, memory.RecordMessage}, r.state(memory.RecordMessage), behind, came)
	}
	return err
}

// readSessions reads some sessions that are not held.
func (r *Reader) readSessions(sessions []memory.SessionID) error {
	const find = `SELECT seq FROM messages WHERE bank = ? AND session = ? ORDER BY seq LIMIT ?`
	rows, key, state := r.store.rows, sketchKey{r.bank, memory.RecordMessage}, r.state(memory.RecordMessage)
	var reads []func(*engine.Tx) error
	for _, session := range rows.unknownSessions(key, state, sessions) {
		reads = append(reads, func(tx *engine.Tx) error {
			nos, err := tx.Numbers("read a session", find, r.bank, string(session), mostOfSession+1)
			if err == nil {
				rows.holdSession(key, state, session, nos)
			}
			return err
		})
	}
	return r.tx.Together(reads...)
}
