package offline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/internal/app/consolidator"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/rebuild"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

const (
	liveStart  = 5 * time.Second        // how long an active consolidator is waited for: one that starts or takes over is active within seconds
	liveEvery  = 200 * time.Millisecond // how often the consolidator is asked how far it is
	liveAnswer = 2 * time.Second        // how long it may take to answer
	livePause  = 15 * time.Second       // how long there may be no active consolidator before the rebuild counts as lost
)

// RebuildLive has the active consolidator do what a request says while everything runs, and returns the status at the end, in
// which Paused is the longest pause. Several shards are rebuilt one after the other, and moved together: their new stores are
// filled side by side, and put in force when all have caught up. progress, if not nil, is called as it advances. When ctx ends,
// so does the rebuild; one whose caller is killed goes on, and the next call finds it. Without an active consolidator the error
// is memory.ErrUnavailable.
func RebuildLive(ctx context.Context, conn *events.Conn, r wire.RebuildRequest, progress func(rebuild.Progress)) (wire.RebuildStatus, error) {
	of, err := conn.ShardCount(ctx)
	if err != nil {
		return wire.RebuildStatus{}, err
	}
	shards := events.Shards(of)
	if r.To != "" && len(shards) > 1 {
		return moveShards(ctx, conn, r, shards, progress)
	}
	var last wire.RebuildStatus
	var stores []string
	for _, s := range shards {
		r.Shard = s.Index
		paused := last.Paused
		if last, err = rebuildShard(ctx, conn, r, progress); err != nil {
			return last, err
		}
		last.Paused = max(last.Paused, paused)
		stores = append(stores, last.Store)
	}
	last.Store = strings.Join(stores, ", ")
	return last, nil
}

// rebuildShard has the active consolidator of a shard do what a request says.
func rebuildShard(ctx context.Context, conn *events.Conn, r wire.RebuildRequest, progress func(rebuild.Progress)) (wire.RebuildStatus, error) {
	w, err := begin(ctx, conn, r)
	if err != nil {
		return w.status, err
	}
	for w.status.Running {
		if w.status.Progress.LastWrite > 0 && progress != nil {
			progress(rebuild.Progress(w.status.Progress))
		}
		if !events.Sleep(ctx, liveEvery) {
			return w.status, errors.Join(ctx.Err(), w.cancel(ctx))
		}
		if err := w.ask(ctx, wire.RebuildRequest{}); err != nil {
			return w.status, err
		}
	}
	return w.status, nil
}

// watched is a rebuild of one shard that was begun.
type watched struct {
	conn   *events.Conn
	shard  int
	status wire.RebuildStatus
	heard  time.Time // when the consolidator answered last
}

// begin has the active consolidator of a shard begin what a request says. One that is under way already, or has ended as
// asked for, is taken for it.
func begin(ctx context.Context, conn *events.Conn, r wire.RebuildRequest) (*watched, error) {
	r.Start = true
	w := &watched{conn: conn, shard: r.Shard}
	began := time.Now()
	s, err := askRebuild(ctx, conn, r)
	for unanswered(ctx, err) && time.Since(began) < liveStart && events.Sleep(ctx, liveEvery) {
		s, err = askRebuild(ctx, conn, r)
	}
	w.status, w.heard = s, time.Now()
	switch {
	case unanswered(ctx, err):
		return w, fmt.Errorf("no consolidator is active; `eunoe rebuild` makes the store of a stopped eunoe: %w", memory.ErrUnavailable)
	case err == nil && s.Error != "":
		err = liveError(s)
	}
	return w, err
}

// ask asks how far it is, with what else a request says. The error is that with which it ended, or that nobody answers any more;
// what is not answered for a while keeps the last status.
func (w *watched) ask(ctx context.Context, r wire.RebuildRequest) error {
	r.Shard = w.shard
	next, err := askRebuild(ctx, w.conn, r)
	switch {
	case err == nil && next.ID != w.status.ID:
		return fmt.Errorf("the consolidator ended in the middle of it, and the store is whole; run it again: %w", memory.ErrUnavailable)
	case err == nil:
		w.status, w.heard = next, time.Now()
		if next.Error != "" {
			return liveError(next)
		}
	case ctx.Err() == nil && time.Since(w.heard) > livePause:
		return fmt.Errorf("the consolidator does not answer any more; the store is whole, and what it left is removed when one is active: %w: %w",
			memory.ErrUnavailable, err)
	}
	return nil
}

// cancel ends it, though ctx has ended.
func (w *watched) cancel(ctx context.Context) error {
	_, err := askRebuild(context.WithoutCancel(ctx), w.conn, wire.RebuildRequest{Shard: w.shard, Cancel: w.status.ID})
	return err
}

// unanswered reports whether no consolidator took a request: those of other shards hear it, and do not answer.
func unanswered(ctx context.Context, err error) bool {
	return errors.Is(err, nats.ErrNoResponders) || errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil
}

// liveError is the error with which a rebuild ended.
func liveError(s wire.RebuildStatus) error {
	if meaning := memory.FromCode(s.Code); meaning != nil {
		return fmt.Errorf("%s: %w", strings.TrimSuffix(s.Error, ": "+meaning.Error()), meaning)
	}
	return errors.New(s.Error)
}

// askRebuild asks the active consolidator.
func askRebuild(ctx context.Context, conn *events.Conn, r wire.RebuildRequest) (s wire.RebuildStatus, err error) {
	ctx, cancel := context.WithTimeout(ctx, liveAnswer)
	defer cancel()
	body, err := json.Marshal(r)
	if err != nil {
		return s, err
	}
	m, err := conn.NC.RequestWithContext(ctx, consolidator.RebuildSubject(conn.Naming), body)
	if err != nil {
		return s, fmt.Errorf("ask the consolidator to rebuild: %w", err)
	}
	if err := json.Unmarshal(m.Data, &s); err != nil {
		return s, fmt.Errorf("read the answer of the consolidator: %w", err)
	}
	return s, nil
}
