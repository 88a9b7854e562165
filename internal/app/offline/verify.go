package offline

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/internal/app/process"
	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/internal/app/storage"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/query/verify"
	"github.com/eunoe-memory/eunoe/pkg/store"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// Verify checks a stopped store: by itself, and against the log of the data directory or, where that holds no streams and
// server is true, of the NATS server at the URL. Without either it is checked by itself. A data directory in use and an
// active consolidator are errors: a running deployment is asked instead. The content of the store is not changed.
func Verify(ctx context.Context, c settings.Config, full, server bool) (v wire.Verification, err error) {
	log := process.NewLogger(os.Stderr, c.Log)
	if _, err := os.Stat(c.Data); err == nil {
		l, failed := local.OpenLog(ctx, c, log)
		defer func() { err = errors.Join(err, l.Release()) }()
		if failed != nil {
			return v, failed
		}
		if l.Conn != nil {
			return verifyStore(ctx, c, l.Conn, full)
		}
	}
	if !server {
		return verifyStore(ctx, c, nil, full)
	}
	conn, err := connect(ctx, c, "eunoe-verify", log)
	if err != nil {
		return v, err
	}
	defer conn.Close()
	err = withLease(ctx, c, conn, func(ctx context.Context, _ func(context.Context) error) (err error) {
		v, err = verifyStore(ctx, c, conn, full)
		return err
	})
	return v, err
}

// verifyStore checks the stores of the settings; conn nil = without a log, which alone says that there are several.
func verifyStore(ctx context.Context, c settings.Config, conn *events.Conn, full bool) (v wire.Verification, err error) {
	of := c.Shards
	if conn != nil {
		if of, err = conn.ShardCount(ctx); err != nil {
			return v, err
		}
	}
	var parts []store.Store
	defer func() { err = errors.Join(err, closeAll(parts)) }()
	for _, s := range events.Shards(of) {
		st, err := openToCheck(storage.ShardDSN(c, s))
		if err != nil {
			return v, err
		}
		parts = append(parts, st)
	}
	return verify.Store(ctx, conn, store.Join(events.Naming{Prefix: c.Prefix}, parts), verify.Options{Full: full, Stopped: true})
}

// openToCheck opens a store for its checks.
func openToCheck(dsn string) (store.Store, error) {
	// It is opened read-only first: a store of another version is refused, not migrated.
	st, err := store.Open(store.Config{DSN: dsn, ReadOnly: true})
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	// Checking the text indexes needs a writer; without one they are reported as left out. The last to close the file has to
	// be the writer, which leaves no write-ahead log behind.
	writer, err := store.Open(store.Config{DSN: dsn})
	if err != nil {
		return st, nil
	}
	if err := st.Close(); err != nil {
		return nil, errors.Join(err, writer.Close())
	}
	return writer, nil
}
