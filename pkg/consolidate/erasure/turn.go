package erasure

import (
	"context"
	"errors"
	"math"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// inTurn calls f while events may be erased.
func (e *Eraser) inTurn(ctx context.Context, f func() error) error {
	if e.deps.Turn == nil {
		return f()
	}
	done, err := e.deps.Turn(ctx)
	if err != nil {
		return err
	}
	defer done()
	return f()
}

// DropDone removes the erasures whose events are gone from the log. An event that the broker cannot read is not gone.
func DropDone(ctx context.Context, conn *events.Conn, store Store) error {
	var after memory.BankID
	for {
		list, err := store.Erasures(ctx, after, math.MaxInt32)
		if err != nil || len(list) == 0 {
			return err
		}
		after = list[0].Bank
		var done []int64
		for _, entry := range list {
			stream := streamOf(conn.Naming, entry)
			_, err := conn.EventAt(ctx, stream, entry.Seq)
			switch {
			case err == nil:
			case !errors.Is(err, memory.ErrNotFound):
				return err
			default: // of what cannot be read, only this tells whether it is there
				if err := conn.Erase(ctx, stream, entry.Seq); err == nil {
					done = append(done, entry.No)
				} else if !errors.Is(err, events.ErrDamaged) {
					return err
				}
			}
		}
		if err := store.Erased(ctx, done); err != nil {
			return err
		}
	}
}
