package rebuild

import (
	"context"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/retry"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
)

// CatchUp applies to a store that fell back, or to an empty one, what was erased from the log behind its position: what is
// left of each write stands at the end of the log and has to be applied in its old place, before writes that rested on it.
// It applies the log up to the last such place, and nothing where there is none. Changes and erasures that it leaves behind
// are those of the running consolidator, which goes on from there.
func (r *Rebuilder) CatchUp(ctx context.Context) error {
	again := retry.Policy{Longest: r.config.Retry, GiveUp: giveUpAfter, Log: r.deps.Log, Stage: consolidate.Stage}
	applier, err := consolidate.NewApplier(ctx, r.config, r.deps, again)
	if err != nil {
		return err
	}
	erased, err := findRests(ctx, r.deps.Conn, r.deps.Shard, applier.Writes)
	if err != nil {
		return err
	}
	last := erased.passed(applier.Position(), applier.Writes)
	if last == 0 {
		return nil
	}
	messages, writes, err := r.deps.Conn.CheckLog(ctx, r.deps.Store)
	if err == nil {
		err = r.deps.Store.AdoptLog(ctx, messages, writes)
	}
	if err != nil {
		return fmt.Errorf("the log and the store: %w", err)
	}
	run := &run{Applier: applier, config: r.config, deps: r.deps, rests: erased}
	if run.early, err = findEarlyVectors(ctx, r.deps.Conn, r.config.Config); err != nil {
		return err
	}
	r.deps.Log.Info().Str("stage", consolidate.Stage).Uint64("from", applier.Writes).Uint64("to", last).Stringer("shard", r.deps.Shard).
		Msg("the store is behind what was erased from the log")
	return run.applyUpto(ctx, last)
}

// applyUpto applies the writes up to one, erased ones too, and the messages that they wait for.
func (r *run) applyUpto(ctx context.Context, last uint64) error {
	reading, stop := context.WithCancel(ctx)
	defer stop()
	var err error
	if r.feed, err = feedMessages(reading, r.deps, r.rests, r.Messages(), r.config.Batch); err != nil {
		return err
	}
	defer func() { r.feed = nil }()
	stream := r.deps.Conn.Naming.Writes()
	_, err = ordered.Scan(ctx, r.deps.Conn, stream, nil, r.Writes, func(e events.Event) error {
		if e.Seq > last {
			return ordered.ErrSkipRest
		}
		return r.add(ctx, r.own(e))
	})
	if err != nil {
		return fmt.Errorf("apply %s up to %d: %w", stream, last, err)
	}
	return r.addRests(ctx, last)
}

// addRests applies what waits, and what is left of erased writes up to a sequence: those that were the last ones.
func (r *run) addRests(ctx context.Context, upto uint64) error {
	rest, err := r.rests.upto(ctx, r.deps.Conn, upto)
	if err != nil {
		return err
	}
	for _, w := range rest {
		if err := r.addWrite(ctx, consolidate.Write{Event: events.Event{Seq: w.Seq}, Write: &w}); err != nil {
			return err
		}
	}
	return r.flush(ctx)
}
