package erasure

import (
	"context"
	"errors"
	"math"
	"strings"

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

// DropDone removes the erasures whose events are gone from the log.
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
			stream := conn.Naming.Writes()
			if strings.HasSuffix(entry.Stream, "_MESSAGES") {
				stream = conn.Naming.Messages()
			}
			switch _, err := conn.EventAt(ctx, stream, entry.Seq); {
			case errors.Is(err, memory.ErrNotFound):
				done = append(done, entry.No)
			case err != nil:
				return err
			}
		}
		if err := store.Erased(ctx, done); err != nil {
			return err
		}
	}
}
