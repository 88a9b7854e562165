// Package offline works on streams and store without the stages: it rebuilds the store from the log, verifies it, and makes
// and restores backups. Only a backup may be made while the stages run, and RebuildLive, which asks the consolidator.
package offline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/internal/app/consolidator"
	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/internal/app/process"
	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/internal/app/storage"
	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/rebuild"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/kv"
	"github.com/eunoe-memory/eunoe/pkg/events/lease"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres"
	"github.com/eunoe-memory/eunoe/pkg/text/secret"
)

// Allow is what a rebuild does only where it is told to.
type Allow string

// Smaller allows a rebuild to put a store in the place of one that was made from another log, or that has applied what
// the log does not hold.
const Smaller Allow = "smaller"

// Rebuild makes the store anew from the log and puts it in the place of the old one when it is complete; until then the
// old one stays usable, whenever the rebuild is interrupted. The log is that of the data directory or, where that holds
// no streams, of the NATS server at the URL. The stages must be stopped: an active consolidator is memory.ErrConflict, and
// so is a store of a newer program. progress, if not nil, is called as it advances. A store that cannot be written, as on
// a full disk, ends the rebuild. A log that lacks what the old store has applied is memory.ErrConflict, unless Smaller is
// allowed.
func Rebuild(ctx context.Context, c settings.Config, progress func(rebuild.Progress), allow ...Allow) error {
	return withLog(ctx, c, allow, func(ctx context.Context, r *rebuild.Rebuilder) error { return r.Rebuild(ctx, progress) })
}

// Reembed is Rebuild with the configured embedding model: records without a vector of it in the log are embedded, and
// the vectors are appended to the log.
func Reembed(ctx context.Context, c settings.Config, progress func(rebuild.Progress), allow ...Allow) error {
	return withLog(ctx, c, allow, func(ctx context.Context, r *rebuild.Rebuilder) error { return r.Reembed(ctx, progress) })
}

func withLog(ctx context.Context, c settings.Config, allow []Allow, fill func(context.Context, *rebuild.Rebuilder) error) (err error) {
	log := process.NewLogger(os.Stderr, c.Log)
	l, err := local.OpenLog(ctx, c, log)
	defer func() { err = errors.Join(err, l.Release()) }()
	if err != nil {
		return err
	}
	if l.Conn != nil {
		return rebuildStore(ctx, c, log, l.Conn, allow, fill, func(context.Context) error { return nil })
	}
	conn, err := connect(ctx, c, "eunoe-rebuild", log)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.Reconcile(ctx, c.Streams()); err != nil {
		return fmt.Errorf("streams: %w", err)
	}
	return withLease(ctx, conn, func(ctx context.Context, mine func(context.Context) error) error {
		return rebuildStore(ctx, c, log, conn, allow, fill, mine)
	})
}

// connect connects to the NATS server at the URL.
func connect(ctx context.Context, c settings.Config, name string, log zerolog.Logger) (*events.Conn, error) {
	cc := c.Conn(name, log)
	cc.Wait = 10 * time.Second
	return events.Connect(ctx, cc)
}

// leaseWait is how long a rebuild waits for the lease of a consolidator that died: until the lease has expired.
const leaseWait = events.LeaseTTL + time.Second

// withLease runs f while it holds the lease of the active consolidator. A lease that another holds is
// memory.ErrConflict. The function that f is given returns an error unless the lease is still held: one that cannot be
// renewed is known as lost only when another has it.
func withLease(ctx context.Context, conn *events.Conn, f func(ctx context.Context, mine func(context.Context) error) error) error {
	owner := "rebuild/" + ulid.Make().String()
	mine := func(ctx context.Context) error {
		now, err := lease.Holder(ctx, conn, consolidate.LeaseKey)
		if err == nil && now != owner {
			err = fmt.Errorf("the lease was lost while the broker was away; run it again: %w", memory.ErrConflict)
		}
		return err
	}
	waiting, giveUp := context.WithCancel(ctx)
	defer giveUp()
	late := time.AfterFunc(leaseWait, giveUp)
	defer late.Stop()
	began, result := false, error(nil)
	err := lease.Hold(waiting, conn, consolidate.LeaseKey, owner, func(ctx context.Context) error {
		if began || !late.Stop() {
			return nil // the lease came back after it was lost, or too late
		}
		began = true
		result = f(ctx, mine)
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

// rebuildStore fills a new store and puts it in the place of the old one, unless mine says that this is another's now.
func rebuildStore(ctx context.Context, c settings.Config, log zerolog.Logger, conn *events.Conn, allow []Allow, fill func(context.Context, *rebuild.Rebuilder) error, mine func(context.Context) error) error {
	had, err := readOld(ctx, conn, c.Store)
	if err != nil {
		return err
	}
	smaller := slices.Contains(allow, Smaller)
	if had.differs != nil && !smaller {
		return fmt.Errorf("rebuild: the old store stays as it was: %w", had.differs)
	}
	unfinished := storage.Unfinished(c.Store)
	if err := storage.Remove(ctx, unfinished); err != nil {
		return err
	}
	p, err := process.New(c, log, conn)
	if err != nil {
		return err
	}
	if err := p.Measure(ctx); err != nil {
		return err
	}
	cfg := storage.Config(c, unfinished, p)
	cfg.Unsynced = true
	st, err := store.Open(cfg)
	if err == nil {
		if err = rebuildInto(ctx, p, st, fill); err == nil && !smaller {
			err = storage.CheckSize(ctx, st, had.size)
		}
		err = errors.Join(err, st.Close())
	}
	if err == nil {
		err = mine(ctx)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("rebuild: the old store stays as it was: %w", err), storage.Remove(context.WithoutCancel(ctx), unfinished))
	}
	if had.differs != nil { // the positions of ingest may be those of the other log, too: conversations are cut anew
		if err := kv.Open(conn, conn.Naming.IngestBucket()).Clear(ctx); err != nil {
			return fmt.Errorf("rebuild: %w", err)
		}
	}
	if postgres.Names(c.Store) {
		return postgres.Replace(ctx, c.Store, unfinished)
	}
	return replaceStore(c.Store, unfinished)
}

func rebuildInto(ctx context.Context, p *process.Process, st store.Store, fill func(context.Context, *rebuild.Rebuilder) error) error {
	redact, err := secret.NewRedactor(p.Settings.Redact)
	if err != nil {
		return err
	}
	r, err := rebuild.New(consolidator.RebuildConfig(p), consolidate.Deps{Conn: p.Conn, Store: st, Redactor: redact, Embedder: p.Embedder, Log: p.Log})
	if err != nil {
		return err
	}
	return fill(ctx, r)
}
