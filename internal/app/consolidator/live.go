package consolidator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/oklog/ulid/v2"

	"github.com/eunoe-memory/eunoe/internal/app/process"
	"github.com/eunoe-memory/eunoe/internal/app/storage"
	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/rebuild"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/kv"
	"github.com/eunoe-memory/eunoe/pkg/events/lease"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// RebuildSubject is where the active consolidator of a deployment takes requests to rebuild its store while it works.
func RebuildSubject(n events.Naming) string { return n.AdminSubject(wire.RebuildLive.Name) }

// liveRebuild rebuilds the store of the active consolidator from the log beside it, and puts the new one in its place. It
// lasts as long as the process, whose consolidator may be the active one again and again.
type liveRebuild struct {
	process *process.Process
	store   storage.Part // of the consolidator
	redact  consolidate.Redactor
	owner   string // of the lease

	mu     sync.Mutex
	status wire.RebuildStatus
	to     string        // wire.RebuildRequest.To of the rebuild that status tells of
	moved  bool          // the store is not the one in force any more
	heard  time.Time     // when somebody asked last how far it is
	goOn   chan struct{} // closed when the rebuild that holds may switch
	cancel context.CancelFunc
	start  chan wire.RebuildRequest // has room for one
}

func newLiveRebuild(p *process.Process, part storage.Part, redact consolidate.Redactor, owner string) *liveRebuild {
	return &liveRebuild{process: p, store: part, redact: redact, owner: owner, start: make(chan wire.RebuildRequest, 1),
		status: wire.RebuildStatus{Store: storage.Shown(part.DSN)}}
}

// removeUnfinished removes what a rebuild left that failed or was killed.
func (l *liveRebuild) removeUnfinished(ctx context.Context) {
	if err := storage.Remove(ctx, storage.Unfinished(l.store.DSN)); err != nil {
		l.process.Log.Warn().Err(err).Str("stage", "consolidator").Msg("the unfinished store of a rebuild could not be removed")
	}
}

// tellMoved is for how long the outcome of a move can be asked for: where only some of several stores could be moved, those tell it to
// whoever moves the others.
const tellMoved = 10 * time.Minute

// run takes requests while the consolidator is active. What a rebuild left that was killed is removed first: it holds words
// that may be forgotten since.
func (l *liveRebuild) run(ctx context.Context, a *consolidate.Active) error {
	l.set(func(*wire.RebuildStatus) { l.moved = false }) // else it was not admitted
	l.removeUnfinished(ctx)
	conn := l.process.Conn
	sub, err := conn.NC.Subscribe(RebuildSubject(conn.Naming), l.answer)
	if err != nil {
		return fmt.Errorf("take requests to rebuild: %w: %w", memory.ErrUnavailable, err)
	}
	defer func() {
		if l.isMoved() { // no other consolidator answers yet
			time.AfterFunc(tellMoved, func() { _ = sub.Unsubscribe() })
			return
		}
		_ = sub.Unsubscribe() // the connection may be gone
	}()
	for {
		select {
		case r := <-l.start:
			l.work(ctx, a, r)
		case <-ctx.Done():
			return nil
		}
	}
}

// answer answers a request with the status. As in every service, nothing is sent to subjects of streams or of the broker.
func (l *liveRebuild) answer(m *nats.Msg) {
	prefix := strings.TrimSuffix(l.process.Conn.Naming.AdminSubject(""), "admin.")
	if m.Reply == "" || strings.HasPrefix(m.Reply, "$") || strings.HasPrefix(m.Reply, prefix) {
		return
	}
	var r wire.RebuildRequest
	status := wire.RebuildStatus{}
	if err := memory.Decode(m.Data, &r); err != nil {
		status.Error, status.Code = err.Error(), memory.Code(err)
	} else if r.Shard != l.store.Shard.Index {
		return // the consolidator of that shard answers
	} else {
		status = l.accept(r)
	}
	if body, err := json.Marshal(status); err == nil {
		_ = m.Respond(body) // who asked asks again
	}
}

// accept begins or ends a rebuild as asked, and returns the status.
func (l *liveRebuild) accept(r wire.RebuildRequest) wire.RebuildStatus {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = time.Now()
	switch {
	case r.Switch != "" && r.Switch == l.status.ID && l.goOn != nil:
		close(l.goOn)
		l.goOn = nil
	case r.Cancel != "" && r.Cancel == l.status.ID && l.cancel != nil:
		l.cancel()
	case r.Start && (l.status.Running || l.moved) && r.To != l.to:
		err := fmt.Errorf("the store %s: %w", doing(l.to, l.moved), memory.ErrConflict)
		return wire.RebuildStatus{Store: l.status.Store, Error: err.Error(), Code: memory.Code(err)}
	case r.Start && !l.status.Running && !l.moved:
		l.to, l.goOn = r.To, make(chan struct{})
		l.status = wire.RebuildStatus{ID: ulid.Make().String(), Running: true, Doing: "following the log",
			Store: storage.Shown(l.place(r))}
		l.start <- r
	}
	return l.status
}

// doing says what is done to the store, or was where it is in force no more.
func doing(to string, moved bool) string {
	switch {
	case to == "":
		return "is being rebuilt"
	case moved:
		return "was moved to " + storage.Shown(to)
	}
	return "is being moved to " + storage.Shown(to)
}

// work carries out one rebuild, and keeps how it ended.
func (l *liveRebuild) work(ctx context.Context, a *consolidate.Active, r wire.RebuildRequest) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l.mu.Lock()
	l.cancel = cancel
	l.mu.Unlock()
	began := time.Now()
	err := l.rebuild(ctx, a, r)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cancel, l.status.Running, l.status.Doing = nil, false, ""
	log := l.process.Log.Info()
	if err != nil {
		l.status.Error, l.status.Code = err.Error(), memory.Code(err)
		log = l.process.Log.Warn().Err(err)
	}
	log.Str("stage", "consolidator").Dur("took", time.Since(began)).Dur("paused", time.Duration(l.status.Paused)).Msg("live rebuild ended")
}

func (l *liveRebuild) set(f func(*wire.RebuildStatus)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f(&l.status)
}

func (l *liveRebuild) rebuild(ctx context.Context, a *consolidate.Active, r wire.RebuildRequest) (err error) {
	if err := l.check(ctx, r); err != nil {
		return err
	}
	release, err := a.HoldErasures(ctx)
	if err != nil {
		return err
	}
	defer release()
	defer func() {
		if err != nil {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), switchWithin)
			defer cancel()
			err = fmt.Errorf("the old store stays as it was: %w", err)
			if r.To != "" {
				err = errors.Join(err, l.admit(ctx))
			}
			l.removeUnfinished(ctx)
		}
	}()
	if err := l.note(ctx, r, store.MoveFilling); err != nil { // whoever is active after a kill knows what to remove
		return err
	}
	next, err := openNext(ctx, l.process, l.place(r))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, next.Close()) }()
	builder, err := rebuild.New(RebuildConfig(l.process), consolidate.Deps{Conn: l.process.Conn, Store: next, Shard: l.store.Shard, Redactor: l.redact,
		Embedder: l.process.Embedder, Log: l.process.Log})
	if err != nil {
		return err
	}
	follower, err := builder.Follow(ctx, func(p rebuild.Progress) { l.set(func(s *wire.RebuildStatus) { s.Progress = wire.RebuildProgress(p) }) })
	if err != nil {
		return err
	}
	within := near
	if r.To != "" {
		within = nearMove
	}
	if err := catchUp(ctx, a, follower, within); err != nil {
		return err
	}
	l.set(func(s *wire.RebuildStatus) { s.Doing = "checking" })
	if err := sound(ctx, next); err != nil {
		return err
	}
	if err := catchUp(ctx, a, follower, within); err != nil {
		return err
	}
	if r.Hold {
		if err := l.hold(ctx, a, follower, within); err != nil {
			return err
		}
	}
	l.set(func(s *wire.RebuildStatus) { s.Doing = "switching" })
	return a.Replace(ctx, func(ctx context.Context, at kv.Progress) error {
		began := time.Now()
		err := l.replace(ctx, next, follower, at, r)
		l.set(func(s *wire.RebuildStatus) { s.Paused = memory.Duration(time.Since(began)) })
		return err
	})
}

// near is how long a round of a follower takes at most before its store is put in the place of the other, which applies
// nothing meanwhile; rounds is after how many it will never be that near.
const (
	near   = 500 * time.Millisecond
	rounds = 100
	// nearMove is near of a move: nothing is applied to the old store anyhow until the stages are restarted.
	nearMove = 30 * time.Second
)

// catchUp follows until little is left to do.
func catchUp(ctx context.Context, a *consolidate.Active, f *rebuild.Follower, near time.Duration) error {
	for range rounds {
		began := time.Now()
		if err := f.CatchUp(ctx, a.Applied()); err != nil {
			return err
		}
		if time.Since(began) < near {
			return nil
		}
	}
	return fmt.Errorf("more is published than a second store can follow; run it at a quieter time: %w", memory.ErrUnavailable)
}

// switchWithin is how long readers of the old store may keep it from being replaced.
const switchWithin = 10 * time.Second

// replace applies what is left to the new store and puts it in the place of the old one, which stands still.
func (l *liveRebuild) replace(ctx context.Context, next *nextStore, f *rebuild.Follower, at kv.Progress, r wire.RebuildRequest) error {
	if err := f.Finish(ctx, at); err != nil {
		return err
	}
	if !r.Smaller {
		held, err := storage.SizeOf(ctx, l.store)
		if err == nil {
			err = storage.CheckSize(ctx, next, held)
		}
		if err != nil {
			return err
		}
	}
	if err := next.Close(); err != nil {
		return err
	}
	holder, err := lease.Holder(ctx, l.process.Conn, l.store.Shard.Key(consolidate.LeaseKey))
	if err == nil && holder != l.owner {
		err = fmt.Errorf("another consolidator is active by now: %w", memory.ErrConflict)
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), switchWithin)
	defer cancel()
	if r.To == "" {
		return next.takeOver(ctx)
	}
	return l.putInForce(ctx, next, r)
}
