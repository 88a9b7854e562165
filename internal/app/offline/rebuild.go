// Package offline works on streams and store without the stages: it rebuilds the store from the log, verifies it, and makes
// and restores backups. Only a backup may be made while the stages run, and RebuildLive, which asks the consolidator.
package offline

import (
	"cmp"
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
	return withLease(ctx, c, conn, func(ctx context.Context, mine func(context.Context) error) error {
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

// withLease runs f while it holds the leases of the active consolidators of all shards, as many as there are or are to be.
// A lease that another holds is memory.ErrConflict. The function that f is given returns an error unless the leases are
// still held: one that cannot be renewed is known as lost only when another has it.
func withLease(ctx context.Context, c settings.Config, conn *events.Conn, f func(ctx context.Context, mine func(context.Context) error) error) error {
	have, err := conn.ShardCount(ctx)
	if err != nil {
		return err
	}
	shards := events.Shards(max(have, c.Shards))
	var hold func(ctx context.Context, i int, mine func(context.Context) error) error
	hold = func(ctx context.Context, i int, mine func(context.Context) error) error {
		if i == len(shards) {
			return f(ctx, mine)
		}
		return withLeaseOf(ctx, conn, shards[i].Key(consolidate.LeaseKey), func(ctx context.Context, this func(context.Context) error) error {
			return hold(ctx, i+1, func(ctx context.Context) error { return errors.Join(mine(ctx), this(ctx)) })
		})
	}
	return hold(ctx, 0, func(context.Context) error { return nil })
}

// withLeaseOf is withLease for one shard.
func withLeaseOf(ctx context.Context, conn *events.Conn, key string, f func(ctx context.Context, mine func(context.Context) error) error) error {
	owner := "rebuild/" + ulid.Make().String()
	mine := func(ctx context.Context) error {
		now, err := lease.Holder(ctx, conn, key)
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
	err := lease.Hold(waiting, conn, key, owner, func(ctx context.Context) error {
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

// rebuildStore fills new stores, as many as the settings say or as there were, and puts them in the place of the old ones,
// unless mine says that these are another's now.
func rebuildStore(ctx context.Context, c settings.Config, log zerolog.Logger, conn *events.Conn, allow []Allow, fill func(context.Context, *rebuild.Rebuilder) error, mine func(context.Context) error) (err error) {
	was, err := conn.ShardCount(ctx)
	if err != nil {
		return err
	}
	before, shards := events.Shards(was), events.Shards(cmp.Or(c.Shards, was))
	had, err := readOld(ctx, conn, c, before)
	if err != nil {
		return err
	}
	smaller := slices.Contains(allow, Smaller)
	if had.differs != nil && !smaller {
		return fmt.Errorf("rebuild: the old store stays as it was: %w", had.differs)
	}
	defer func() {
		if err != nil {
			for _, s := range shards {
				err = errors.Join(err, storage.Remove(context.WithoutCancel(ctx), storage.Unfinished(storage.ShardDSN(c, s))))
			}
		}
	}()
	p, err := process.New(c, log, conn)
	if err != nil {
		return err
	}
	if err := p.Measure(ctx); err != nil {
		return err
	}
	if err = rebuildShards(ctx, p, shards, fill, func(all store.Whole) error {
		if smaller {
			return nil
		}
		return storage.CheckSize(ctx, all, had.size)
	}); err == nil {
		err = mine(ctx)
	}
	if err != nil {
		return fmt.Errorf("rebuild: the old store stays as it was: %w", err)
	}
	if had.differs != nil { // the positions of ingest may be those of the other log, too: conversations are cut anew
		if err := kv.Open(conn, conn.Naming.IngestBucket()).Clear(ctx); err != nil {
			return fmt.Errorf("rebuild: %w", err)
		}
	}
	for _, s := range shards {
		if err := putInPlace(ctx, storage.ShardDSN(c, s)); err != nil {
			return err
		}
	}
	return changeShards(ctx, c, conn, before, shards)
}

// rebuildShards fills the new stores of all shards, one after the other, and closes them once check has seen all.
func rebuildShards(ctx context.Context, p *process.Process, shards []events.Shard, fill func(context.Context, *rebuild.Rebuilder) error, check func(store.Whole) error) (err error) {
	var parts []store.Store
	defer func() { err = errors.Join(err, closeAll(parts)) }()
	for _, s := range shards {
		unfinished := storage.Unfinished(storage.ShardDSN(p.Settings, s))
		if err := storage.Remove(ctx, unfinished); err != nil {
			return err
		}
		cfg := storage.Config(p.Settings, unfinished, p)
		cfg.Unsynced = true
		st, err := store.Open(cfg)
		if err != nil {
			return err
		}
		parts = append(parts, st)
		if err := rebuildInto(ctx, p, st, s, fill); err != nil {
			return err
		}
	}
	return check(store.Join(p.Conn.Naming, parts))
}

// putInPlace puts the rebuilt store in the place of the one that dsn names.
func putInPlace(ctx context.Context, dsn string) error {
	if postgres.Names(dsn) {
		return postgres.Replace(ctx, dsn, storage.Unfinished(dsn))
	}
	return replaceStore(dsn, storage.Unfinished(dsn))
}

// changeShards records that there are as many shards as stores were made, and then removes those of the other number.
func changeShards(ctx context.Context, c settings.Config, conn *events.Conn, before, now []events.Shard) error {
	if len(before) == len(now) {
		return nil
	}
	out, err := before, conn.SetShardCount(ctx, len(now))
	if err != nil {
		have, unknown := conn.ShardCount(context.WithoutCancel(ctx))
		switch {
		case unknown != nil:
			return errors.Join(err, unknown) // the next rebuild knows
		case have == len(now):
			err = nil
		default: // the old ones stay in force; what nobody reads must not keep what is forgotten later
			out = now
		}
	}
	for _, s := range out {
		err = errors.Join(err, storage.Remove(context.WithoutCancel(ctx), storage.ShardDSN(c, s)))
	}
	return err
}

func rebuildInto(ctx context.Context, p *process.Process, st store.Store, shard events.Shard, fill func(context.Context, *rebuild.Rebuilder) error) error {
	redact, err := secret.NewRedactor(p.Settings.Redact)
	if err != nil {
		return err
	}
	r, err := rebuild.New(consolidator.RebuildConfig(p), consolidate.Deps{Conn: p.Conn, Store: st, Shard: shard, Redactor: redact, Embedder: p.Embedder, Log: p.Log})
	if err != nil {
		return err
	}
	return fill(ctx, r)
}
