package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/secret"
	"github.com/eunoe-memory/eunoe/pkg/store"
)

// Rebuild makes the store anew from the log and puts it in the old one's
// place when it is whole; until then the old one stays as it is, and is usable
// whenever the rebuild is broken off. The log is that of the data directory, or,
// where that holds no streams, of the NATS server at the URL. The stages must be
// stopped: a consolidator that is active is memory.ErrConflict. progress, if not
// nil, is told how far it is. A store of a newer program is memory.ErrConflict.
// One that cannot be written, as on a full disk, ends the rebuild.
func Rebuild(ctx context.Context, c Config, progress func(consolidate.Progress)) error {
	return rebuild(ctx, c, func(ctx context.Context, s *consolidate.Consolidator) error { return s.Rebuild(ctx, progress) })
}

// Reembed is Rebuild with the configured embedder: what has no vector of it in
// the log is embedded, and the vectors are appended to the log.
func Reembed(ctx context.Context, c Config, progress func(consolidate.Progress)) error {
	return rebuild(ctx, c, func(ctx context.Context, s *consolidate.Consolidator) error { return s.Reembed(ctx, progress) })
}

func rebuild(ctx context.Context, c Config, fill func(context.Context, *consolidate.Consolidator) error) (err error) {
	log := newLogger(os.Stderr, c.Log)
	l := &Local{Dir: c.Data}
	defer func() { err = errors.Join(err, l.release()) }()
	if err := l.lock(c.Data); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(c.Data, "streams")); err == nil {
		c.Port = -1
		if err := l.serve(ctx, c, log); err != nil {
			return err
		}
		return rebuildStore(ctx, c, log, l.Conn, fill)
	}
	cc := c.conn("eunoe-rebuild", log)
	cc.Wait = 10 * time.Second
	conn, err := events.Connect(ctx, cc)
	if err != nil {
		return err
	}
	l.Conn = conn
	l.end = append(l.end, func() error { conn.Close(); return nil })
	if err := conn.Reconcile(ctx, events.StreamOptions{}); err != nil {
		return fmt.Errorf("streams: %w", err)
	}
	return whileActive(ctx, conn, func(ctx context.Context) error { return rebuildStore(ctx, c, log, conn, fill) })
}

// leaseWait is how long a rebuild waits for the lease of a consolidator that
// died: until it has run out.
const leaseWait = events.LeaseTTL + time.Second

// whileActive runs f while it holds the lease of the active consolidator. One
// that another holds is memory.ErrConflict.
func whileActive(ctx context.Context, conn *events.Conn, f func(context.Context) error) error {
	waiting, giveUp := context.WithCancel(ctx)
	defer giveUp()
	late := time.AfterFunc(leaseWait, giveUp)
	defer late.Stop()
	began, result := false, error(nil)
	err := conn.Hold(waiting, consolidate.LeaseKey, "rebuild/"+ulid.Make().String(), func(ctx context.Context) error {
		if began || !late.Stop() {
			return nil // the lease came back after it was lost, or too late
		}
		began = true
		result = f(ctx)
		return nil
	})
	switch {
	case err != nil:
		return err
	case !began && ctx.Err() == nil:
		return fmt.Errorf("a consolidator is active; stop it first: %w", memory.ErrConflict)
	case !began:
		return ctx.Err()
	}
	return result
}

// rebuildStore fills a new store and puts it in the old one's place.
func rebuildStore(ctx context.Context, c Config, log zerolog.Logger, conn *events.Conn, fill func(context.Context, *consolidate.Consolidator) error) error {
	if err := refuseNewer(c.Store); err != nil {
		return err
	}
	anew := leftover(c.Store)
	if err := removeStore(anew); err != nil {
		return err
	}
	p, err := newProcess(c, log, conn)
	if err != nil {
		return err
	}
	if err := p.measure(ctx); err != nil {
		return err
	}
	st, err := store.Open(store.Config{DSN: anew, Embedder: p.embedder.Name(), Dimension: p.embedder.Dimension(), Limit: c.StoreLimit, Unsynced: true, Log: log})
	if err != nil {
		return errors.Join(fmt.Errorf("rebuild: the old store stays as it was: %w", err), removeStore(anew))
	}
	if err := rebuildInto(ctx, p, st, fill); err != nil {
		return errors.Join(fmt.Errorf("rebuild: the old store stays as it was: %w", err), st.Close(), removeStore(anew))
	}
	if err := st.Close(); err != nil {
		return errors.Join(fmt.Errorf("rebuild: the old store stays as it was: %w", err), removeStore(anew))
	}
	return replaceStore(c.Store, anew)
}

// rebuildBatch is how many times as many events a rebuild commits at once:
// nobody waits to read them.
const rebuildBatch = 5

func rebuildInto(ctx context.Context, p *process, st store.Store, fill func(context.Context, *consolidate.Consolidator) error) error {
	redact, err := secret.NewRedactor(p.config.Redact)
	if err != nil {
		return err
	}
	cfg := p.consolidation()
	cfg.Batch = min(cfg.Batch*rebuildBatch, 10_000)
	c, err := consolidate.New(cfg, consolidate.Deps{Conn: p.conn, Store: st, Redactor: redact, Embedder: p.embedder, Log: p.log})
	if err != nil {
		return err
	}
	return fill(ctx, c)
}
