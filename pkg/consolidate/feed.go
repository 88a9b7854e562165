package consolidate

import (
	"context"
	"errors"
	"sync/atomic"

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
	open  *atomic.Int64 // events that were read and not applied; whoever applies a batch takes it off
}

// run feeds until ctx ends, or reading fails for good.
func (f *feed) run(ctx context.Context, cfg ordered.Config) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		return ordered.Read(ctx, f.deps.Conn, cfg, func(ctx context.Context, run []events.Event) error {
			f.open.Add(int64(len(run)))
			if err := hand(ctx, f.read, run); err != nil {
				f.open.Add(-int64(len(run)))
				return err
			}
			return nil
		})
	})
	group.Go(func() error { return f.decode(ctx) })
	return group.Wait()
}

// decode takes batches from the queue and decodes one while another is applied.
func (f *feed) decode(ctx context.Context) error {
	var next *MessageBatch
	for {
		if next == nil {
			var err error
			if next, err = f.next(ctx); err != nil {
				return err
			}
		}
		read, to, batch := f.read, f.to, MessageBatch{}
		if f.queue.full() {
			read = nil
		}
		if next == nil {
			to = nil
		} else {
			batch = *next
		}
		select {
		case run := <-read:
			before := f.queue.waiting()
			f.queue.add(run)
			f.open.Add(int64(f.queue.waiting() - before - len(run))) // what an earlier owner has applied
		case to <- batch:
			next = nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// next takes what is applied next; nil where there is nothing.
func (f *feed) next(ctx context.Context) (*MessageBatch, error) {
	taken, position, ok := f.queue.take(f.batch)
	if !ok {
		return nil, nil //nolint:nilnil // there is nothing, which is no error
	}
	run, err := f.whole(ctx, taken)
	if err != nil {
		return nil, err
	}
	out := DecodeMessages(run, f.deps.Redactor)
	out.To, out.taken = &position, len(taken)
	return &out, nil
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
