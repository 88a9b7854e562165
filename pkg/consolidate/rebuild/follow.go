package rebuild

import (
	"context"
	"errors"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/kv"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Follower fills a store from the log behind another one that is in use, and never overtakes it. Nothing may be erased from
// the log between the call of Follow and the last one of its methods. It is not safe for concurrent use.
type Follower struct {
	run *run
}

// Follow returns a Follower of an empty store, which has applied nothing yet. progress, if not nil, is called as it
// advances. The error wraps memory.ErrConflict where the store is not empty.
func (r *Rebuilder) Follow(ctx context.Context, progress func(Progress)) (*Follower, error) {
	run, err := r.begin(ctx, progress)
	if err != nil {
		return nil, err
	}
	return &Follower{run}, nil
}

// CatchUp applies the log up to where the other store is, but for what it has applied ahead of banks that have much to
// apply, and for writes that rest on such messages.
func (f *Follower) CatchUp(ctx context.Context, at kv.Progress) error {
	f.run.reached.LastWrite = at.Write
	if err := f.stored(ctx, at); err != nil {
		return err
	}
	if err := f.messages(ctx, at.Messages.Seq); err != nil {
		return err
	}
	return f.writes(ctx, at)
}

// Finish applies the log up to the very position of the other store, which stands still and has published its changes, and
// drops what must not be carried out again.
func (f *Follower) Finish(ctx context.Context, at kv.Progress) error {
	f.run.reached.LastWrite = at.Write
	if err := f.stored(ctx, at); err != nil {
		return err
	}
	if err := f.messages(ctx, at.Messages.Seq); err != nil {
		return err
	}
	if err := f.ahead(ctx, at.Messages); err != nil {
		return err
	}
	if err := f.writes(ctx, at); err != nil {
		return err
	}
	if f.run.Writes != at.Write || f.run.Messages() != at.Messages.Seq {
		return fmt.Errorf("the new store stands at message %d and write %d, the old one at %d and %d: %w",
			f.run.Messages(), f.run.Writes, at.Messages.Seq, at.Write, memory.ErrConflict)
	}
	return f.run.dropQueues(ctx)
}

// messages applies the messages up to a sequence, erased ones too.
func (f *Follower) messages(ctx context.Context, upto uint64) error {
	r := f.run
	if upto <= r.Messages() {
		return nil
	}
	apply := func(b consolidate.MessageBatch) error {
		err := r.ApplyMessages(ctx, b)
		r.report()
		return err
	}
	if err := scanMessages(ctx, r.deps, r.rests, r.Messages(), upto, r.config.Batch, apply); err != nil {
		return err
	}
	rest := withErased(consolidate.MessageBatch{Last: upto}, r.rests.erasedUpto(upto, nil))
	if r.Messages() >= upto {
		return nil
	}
	return apply(rest)
}

// ahead applies the messages that banks are ahead of the position of all.
func (f *Follower) ahead(ctx context.Context, to memory.MessagePosition) error {
	r, last := f.run, to.Last()
	if last <= r.Messages() {
		return nil
	}
	var run []events.Event
	_, err := ordered.Scan(ctx, r.deps.Conn, r.deps.Conn.Naming.Messages(), nil, r.Messages(), func(e events.Event) error {
		if e.Seq > last {
			return ordered.ErrSkipRest
		}
		if e.Seq <= to.Of(e.Bank) {
			run = append(run, e)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read %s: %w", r.deps.Conn.Naming.Messages(), err)
	}
	run = r.deps.Shard.Own(r.deps.Conn.Naming, run)
	batch, err := consolidate.DecodeMessages(ctx, run, r.deps.Redactor, nil)
	if err != nil {
		return err
	}
	batch = withErased(batch, r.rests.erasedUpto(last, run))
	batch.To = &to
	err = r.ApplyMessages(ctx, batch)
	r.report()
	return err
}

// errAhead ends a scan at a write that rests on messages which are not applied yet.
var errAhead = errors.New("the write waits for messages")

// writes applies the writes up to where the other store is, and before the first that waits for messages which are not
// applied here. One that waits for messages which are not applied there either has its dead letter.
func (f *Follower) writes(ctx context.Context, at kv.Progress) error {
	r, stream := f.run, f.run.deps.Conn.Naming.Writes()
	if at.Write <= r.Writes {
		return nil
	}
	_, err := ordered.Scan(ctx, r.deps.Conn, stream, nil, r.Writes, func(e events.Event) error {
		if e.Seq > at.Write {
			return ordered.ErrSkipRest
		}
		e = r.own(e)
		w, err := e.Write()
		switch {
		case err == nil && w.Upto > at.Messages.Of(e.Bank):
			e.Data = nil
		case err == nil && w.Upto > r.MessagesOf(e.Bank):
			return errAhead
		}
		return r.add(ctx, e)
	})
	if err != nil && !errors.Is(err, errAhead) {
		return fmt.Errorf("follow %s: %w", stream, err)
	}
	if err != nil {
		return r.flush(ctx)
	}
	if err := r.addRests(ctx, at.Write); err != nil || at.Write <= r.Writes {
		return err
	}
	return r.ApplyWrites(ctx, []consolidate.Write{{Event: events.Event{Seq: at.Write}}}) // events of other subjects end the stream
}

// stored makes sure that the streams are known to reach where the other store is: a leader of a cluster that wakes tells an
// end that it knew once.
func (f *Follower) stored(ctx context.Context, at kv.Progress) error {
	conn := f.run.deps.Conn
	for _, s := range []struct {
		name string
		last uint64
	}{{conn.Naming.Messages(), at.Messages.Last()}, {conn.Naming.Writes(), at.Write}} {
		end, err := conn.EndOf(ctx, s.name, s.last)
		if err != nil {
			return err
		}
		if end < s.last {
			return fmt.Errorf("stream %s ends at %d, and the store has applied %d: %w", s.name, end, s.last, memory.ErrConflict)
		}
	}
	return nil
}
