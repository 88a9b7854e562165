package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/store"
)

// Verify checks a stopped store: by itself, and against the log of the data
// directory, or, where that holds no streams and server is true, of the NATS
// server at the URL. Without either it is checked by itself. A data directory in
// use and a consolidator that is active are errors: those are to be asked. The
// store's content is not changed.
func Verify(ctx context.Context, c Config, full, server bool) (v query.Verification, err error) {
	l := &Local{Dir: c.Data}
	defer func() { err = errors.Join(err, l.release()) }()
	if _, err := os.Stat(c.Data); err == nil {
		if err := l.lock(c.Data); err != nil {
			return v, err
		}
	}
	log := newLogger(os.Stderr, c.Log)
	if _, err := os.Stat(filepath.Join(c.Data, "streams")); err == nil {
		c.Port = -1
		if err := l.serve(ctx, c, log); err != nil {
			return v, err
		}
		return verifyStore(ctx, c, l.Conn, full)
	}
	if !server {
		return verifyStore(ctx, c, nil, full)
	}
	cc := c.conn("eunoe-verify", log)
	cc.Wait = 10 * time.Second
	conn, err := events.Connect(ctx, cc)
	if err != nil {
		return v, err
	}
	defer conn.Close()
	err = whileActive(ctx, conn, func(ctx context.Context) (err error) {
		v, err = verifyStore(ctx, c, conn, full)
		return err
	})
	return v, err
}

// verifyStore checks the store of a Config; conn nil = without a log.
func verifyStore(ctx context.Context, c Config, conn *events.Conn, full bool) (v query.Verification, failed error) {
	// Opened to be read first: one of another version is refused, not migrated.
	st, err := store.Open(store.Config{DSN: c.Store, ReadOnly: true})
	if err != nil {
		return v, fmt.Errorf("verify: %w", err)
	}
	defer func() { failed = errors.Join(failed, st.Close()) }()
	checked := st
	// The text indexes need the writer; without it they are said to be left out.
	if writer, err := store.Open(store.Config{DSN: c.Store}); err == nil {
		defer func() { failed = errors.Join(failed, writer.Close()) }()
		checked = writer
	}
	s, err := query.New(c.query(), query.Deps{Conn: conn, Store: checked, Log: newLogger(os.Stderr, c.Log)})
	if err != nil {
		return v, err
	}
	return s.Verify(ctx, "", query.VerifyRequest{Full: full, Stopped: true})
}
