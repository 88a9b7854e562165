package storage

import (
	"context"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres"
)

// CheckSize refuses a rebuilt store that holds fewer message events than the one that it is to replace: the log has lost
// some in its middle. The error is memory.ErrConflict.
func CheckSize(ctx context.Context, rebuilt store.Store, held int64) error {
	n, err := MessageEvents(ctx, rebuilt)
	if err == nil && n < held {
		err = fmt.Errorf("the log yields %d messages, and the store holds %d: "+
			"restore the backup of the streams, or run `eunoe rebuild --smaller` to keep what the log holds now: %w",
			n, held, memory.ErrConflict)
	}
	return err
}

// MessageEvents counts the message events of a store, forgotten ones too.
func MessageEvents(ctx context.Context, st store.Store) (n int64, err error) {
	states, err := st.MessageStates(ctx)
	for _, k := range states {
		n += k
	}
	return n, err
}

// Shown returns where a store is, without a password.
func Shown(dsn string) string {
	if postgres.Names(dsn) {
		return postgres.Shown(dsn)
	}
	return dsn
}
