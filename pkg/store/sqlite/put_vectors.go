package sqlite

import (
	"database/sql"
	"fmt"
	"strconv"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/sketch"
)

// putFactVector stores the vector of a fact; nil keeps the stored one. A new
// fact without one waits for it.
func (a *applier) putFactVector(bank, fact int64, stored bool, v memory.Vector) error {
	switch {
	case v == nil && stored:
		return nil
	case v == nil:
		return a.exec("queue for a vector", `INSERT INTO unembedded (fact) VALUES (?)`, fact)
	case stored:
		waited, err := changed(a.tx.ExecContext(a.ctx, `DELETE FROM unembedded WHERE fact = ?`, fact))
		if err != nil {
			return fmt.Errorf("take off the queue for vectors: %w", err)
		}
		if !waited { // composites may have the vector from it
			a.memo.forget()
		}
	}
	const put = `INSERT INTO fact_vectors (bank, fact, vector) VALUES (?, ?, ?) ON CONFLICT (fact) DO UPDATE SET vector = excluded.vector`
	return a.exec("store vector", put, bank, fact, sketch.Pack(v))
}

// putMessageVector stores the vector of a message. One that has a vector keeps
// it; a message that is not there, or is another bank's, gets none.
func (a *applier) putMessageVector(bank int64, v memory.LateVector) error {
	const put = `INSERT INTO message_vectors (message, bank, vector) SELECT m.seq, m.bank, ?3 FROM messages m WHERE m.seq = ?1 AND m.bank = ?2
ON CONFLICT (message) DO NOTHING`
	return a.exec("store the vector of a message", put, int64(v.Seq), bank, sketch.Pack(v.Vector))
}

// keepVectorEvents notes which records' vectors a write holds beside its facts.
func (a *applier) keepVectorEvents(bank int64, w memory.Write) error {
	const keep = `INSERT INTO vector_events (bank, id, write) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`
	for _, v := range w.Vectors {
		id := v.ID
		if v.Record != memory.RecordFact {
			id = strconv.FormatUint(v.Seq, 10)
		}
		if err := a.exec("note a late vector", keep, bank, text(id), int64(w.Seq)); err != nil {
			return err
		}
	}
	return nil
}

// vectorsHolding gives the writes that hold late vectors of what is forgotten,
// rising, and lets go of the notes about them: what is left of such a write is
// appended anew, and noted again.
func (a *applier) vectorsHolding(bank int64, f *memory.Forgotten) ([]holding, error) {
	const find = `SELECT DISTINCT write FROM vector_events WHERE bank = ?1
AND id IN (SELECT value FROM json_each(?2) UNION SELECT CAST(value AS TEXT) FROM json_each(?3)) ORDER BY write`
	var out []holding
	err := a.rows("find the writes that hold its vectors", find, []any{bank, jsonList(f.Facts), jsonList(f.Messages)}, func(rows *sql.Rows) error {
		h := holding{vectors: true}
		err := rows.Scan(&h.write)
		out = append(out, h)
		return err
	})
	if err != nil || len(out) == 0 {
		return nil, err
	}
	for i := range out {
		const others = `SELECT EXISTS (SELECT 1 FROM vector_events WHERE write = ?1 AND bank = ?2
AND id NOT IN (SELECT value FROM json_each(?3) UNION SELECT CAST(value AS TEXT) FROM json_each(?4)))`
		if err := a.tx.QueryRowContext(a.ctx, others, int64(out[i].write), bank, jsonList(f.Facts), jsonList(f.Messages)).Scan(&out[i].rest); err != nil {
			return nil, err
		}
		if err := a.exec("let go of late vectors", `DELETE FROM vector_events WHERE write = ?`, int64(out[i].write)); err != nil {
			return nil, err
		}
	}
	return out, nil
}
