package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// The two kept streams as the store names them, whatever prefix the broker's
// own names carry. They stand in the table applied, in erasures, and in the
// hash of a change's id.
const (
	StreamMessages = "MEM_MESSAGES"
	StreamWrites   = "MEM_WRITES"
	// StreamDead stands in erasures alone, where Seq is the MEM_MESSAGES
	// sequence that the dead letter is about.
	StreamDead = "MEM_DEAD"
)

// Applied gives the last applied sequence of MEM_MESSAGES and MEM_WRITES.
func (db *DB) Applied(ctx context.Context) (messages, writes uint64, err error) {
	err = db.read(ctx, func(tx *sql.Tx) error {
		messages, writes, err = appliedIn(ctx, tx)
		return err
	})
	return messages, writes, err
}

func appliedIn(ctx context.Context, tx *sql.Tx) (messages, writes uint64, err error) {
	const find = `SELECT (SELECT seq FROM applied WHERE stream = ? AND part = 0), (SELECT seq FROM applied WHERE stream = ? AND part = 0)`
	if err := tx.QueryRowContext(ctx, find, StreamMessages, StreamWrites).Scan(&messages, &writes); err != nil {
		return 0, 0, fmt.Errorf("read the applied sequences: %w", err)
	}
	return messages, writes, nil
}

// advance is the fence: it moves the position of a stream from after to last,
// or finds that another owner moved it.
func advance(ctx context.Context, tx *sql.Tx, stream string, after, last uint64) error {
	const move = `UPDATE applied SET seq = ? WHERE stream = ? AND part = 0 AND seq = ?`
	if last < after {
		return fmt.Errorf("apply %s from %d to %d: the end lies before the start: %w", stream, after, last, memory.ErrInvalid)
	}
	moved, err := changed(tx.ExecContext(ctx, move, int64(last), stream, int64(after)))
	if err != nil {
		return fmt.Errorf("advance %s to %d: %w", stream, last, err)
	}
	if !moved {
		return fmt.Errorf("advance %s from %d to %d: the store stands elsewhere, another consolidator was here: %w",
			stream, after, last, memory.ErrConflict)
	}
	return nil
}

// inRun checks that sequences rise and lie within (after, last].
func inRun(stream string, prev, seq, last uint64) error {
	if seq <= prev || seq > last {
		return fmt.Errorf("apply %s: event %d is out of order between %d and %d: %w", stream, seq, prev, last, memory.ErrInvalid)
	}
	return nil
}

// changed reports whether a statement touched a row.
func changed(r sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := r.RowsAffected()
	return n > 0, err
}
