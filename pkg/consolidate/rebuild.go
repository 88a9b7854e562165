package consolidate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Rebuild applies the whole log to an empty store: every write in order, each
// after the messages it waits for, then the messages that are left. It calls
// no model and publishes nothing; changes and erasures that applying leaves
// behind are dropped, for they were carried out when the events were new.
// progress, if not nil, is told the positions reached. The error is
// memory.ErrConflict where the store is not empty.
func (c *Consolidator) Rebuild(ctx context.Context, progress func(Progress)) error {
	r, err := c.newRebuilder(ctx, progress)
	if err != nil {
		return err
	}
	if err := r.all(ctx); err != nil {
		return err
	}
	return r.rest(ctx)
}

// rebuildPatience is how long a rebuild waits for what fails: a disk that is
// full stays full, and somebody waits for the end.
const rebuildPatience = 3 * time.Second

// rebuilder applies the log in batches as large as the live loop's.
type rebuilder struct {
	*applier
	early    *earlyVectors
	late     *late // embeds what has no vector; nil = nothing does
	feed     *messageFeed
	told     Progress
	progress func(Progress)
}

func (c *Consolidator) newRebuilder(ctx context.Context, progress func(Progress)) (*rebuilder, error) {
	messages, writes, err := c.deps.Store.Applied(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the applied positions: %w", err)
	}
	if messages != 0 || writes != 0 {
		return nil, fmt.Errorf("the store to rebuild into stands at message %d and write %d; it must be empty: %w", messages, writes, memory.ErrConflict)
	}
	own := *c
	own.patience = rebuildPatience
	r := &rebuilder{applier: newApplier(&own, 0, 0), progress: progress}
	if r.early, err = c.loadEarly(ctx); err != nil {
		return nil, err
	}
	r.told.LastWrite, err = c.deps.Conn.LastSeq(ctx, c.deps.Conn.Naming.Writes())
	return r, err
}

// all applies both streams from their beginning to the end they have by then.
func (r *rebuilder) all(ctx context.Context) error {
	feeding, stop := context.WithCancel(ctx)
	defer stop()
	var err error
	if r.feed, err = r.feedMessages(feeding); err != nil {
		return err
	}
	defer func() { r.feed = nil }()
	if err := r.writes(ctx); err != nil {
		return err
	}
	return r.messagesUpto(ctx, r.feed.end)
}

// writes applies the writes up to the end they have when it begins.
func (r *rebuilder) writes(ctx context.Context) error {
	names := r.deps.Conn.Naming
	end, err := r.deps.Conn.Scan(ctx, names.Writes(), nil, r.appliedWrites, func(e events.Event) error { return r.write(ctx, e) })
	if err != nil {
		return fmt.Errorf("rebuild from %s: %w", names.Writes(), err)
	}
	if err := r.flush(ctx); err != nil {
		return err
	}
	return r.moveTo(ctx, end)
}

// rest applies the messages that came meanwhile and drops what must not be carried out again.
func (r *rebuilder) rest(ctx context.Context) error {
	last, err := r.deps.Conn.LastSeq(ctx, r.deps.Conn.Naming.Messages())
	if err != nil {
		return err
	}
	if err := r.messagesUpto(ctx, last); err != nil {
		return err
	}
	return r.drop(ctx)
}

func (r *rebuilder) tell() {
	if r.progress != nil {
		r.told.Messages, r.told.Writes = r.appliedMessages, r.appliedWrites
		r.progress(r.told)
	}
}

func (r *rebuilder) write(ctx context.Context, e events.Event) error {
	w, err := e.Write()
	if err != nil {
		r.waiting = append(r.waiting, pendingWrite{event: e, dead: true}) // its dead letter is there
		return nil
	}
	if w.Upto > r.appliedMessages {
		if err := r.flush(ctx); err != nil {
			return err
		}
		if err := r.messagesUpto(ctx, w.Upto); err != nil {
			return err
		}
	}
	r.waiting = append(r.waiting, pendingWrite{event: e, write: w})
	if len(r.waiting) < r.config.Batch {
		return nil
	}
	return r.flush(ctx)
}

// flush applies the writes gathered so far.
func (r *rebuilder) flush(ctx context.Context) error {
	if len(r.waiting) == 0 {
		return nil
	}
	if r.late != nil {
		if err := r.embedWaiting(ctx); err != nil {
			return err
		}
	}
	for i := range r.waiting {
		if err := r.early.fill(ctx, &r.waiting[i].write); err != nil {
			return err
		}
	}
	err := r.applyRun(ctx, r.waiting)
	if errors.Is(err, memory.ErrInvalid) {
		err = r.singly(ctx)
	}
	r.waiting = r.waiting[:0]
	r.tell()
	return err
}

// singly applies the gathered writes one by one, over those that are dead.
func (r *rebuilder) singly(ctx context.Context) error {
	for i := range r.waiting {
		err := r.applyRun(ctx, r.waiting[i:i+1])
		if errors.Is(err, memory.ErrInvalid) {
			r.waiting[i].dead = true
			err = r.applyRun(ctx, r.waiting[i:i+1])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// moveTo sets the position of MEM_WRITES to the end that was scanned.
func (r *rebuilder) moveTo(ctx context.Context, end uint64) error {
	if end <= r.appliedWrites {
		return nil
	}
	return r.applyRun(ctx, []pendingWrite{{event: events.Event{Seq: end}, dead: true}})
}

// messagesUpto applies the messages up to a sequence, which need not exist any
// more, and those behind it that were read with them: no write minds which
// messages are stored already, and few transactions are made of many.
func (r *rebuilder) messagesUpto(ctx context.Context, upto uint64) error {
	if upto <= r.appliedMessages {
		return nil
	}
	for r.feed != nil && r.appliedMessages < upto {
		batch, more, err := r.feed.next()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if err := r.applyMessages(ctx, batch); err != nil {
			return err
		}
		r.tell()
	}
	if r.feed == nil || upto > r.feed.end { // what came after the rebuild began
		if err := r.scanMessages(ctx, upto); err != nil {
			return err
		}
	}
	if r.appliedMessages < upto {
		if err := r.deps.Store.ApplyMessages(ctx, r.appliedMessages, upto, nil); err != nil {
			return err
		}
		r.appliedMessages = upto
	}
	return nil
}

// scanMessages applies the messages up to a sequence with a reader of its own.
func (r *rebuilder) scanMessages(ctx context.Context, upto uint64) error {
	var batch []events.Event
	apply := func() error {
		if len(batch) == 0 {
			return nil
		}
		err := r.applyMessages(ctx, r.readMessages(batch))
		batch = nil
		return err
	}
	_, err := r.deps.Conn.Scan(ctx, r.deps.Conn.Naming.Messages(), nil, r.appliedMessages, func(e events.Event) error {
		if e.Seq > upto {
			return events.ErrEnough
		}
		if batch = append(batch, e); len(batch) < r.config.Batch {
			return nil
		}
		return apply()
	})
	if err != nil {
		return err
	}
	return apply()
}

// drop empties the outbox and the queue of erasures.
func (r *rebuilder) drop(ctx context.Context) error {
	for {
		entries, err := r.deps.Store.Outbox(ctx, 1000)
		if err != nil || len(entries) == 0 {
			break
		}
		if err := r.deps.Store.Sent(ctx, entries[len(entries)-1].No); err != nil {
			return err
		}
	}
	for {
		list, err := r.deps.Store.Erasures(ctx, 1000)
		if err != nil || len(list) == 0 {
			return err
		}
		if err := r.deps.Store.Erased(ctx, list[len(list)-1].No); err != nil {
			return err
		}
	}
}
