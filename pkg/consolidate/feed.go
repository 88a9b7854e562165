package consolidate

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/retry"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// feed reads the messages of the log ahead and hands them on, decoded, in the order in which they are applied.
type feed struct {
	deps  Deps
	batch int
	retry retry.Policy
	queue *messageQueue
	read  chan []events.Event
	to    chan<- MessageBatch
	held  chan<- MessageBatch // where those of held banks go
	open  *atomic.Int64       // events that were read and not applied; whoever applies a batch takes it off
}

// run feeds until ctx ends, or reading fails for good.
func (f *feed) run(ctx context.Context, cfg ordered.Config) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		return ordered.Read(ctx, f.deps.Conn, cfg, func(ctx context.Context, run []events.Event) error {
			run = f.deps.Shard.Own(f.deps.Conn.Naming, run)
			f.open.Add(int64(len(run)))
			if err := hand(ctx, f.read, run); err != nil {
				f.open.Add(-int64(len(run)))
				return err
			}
			return nil
		})
	})
	group.Go(func() error { return f.decode(ctx, group) })
	return group.Wait()
}

// long is a run of a held bank that is being decoded, or is decoded: what others send in the meantime goes before it.
type long struct {
	bank  memory.BankID
	n     int
	ready chan struct{} // closed when it is decoded
	batch MessageBatch
}

// decode hands on what the queue says, and decodes the long messages of a held bank while others are applied.
func (f *feed) decode(ctx context.Context, group *errgroup.Group) error {
	var next *MessageBatch // of others
	var held *long
	at := f.queue.began
	var idle idlePosition
	for {
		wait := idle.wait(next == nil && f.queue.elsewhere(), time.Now())
		if next == nil && wait == 0 {
			if run := f.queue.takeOthers(f.batch, held != nil && held.decoded()); len(run) > 0 {
				var err error
				if next, err = f.decoded(ctx, run); err != nil {
					return err
				}
			}
		}
		if held == nil {
			held = f.decodeHeld(ctx, group)
		}
		var ready chan struct{}
		var offered *MessageBatch
		apply := f.to
		to := f.queue.position()
		switch {
		case next != nil:
			offered = next
		case held != nil && held.decoded():
			offered, apply, to = &held.batch, f.held, f.queue.after(held.bank, held.n)
		case held != nil:
			ready = held.ready
		case wait == 0 && !to.Equal(at): // an earlier owner has applied all that was read
			offered = &MessageBatch{}
		}
		read, batch := f.read, MessageBatch{}
		if f.queue.full() {
			read = nil
		}
		if offered == nil {
			apply = nil
		} else {
			batch = *offered
			batch.To = &to
		}
		select {
		case run := <-read:
			before := f.queue.waiting()
			f.queue.add(run)
			f.open.Add(int64(f.queue.waiting() - before - len(run))) // what an earlier owner has applied
		case apply <- batch:
			switch at = to; {
			case next != nil:
				next = nil
			case held != nil && offered == &held.batch:
				f.queue.takeHeld(held.bank, held.n)
				held = nil
			}
		case <-ready:
		case <-after(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// decodeHeld begins to decode what a held bank applies next; nil where none waits.
func (f *feed) decodeHeld(ctx context.Context, group *errgroup.Group) *long {
	bank, run := f.queue.peekHeld(f.batch)
	if len(run) == 0 {
		return nil
	}
	l := &long{bank: bank, n: len(run), ready: make(chan struct{})}
	group.Go(func() error {
		batch, err := f.decoded(ctx, run)
		if err == nil {
			l.batch = *batch
			l.batch.held = true
			close(l.ready)
		}
		return err
	})
	return l
}

func (l *long) decoded() bool {
	select {
	case <-l.ready:
		return true
	default:
		return false
	}
}

// decoded decodes events that were taken.
func (f *feed) decoded(ctx context.Context, taken []held) (*MessageBatch, error) {
	run, err := f.whole(ctx, taken)
	if err != nil {
		return nil, err
	}
	out, err := DecodeMessages(ctx, run, f.deps.Redactor, f.deps.Long)
	out.taken = len(taken)
	return &out, err
}

// whole returns events with their bodies. One that the log no longer holds was erased, and is left out.
func (f *feed) whole(ctx context.Context, taken []held) ([]events.Event, error) {
	out := make([]events.Event, 0, len(taken))
	for _, h := range taken {
		if !h.dropped {
			out = append(out, h.Event)
			continue
		}
		gone := false
		err := f.retry.Do(ctx, "reading a message again", func() (err error) {
			h.Event, err = f.deps.Conn.EventAt(ctx, f.deps.Conn.Naming.Messages(), h.Seq)
			if gone = errors.Is(err, memory.ErrNotFound); gone {
				err = nil
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if !gone {
			out = append(out, h.Event)
		}
	}
	return out, nil
}
