package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// leaving is a change as it stands in the outbox.
type leaving struct {
	memory.Change
	Trace string `json:"trace,omitempty"`
}

// Outbox gives up to limit changes that were committed and not marked sent, oldest first.
func (db *DB) Outbox(ctx context.Context, limit int) ([]consolidate.OutboxEntry, error) {
	const find = `SELECT no, bank, what, body FROM outbox ORDER BY no LIMIT ?`
	var out []consolidate.OutboxEntry
	err := db.read(ctx, func(tx *sql.Tx) error {
		return eachRow(ctx, tx, "read the outbox", find, []any{limit}, func(rows *sql.Rows) error {
			var e consolidate.OutboxEntry
			var what string
			var body []byte
			if err := rows.Scan(&e.No, &e.Bank, &what, &body); err != nil {
				return err
			}
			var l leaving
			err := json.Unmarshal(body, &l)
			e.Change, e.Trace = l.Change, l.Trace
			e.Change.What = what
			out = append(out, e)
			return err
		})
	})
	return out, err
}

// Sent removes outbox entries up to and with number upto.
func (db *DB) Sent(ctx context.Context, upto int64) error {
	return db.removeUpto(ctx, "outbox", upto)
}

// Erasures gives up to limit stream events that a forget still has to erase, oldest first.
func (db *DB) Erasures(ctx context.Context, limit int) ([]consolidate.Erasure, error) {
	const find = `SELECT no, bank, stream, seq, op, whole FROM erasures ORDER BY no LIMIT ?`
	var out []consolidate.Erasure
	err := db.read(ctx, func(tx *sql.Tx) error {
		return eachRow(ctx, tx, "read the erasures", find, []any{limit}, func(rows *sql.Rows) error {
			var e consolidate.Erasure
			err := rows.Scan(&e.No, &e.Bank, &e.Stream, &e.Seq, &e.Op, &e.Whole)
			out = append(out, e)
			return err
		})
	})
	return out, err
}

// Erased removes erasures up to and with number upto.
func (db *DB) Erased(ctx context.Context, upto int64) error {
	return db.removeUpto(ctx, "erasures", upto)
}

func (db *DB) removeUpto(ctx context.Context, table string, upto int64) error {
	err := db.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM `+table+` WHERE no <= ?`, upto)
		return err
	})
	if err != nil {
		return fmt.Errorf("remove %s up to %d: %w", table, upto, err)
	}
	return nil
}
