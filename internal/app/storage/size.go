package storage

import (
	"context"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres"
)

// Size is what a store has applied of the log: how many message events, forgotten ones too, and how many of the writes up
// to a sequence, repeats of an op left out.
type Size struct {
	Messages, Writes int64
	Upto             uint64 // the last write that is applied
}

// Counted is what is asked of a store, or of those of all shards, to know its size.
type Counted interface {
	Applied(ctx context.Context) (messages, writes uint64, err error)
	MessageStates(ctx context.Context) (map[memory.MessageState]int64, error)
	AppliedWrites(ctx context.Context, after uint64, limit int) ([]uint64, error)
}

// SizeOf counts what a store has applied.
func SizeOf(ctx context.Context, st Counted) (s Size, err error) {
	if _, s.Upto, err = st.Applied(ctx); err == nil {
		err = s.count(ctx, st)
	}
	return s, err
}

// count counts the message events of a store, and its writes up to the sequence.
func (s *Size) count(ctx context.Context, st Counted) error {
	states, err := st.MessageStates(ctx)
	for _, k := range states {
		s.Messages += k
	}
	const page = 5000
	for after := uint64(0); err == nil && after < s.Upto; {
		var list []uint64
		if list, err = st.AppliedWrites(ctx, after, page); len(list) == 0 {
			break
		}
		for _, after = range list {
			if after <= s.Upto {
				s.Writes++
			}
		}
	}
	return err
}

// CheckSize refuses a rebuilt store that has applied less than the one that it is to replace: the log has lost some in its
// middle. The error is memory.ErrConflict.
func CheckSize(ctx context.Context, rebuilt Counted, held Size) error {
	has := Size{Upto: held.Upto}
	err := has.count(ctx, rebuilt)
	if err == nil && (has.Messages < held.Messages || has.Writes < held.Writes) {
		err = fmt.Errorf("the log yields %d messages and %d writes, and the store holds %d and %d: "+
			"restore the backup of the streams, or run `eunoe rebuild --smaller` to keep what the log holds now: %w",
			has.Messages, has.Writes, held.Messages, held.Writes, memory.ErrConflict)
	}
	return err
}

// Shown returns where a store is, without a password.
func Shown(dsn string) string {
	if postgres.Names(dsn) {
		return postgres.Shown(dsn)
	}
	return dsn
}
