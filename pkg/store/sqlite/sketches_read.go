package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/sketch"
)

// followEvery is how often sketches are brought up to date where nobody
// searches, so that a search finds little to catch up with.
const followEvery = 500 * time.Millisecond

// makeSketches reads all vectors of a bank's record and sketches them.
func (db *DB) makeSketches(ctx context.Context, k *sketched) error {
	t := vectorTables[k.key.record]
	// By row number, for neighbours in the file are read together; a bank that
	// holds little of the table is found by the index.
	find := fmt.Sprintf(`SELECT %[2]s, vector FROM %[1]s WHERE bank = ? ORDER BY %[2]s`, t.table, t.number)
	began := time.Now()
	err := db.read(ctx, func(tx *sql.Tx) error {
		index := sketch.NewIndex(k.coder)
		edit := index.Edit()
		_, upto, err := changesKept(ctx, tx)
		if err != nil {
			return err
		}
		var no int64
		var raw sql.RawBytes
		bits := make([]uint64, k.coder.Words())
		err = eachRow(context.WithoutCancel(ctx), tx, "sketch vectors", find, []any{k.key.bank}, func(rows *sql.Rows) error {
			if err := rows.Scan(&no, &raw); err != nil {
				return err
			}
			if k.coder.SketchPacked(raw, bits) {
				edit.Put(no, bits)
			}
			return ctx.Err()
		})
		if err != nil {
			return err
		}
		edit.Commit()
		k.mu.Lock()
		defer k.mu.Unlock()
		k.index, k.upto = index, upto
		return nil
	})
	if err != nil {
		db.dropSketches(k)
		return err
	}
	db.log.Info().Str("stage", "store").Str("record", string(k.key.record)).Int("rows", k.snapshot().Rows()).Dur("took", time.Since(began)).
		Msg("vectors of a large bank are sketched")
	return nil
}

// changesKept gives the first and the last vector change that the file keeps; 0
// and 0 while there are none.
func changesKept(ctx context.Context, tx *sql.Tx) (first, last int64, err error) {
	const find = `SELECT coalesce((SELECT min(seq) FROM vector_changes), 0), coalesce((SELECT max(seq) FROM vector_changes), 0)`
	if err := tx.QueryRowContext(ctx, find).Scan(&first, &last); err != nil {
		return 0, 0, fmt.Errorf("look for vector changes: %w", err)
	}
	return first, last, nil
}

// current gives the sketches as the transaction sees the vectors, or as a later
// commit left them; nil while they are made. What a search finds by them is
// looked up in its transaction, so that nothing of a later commit shows.
func (db *DB) current(ctx context.Context, tx *sql.Tx, k *sketched) (*sketch.Snapshot, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.index == nil {
		return nil, nil
	}
	first, last, err := changesKept(ctx, tx)
	if err != nil || last <= k.upto {
		return k.index.Snapshot(), err
	}
	if first > k.upto+1 { // too far behind
		k.index = nil
		db.background(func(ctx context.Context) error { return db.makeSketches(ctx, k) })
		return nil, nil
	}
	t := vectorTables[k.key.record]
	find := fmt.Sprintf(`SELECT c.no, v.vector FROM (SELECT DISTINCT no FROM vector_changes WHERE seq > ? AND bank = ? AND record = ?) c
LEFT JOIN %s v ON v.%s = c.no AND v.bank = ? ORDER BY c.no`, t.table, t.number)
	edit := k.index.Edit()
	bits := make([]uint64, k.coder.Words())
	err = eachRow(ctx, tx, "read vector changes", find, []any{k.upto, k.key.bank, string(k.key.record), k.key.bank}, func(rows *sql.Rows) error {
		var no int64
		var raw sql.RawBytes
		if err := rows.Scan(&no, &raw); err != nil {
			return err
		}
		if k.coder.SketchPacked(raw, bits) {
			edit.Put(no, bits)
		} else {
			edit.Remove(no)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	edit.Commit()
	k.upto = last
	return k.index.Snapshot(), nil
}

// followVectors brings all sketches up to date now and then, and the erased out
// of the memory of a process in which nobody searches.
func (db *DB) followVectors(ctx context.Context) error {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		db.sketches.mu.Lock()
		held := make([]*sketched, 0, len(db.sketches.of))
		for _, k := range db.sketches.of {
			held = append(held, k)
		}
		db.sketches.mu.Unlock()
		err := db.read(ctx, func(tx *sql.Tx) error {
			for _, k := range held {
				if _, err := db.current(ctx, tx, k); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil && ctx.Err() == nil {
			db.warn(err, "following vectors failed; it is tried again")
		}
	}
}

// centre is what meta says of the sketches in every process: the middle of the
// first vectors.
type centre struct {
	Embedder string        `json:"embedder"`
	Vector   memory.Vector `json:"vector"`
}

const centreKey = "centre"

// coderOf gives what sketches the file's vectors; nil while it has too few.
func (db *DB) coderOf(ctx context.Context, tx *sql.Tx) (*sketch.Coder, error) {
	db.sketches.mu.Lock()
	known := db.sketches.coder
	db.sketches.mu.Unlock()
	if known != nil {
		return known, nil
	}
	var raw []byte
	err := tx.QueryRowContext(ctx, `SELECT value FROM meta WHERE key = ?`, centreKey).Scan(&raw)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	var c centre
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	if err != nil {
		return nil, fmt.Errorf("read the centre of the vectors: %w", err)
	}
	coder := sketch.NewCoder(c.Vector)
	db.sketches.mu.Lock()
	db.sketches.coder = &coder
	db.sketches.mu.Unlock()
	return &coder, nil
}
