package consolidator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/internal/app/storage"
	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/rebuild"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// check checks what is to be made: a store in place of this one, or where there is none. What an earlier move could not remove
// is removed first.
func (l *liveRebuild) check(ctx context.Context, r wire.RebuildRequest) error {
	c := l.process.Settings
	if r.To == "" {
		return nil
	}
	c.Store = r.To
	if err := c.Validate(); err != nil {
		return memory.Invalid("to", "%s", err)
	}
	if err := l.admit(ctx); err != nil {
		return err
	}
	return storage.CheckMove(ctx, l.store.DSN, l.place(r))
}

// admit completes or undoes a move that was interrupted. A store of another number of shards than the log has by now is not
// the one in force: memory.ErrConflict.
func (l *liveRebuild) admit(ctx context.Context) error {
	if err := l.process.Conn.CheckShards(ctx, l.store.Shard.Of); err != nil {
		return err
	}
	return storage.Admit(ctx, l.store, l.process.Log)
}

// begin admits the store, and applies what was erased from the log behind its position: it may be one of earlier.
func (l *liveRebuild) begin(ctx context.Context) error {
	if err := l.admit(ctx); err != nil {
		return err
	}
	deps := consolidate.Deps{Conn: l.process.Conn, Store: l.store, Shard: l.store.Shard, Redactor: l.redact, Log: l.process.Log}
	builder, err := rebuild.New(Config(l.process), deps)
	if err != nil {
		return err
	}
	return builder.CatchUp(ctx)
}

// note notes in the store how far its move has come. It does nothing where the store is made anew in its place.
func (l *liveRebuild) note(ctx context.Context, r wire.RebuildRequest, step store.MoveStep) error {
	if r.To == "" {
		return nil
	}
	return l.store.NoteMove(ctx, store.Move{To: r.To, Step: step})
}

// place is where the store that a request asks for will be.
func (l *liveRebuild) place(r wire.RebuildRequest) string {
	if r.To == "" {
		return l.store.DSN
	}
	return store.ShardDSN(r.To, l.store.Shard)
}

// forgottenAfter is after how long without a question a rebuild that holds ends: whoever asked is gone, and what is forgotten
// meanwhile stays in the streams.
var forgottenAfter = time.Minute // shorter in a test

// hold follows the log until the other stores that move with this one have caught up too.
func (l *liveRebuild) hold(ctx context.Context, a *consolidate.Active, f *rebuild.Follower, within time.Duration) error {
	l.set(func(s *wire.RebuildStatus) { s.Doing = "holding" })
	l.mu.Lock()
	goOn := l.goOn
	l.mu.Unlock()
	if goOn == nil { // asked for before
		return nil
	}
	tick := time.NewTicker(near)
	defer tick.Stop()
	for {
		select {
		case <-goOn:
			return catchUp(ctx, a, f, within)
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		l.mu.Lock()
		silent := time.Since(l.heard)
		l.mu.Unlock()
		if silent > forgottenAfter {
			return fmt.Errorf("nobody has asked for a minute how far it is: %w", memory.ErrUnavailable)
		}
		if err := f.CatchUp(ctx, a.Applied()); err != nil {
			return err
		}
	}
}

// putInForce renames the closed new store to its final name; from then on it is in force. Whoever is killed in between leaves
// a note by which the next consolidator finds out.
func (l *liveRebuild) putInForce(ctx context.Context, next *nextStore, r wire.RebuildRequest) error {
	if err := l.note(ctx, r, store.MovePlacing); err != nil {
		return err
	}
	if err := storage.Place(ctx, next.place, next.path); err != nil {
		return l.unplaced(context.WithoutCancel(ctx), err)
	}
	l.set(func(*wire.RebuildStatus) { l.moved = true })
	if err := l.note(ctx, r, store.MoveDone); err != nil { // the next one that is active tries it again
		l.process.Log.Warn().Err(err).Str("stage", "consolidator").Msg("the old store could not be marked as moved")
	}
	return nil
}

// unplaced finds out whether the new store has its name although an error was returned, as of a server that went away. It returns
// the error if it has not. While nobody knows, neither store may be written: the consolidator begins anew, and waits until it
// is admitted.
func (l *liveRebuild) unplaced(ctx context.Context, cause error) error {
	ctx, cancel := context.WithTimeout(ctx, switchWithin)
	defer cancel()
	err := l.admit(ctx)
	if err == nil {
		return cause
	}
	l.set(func(s *wire.RebuildStatus) {
		l.moved = true
		if !errors.Is(err, memory.ErrConflict) {
			err = fmt.Errorf("it is not known yet whether the new store is in force, and nothing is applied until it is: %w", errors.Join(cause, err))
			s.Error, s.Code = err.Error(), memory.Code(memory.ErrUnavailable)
		}
	})
	return nil
}

// isMoved reports whether the store is not the one in force any more.
func (l *liveRebuild) isMoved() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.moved
}
