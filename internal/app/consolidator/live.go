package consolidator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
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
	"github.com/eunoe-memory/eunoe/pkg/query/verify"
	"github.com/eunoe-memory/eunoe/pkg/store"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres"
)

// RebuildSubject is where the active consolidator of a deployment takes requests to rebuild its store while it works.
func RebuildSubject(n events.Naming) string { return n.AdminSubject("rebuild") }

// RebuildRequest asks the active consolidator to rebuild its store, or how far it is. Its zero value asks how far it is.
type RebuildRequest struct {
	// Start begins a rebuild, unless one runs.
	Start bool `json:"start,omitempty"`
	// Smaller allows a store that holds fewer message events to take the place of the old one.
	Smaller bool `json:"smaller,omitempty"`
	// Cancel ends the rebuild of this id.
	Cancel string `json:"cancel,omitempty"`
}

// RebuildStatus is the state of the last rebuild that this consolidator began.
type RebuildStatus struct {
	ID       string           `json:"id"` // "" = none since the process started
	Store    string           `json:"store"`
	Running  bool             `json:"running"`
	Doing    string           `json:"doing,omitempty"` // "following the log", "checking", "switching"
	Progress rebuild.Progress `json:"progress"`
	// Paused is for how long nothing was applied, once it is done.
	Paused time.Duration `json:"paused,omitempty"`
	Error  string        `json:"error,omitempty"` // why the old store stayed; "" = it runs, or has succeeded
	Code   int           `json:"code,omitempty"`  // of the error
}

// liveRebuild rebuilds the store of the active consolidator from the log beside it, and puts the new one in its place. It
// lasts as long as the process, whose consolidator may be the active one again and again.
type liveRebuild struct {
	process *process.Process
	store   store.Store // of the consolidator
	redact  consolidate.Redactor
	owner   string // of the lease

	mu     sync.Mutex
	status RebuildStatus
	cancel context.CancelFunc
	start  chan RebuildRequest // has room for one
}

func newLiveRebuild(p *process.Process, st store.Store, redact consolidate.Redactor, owner string) *liveRebuild {
	return &liveRebuild{process: p, store: st, redact: redact, owner: owner, start: make(chan RebuildRequest, 1),
		status: RebuildStatus{Store: storage.Shown(p.Settings.Store)}}
}

// run takes requests while the consolidator is active. What a rebuild left that was killed is removed first: it holds words
// that may be forgotten since.
func (l *liveRebuild) run(ctx context.Context, a *consolidate.Active) error {
	removeUnfinished(ctx, l.process)
	conn := l.process.Conn
	sub, err := conn.NC.Subscribe(RebuildSubject(conn.Naming), l.answer)
	if err != nil {
		return fmt.Errorf("take requests to rebuild: %w: %w", memory.ErrUnavailable, err)
	}
	defer sub.Unsubscribe() //nolint:errcheck // the connection may be gone
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
	var r RebuildRequest
	status := RebuildStatus{}
	if err := json.Unmarshal(m.Data, &r); err != nil {
		status.Error, status.Code = "the request is no JSON object", memory.Code(memory.ErrInvalid)
	} else {
		status = l.accept(r)
	}
	if body, err := json.Marshal(status); err == nil {
		_ = m.Respond(body) // who asked asks again
	}
}

// accept begins or ends a rebuild as asked, and returns the status.
func (l *liveRebuild) accept(r RebuildRequest) RebuildStatus {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case r.Cancel != "" && r.Cancel == l.status.ID && l.cancel != nil:
		l.cancel()
	case r.Start && !l.status.Running:
		l.status = RebuildStatus{ID: ulid.Make().String(), Store: l.status.Store, Running: true, Doing: "following the log"}
		l.start <- r
	}
	return l.status
}

// work carries out one rebuild, and keeps how it ended.
func (l *liveRebuild) work(ctx context.Context, a *consolidate.Active, r RebuildRequest) {
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
	log.Str("stage", "consolidator").Dur("took", time.Since(began)).Dur("paused", l.status.Paused).Msg("live rebuild ended")
}

func (l *liveRebuild) set(f func(*RebuildStatus)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f(&l.status)
}

func (l *liveRebuild) rebuild(ctx context.Context, a *consolidate.Active, r RebuildRequest) (err error) {
	if postgres.Names(l.process.Settings.Store) {
		return memory.Invalid("store", "a store on a server is rebuilt while the stages are stopped: `eunoe rebuild`")
	}
	release, err := a.HoldErasures(ctx)
	if err != nil {
		return err
	}
	defer release()
	defer func() {
		if err != nil {
			err = fmt.Errorf("live rebuild: the old store stays as it was: %w", err)
			removeUnfinished(context.WithoutCancel(ctx), l.process)
		}
	}()
	next, err := openNext(ctx, l.process)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, next.Close()) }()
	builder, err := rebuild.New(RebuildConfig(l.process), consolidate.Deps{Conn: l.process.Conn, Store: next, Redactor: l.redact,
		Embedder: l.process.Embedder, Log: l.process.Log})
	if err != nil {
		return err
	}
	follower, err := builder.Follow(ctx, func(p rebuild.Progress) { l.set(func(s *RebuildStatus) { s.Progress = p }) })
	if err != nil {
		return err
	}
	if err := catchUp(ctx, a, follower); err != nil {
		return err
	}
	l.set(func(s *RebuildStatus) { s.Doing = "checking" })
	if err := sound(ctx, next); err != nil {
		return err
	}
	if err := catchUp(ctx, a, follower); err != nil {
		return err
	}
	l.set(func(s *RebuildStatus) { s.Doing = "switching" })
	return a.Replace(ctx, func(ctx context.Context, at kv.Progress) error {
		began := time.Now()
		err := l.replace(ctx, next, follower, at, r)
		l.set(func(s *RebuildStatus) { s.Paused = time.Since(began) })
		return err
	})
}

// near is how long a round of a follower takes at most before its store is put in the place of the other, which applies
// nothing meanwhile; rounds is after how many it will never be that near.
const (
	near   = 500 * time.Millisecond
	rounds = 100
)

// catchUp follows until little is left to do.
func catchUp(ctx context.Context, a *consolidate.Active, f *rebuild.Follower) error {
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

// sound checks what the new store holds.
func sound(ctx context.Context, st store.Store) error {
	v, err := verify.Store(ctx, nil, st, verify.Options{Stopped: true})
	if err == nil && !v.OK {
		err = fmt.Errorf("the new store is not as it must be: %s: %w", v.Problems[0], memory.ErrConflict)
	}
	return err
}

// switchWithin is how long readers of the old store may keep it from being replaced.
const switchWithin = 10 * time.Second

// replace applies what is left to the new store and puts it in the place of the old one, which stands still.
func (l *liveRebuild) replace(ctx context.Context, next *nextStore, f *rebuild.Follower, at kv.Progress, r RebuildRequest) error {
	if err := f.Finish(ctx, at); err != nil {
		return err
	}
	if !r.Smaller {
		held, err := storage.MessageEvents(ctx, l.store)
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
	holder, err := lease.Holder(ctx, l.process.Conn, consolidate.LeaseKey)
	if err == nil && holder != l.owner {
		err = fmt.Errorf("another consolidator is active by now: %w", memory.ErrConflict)
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), switchWithin)
	defer cancel()
	return next.takeOver(ctx)
}

// nextStore is a store that is filled beside the one in use.
type nextStore struct {
	store.Store
	path, place string // where it is, and will be
	file        os.FileInfo
}

// openNext opens an empty store beside the one of the settings.
func openNext(ctx context.Context, p *process.Process) (*nextStore, error) {
	n := &nextStore{path: storage.Unfinished(p.Settings.Store), place: p.Settings.Store}
	if err := storage.Remove(ctx, n.path); err != nil {
		return nil, err
	}
	cfg := storage.Config(p.Settings, n.path, p)
	cfg.Unsynced = true
	var err error
	if n.Store, err = store.Open(cfg); err != nil {
		return nil, err
	}
	if n.file, err = os.Stat(n.path); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

// takeOver puts the closed store in its place.
func (n *nextStore) takeOver(ctx context.Context) error {
	if file, err := os.Stat(n.path); err != nil || !os.SameFile(file, n.file) {
		return fmt.Errorf("%s is not the file that was filled: %w", n.path, errors.Join(memory.ErrConflict, err))
	}
	return store.Replace(ctx, n.place, n.path)
}
