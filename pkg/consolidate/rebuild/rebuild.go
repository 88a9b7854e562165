// Package rebuild makes a store anew from the log.
//
// A Rebuilder applies both kept streams, from their beginning, to an empty store: the result is the store that the
// running consolidator made. It calls no model and publishes nothing, because whatever a model answered is in the log.
// Reembed does the same under another embedding model: it embeds what has no vector of that model and appends the
// vectors to the log, so that a later Rebuild finds them there.
package rebuild

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/backfill"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/erasure"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/retry"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// giveUpAfter is how long a rebuild repeats what fails: a disk that is full stays full, and somebody waits.
const giveUpAfter = 3 * time.Second

// Progress says how far a rebuild has come.
type Progress struct {
	Messages, Writes uint64 // sequences applied
	LastWrite        uint64 // sequence at which the log of writes ended when the rebuild began
	Embedded         int    // records that Reembed embedded
}

// Rebuilder rebuilds one store.
type Rebuilder struct {
	config consolidate.Config
	deps   consolidate.Deps
}

// New validates its arguments and starts nothing. Of the deps it uses Conn, Store, Redactor, Log and, for Reembed,
// Embedder.
func New(cfg consolidate.Config, deps consolidate.Deps) (*Rebuilder, error) {
	if err := errors.Join(cfg.Validate(), deps.Validate()); err != nil {
		return nil, err
	}
	return &Rebuilder{cfg, deps}, nil
}

// Rebuild applies the whole log to an empty store: every write in order, each after the messages it waits for, then the
// messages that are left. Changes that applying leaves behind are dropped, for they were published when the events were
// new, and so are erasures of events that the log no longer holds. progress, if not nil, is called with the positions
// reached. The error wraps memory.ErrConflict where the store is not empty.
func (r *Rebuilder) Rebuild(ctx context.Context, progress func(Progress)) error {
	run, err := r.begin(ctx, progress)
	if err != nil {
		return err
	}
	if err := run.applyLog(ctx); err != nil {
		return err
	}
	return run.finish(ctx)
}

// run is one rebuild. It applies the log in batches as large as those of the running consolidator.
type run struct {
	*consolidate.Applier
	config   consolidate.Config
	deps     consolidate.Deps
	waiting  []consolidate.Write // the next batch
	early    *earlyVectors
	rests    *rests
	embedder *backfill.Worker // embeds what has no vector; nil = nothing does
	feed     *messageFeed     // nil once the log has been read to the end it had
	reached  Progress
	progress func(Progress)
}

func (r *Rebuilder) begin(ctx context.Context, progress func(Progress)) (*run, error) {
	again := retry.Policy{Longest: r.config.Retry, GiveUp: giveUpAfter, Log: r.deps.Log, Stage: consolidate.Stage}
	applier, err := consolidate.NewApplier(ctx, r.config, r.deps, again)
	if err != nil {
		return nil, err
	}
	if applier.Messages() != 0 || applier.Writes != 0 {
		return nil, fmt.Errorf("the store to rebuild into stands at message %d and write %d; it must be empty: %w",
			applier.Messages(), applier.Writes, memory.ErrConflict)
	}
	messages, writes, err := r.deps.Conn.CheckLog(ctx, r.deps.Store)
	if err == nil {
		err = r.deps.Store.AdoptLog(ctx, messages, writes)
	}
	if err != nil {
		return nil, err
	}
	run := &run{Applier: applier, config: r.config, deps: r.deps, progress: progress}
	if run.early, err = findEarlyVectors(ctx, r.deps.Conn, r.config.Config); err != nil {
		return nil, err
	}
	if run.rests, err = findRests(ctx, r.deps.Conn, r.deps.Shard, 0); err != nil {
		return nil, err
	}
	run.reached.LastWrite, err = r.deps.Conn.LastSeq(ctx, r.deps.Conn.Naming.Writes())
	return run, err
}

func (r *run) report() {
	if r.progress != nil {
		r.reached.Messages, r.reached.Writes = r.Messages(), r.Writes
		r.progress(r.reached)
	}
}

// applyLog applies both streams from their beginning to the end they have when it gets there.
func (r *run) applyLog(ctx context.Context) error {
	reading, stop := context.WithCancel(ctx)
	defer stop()
	feed, err := feedMessages(reading, r.deps, r.rests, r.Messages(), r.config.Batch)
	if err != nil {
		return err
	}
	r.feed = feed
	defer func() { r.feed = nil }()
	if err := r.applyWrites(ctx); err != nil {
		return err
	}
	return r.applyMessagesUpto(ctx, feed.end)
}

// applyWrites applies the writes up to the end they have when it begins.
func (r *run) applyWrites(ctx context.Context) error {
	stream := r.deps.Conn.Naming.Writes()
	end, err := ordered.Scan(ctx, r.deps.Conn, stream, nil, r.Writes, func(e events.Event) error { return r.add(ctx, r.own(e)) })
	if err != nil {
		return fmt.Errorf("rebuild from %s: %w", stream, err)
	}
	if err := r.flush(ctx); err != nil || end <= r.Writes {
		return err
	}
	return r.ApplyWrites(ctx, []consolidate.Write{{Event: events.Event{Seq: end}}}) // events of other subjects end the stream
}

// own returns an event, or what is left of it where it is of another shard.
func (r *run) own(e events.Event) events.Event {
	return r.deps.Shard.Own(r.deps.Conn.Naming, []events.Event{e})[0]
}

// finish applies the messages that came meanwhile and drops what must not be carried out again.
func (r *run) finish(ctx context.Context) error {
	last, err := r.deps.Conn.LastSeq(ctx, r.deps.Conn.Naming.Messages())
	if err != nil {
		return err
	}
	if err := r.applyMessagesUpto(ctx, last); err != nil {
		return err
	}
	return r.dropQueues(ctx)
}

// add adds a write to the next batch, behind what is left of erased writes before it. One that cannot be decoded has
// its dead letter already and only moves the position.
func (r *run) add(ctx context.Context, e events.Event) error {
	erased, err := r.rests.before(ctx, r.deps.Conn, e.Seq)
	if err != nil {
		return err
	}
	for _, w := range erased {
		if err := r.addWrite(ctx, consolidate.Write{Event: events.Event{Seq: w.Seq}, Write: &w}); err != nil {
			return err
		}
	}
	next := consolidate.Write{Event: e}
	if w, err := e.Write(); err == nil {
		next.Write = &w
	}
	return r.addWrite(ctx, next)
}

// addWrite adds a write to the next batch, once the messages it waits for are applied.
func (r *run) addWrite(ctx context.Context, next consolidate.Write) error {
	if w := next.Write; w != nil && w.Upto > r.MessagesOf(w.Bank) {
		if err := r.flush(ctx); err != nil {
			return err
		}
		if err := r.applyMessagesUpto(ctx, w.Upto); err != nil {
			return err
		}
	}
	if n := len(r.waiting); n > 0 && next.Write == nil && r.waiting[n-1].Write == nil {
		r.waiting[n-1] = next // all that they change is the position
		return nil
	}
	r.waiting = append(r.waiting, next)
	if next.Write == nil || len(r.waiting) < r.config.Batch {
		return nil
	}
	return r.flush(ctx)
}

// flush applies the batch. If one of its writes can never be applied, they go one by one over that one.
func (r *run) flush(ctx context.Context) error {
	if len(r.waiting) == 0 {
		return nil
	}
	if r.embedder != nil {
		if err := r.embedWaiting(ctx); err != nil {
			return err
		}
	}
	for _, w := range r.waiting {
		if w.Write != nil {
			if err := r.early.fill(ctx, w.Write); err != nil {
				return err
			}
		}
	}
	err := r.ApplyWrites(ctx, r.waiting)
	if errors.Is(err, memory.ErrInvalid) {
		err = r.applySingly(ctx)
	}
	r.waiting = r.waiting[:0]
	r.report()
	return err
}

func (r *run) applySingly(ctx context.Context) error {
	for i := range r.waiting {
		one := r.waiting[i : i+1]
		err := r.ApplyWrites(ctx, one)
		if errors.Is(err, memory.ErrInvalid) {
			one[0].Write = nil
			err = r.ApplyWrites(ctx, one)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// dropQueues empties the outbox, and drops the erasures of events that the log no longer holds. Others were not carried
// out before the rebuild.
func (r *run) dropQueues(ctx context.Context) error {
	const most = 1000
	for {
		entries, err := r.deps.Store.Outbox(ctx, 0, most)
		if err != nil {
			return err
		}
		if len(entries) == 0 {
			break
		}
		if err := r.deps.Store.Sent(ctx, entries[len(entries)-1].No); err != nil {
			return err
		}
	}
	return erasure.DropDone(ctx, r.deps.Conn, r.deps.Store)
}
