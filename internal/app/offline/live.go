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

// RebuildLive has the active consolidator do what a request says while everything runs, of several shards one after the other,
// and returns the status at the end, in which Paused is the longest pause. progress, if not nil, is called as it advances.
// When ctx ends, so does the rebuild; one whose caller is killed goes on, and the next call finds it. Without an active
// consolidator the error is memory.ErrUnavailable.
func RebuildLive(ctx context.Context, conn *events.Conn, r wire.RebuildRequest, progress func(rebuild.Progress)) (wire.RebuildStatus, error) {
	of, err := conn.ShardCount(ctx)
	if err != nil {
		return wire.RebuildStatus{}, err
	}
	var last wire.RebuildStatus
	var stores []string
	for _, s := range events.Shards(of) {
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
	r.Start = true
	began := time.Now()
	s, err := askRebuild(ctx, conn, r)
	for unanswered(ctx, err) && time.Since(began) < liveStart && events.Sleep(ctx, liveEvery) {
		s, err = askRebuild(ctx, conn, r)
	}
	if unanswered(ctx, err) {
		return s, fmt.Errorf("no consolidator is active; `eunoe rebuild` makes the store of a stopped eunoe: %w", memory.ErrUnavailable)
	}
	if err != nil {
		return s, err
	}
	id, heard := s.ID, time.Now()
	for {
		switch {
		case s.ID != id:
			return s, fmt.Errorf("the consolidator ended in the middle of it, and the store is whole; run it again: %w", memory.ErrUnavailable)
		case s.Error != "":
			return s, liveError(s)
		case !s.Running:
			return s, nil
		case s.Progress.LastWrite > 0 && progress != nil:
			progress(rebuild.Progress(s.Progress))
		}
		if !events.Sleep(ctx, liveEvery) {
			_, err := askRebuild(context.WithoutCancel(ctx), conn, wire.RebuildRequest{Shard: r.Shard, Cancel: id})
			return s, errors.Join(ctx.Err(), err)
		}
		next, err := askRebuild(ctx, conn, wire.RebuildRequest{Shard: r.Shard})
		switch {
		case err == nil:
			s, heard = next, time.Now()
		case ctx.Err() == nil && time.Since(heard) > livePause:
			return s, fmt.Errorf("the consolidator does not answer any more; the store is whole, and what it left is removed when one is active: %w: %w",
				memory.ErrUnavailable, err)
		}
	}
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
