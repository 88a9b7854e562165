package rebuild

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// readAhead is how many batches of messages are decoded before they are applied.
const readAhead = 4

// messageFeed reads the messages of the log in order, ahead of the rebuild.
type messageFeed struct {
	batches chan consolidate.MessageBatch
	err     error  // set before batches is closed
	end     uint64 // last sequence of the stream when the feed began
}

// feedMessages reads MEM_MESSAGES after a sequence to its end, or until ctx ends.
func feedMessages(ctx context.Context, deps consolidate.Deps, erased *rests, after uint64, batch int) (*messageFeed, error) {
	end, err := deps.Conn.LastSeq(ctx, deps.Conn.Naming.Messages())
	if err != nil {
		return nil, err
	}
	f := &messageFeed{batches: make(chan consolidate.MessageBatch, readAhead), end: end}
	go func() {
		defer close(f.batches)
		f.err = scanMessages(ctx, deps, erased, after, 0, batch, func(b consolidate.MessageBatch) error {
			select {
			case f.batches <- b:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	return f, nil
}

// scanMessages calls fn with the messages after a sequence, in batches, up to a sequence or, with 0, to the end. Erased
// messages that lie between are among them.
func scanMessages(ctx context.Context, deps consolidate.Deps, erased *rests, after, upto uint64, size int, fn func(consolidate.MessageBatch) error) error {
	stream := deps.Conn.Naming.Messages()
	var batch []events.Event
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		batch = deps.Shard.Own(deps.Conn.Naming, batch)
		decoded, err := consolidate.DecodeMessages(ctx, batch, deps.Redactor, nil)
		if err != nil {
			return err
		}
		decoded = withErased(decoded, erased.erasedUpto(decoded.Last, batch))
		batch = nil
		return fn(decoded)
	}
	_, err := ordered.Scan(ctx, deps.Conn, stream, nil, after, func(e events.Event) error {
		if upto > 0 && e.Seq > upto {
			return ordered.ErrSkipRest
		}
		if batch = append(batch, e); len(batch) < size {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	if err == nil && upto == 0 { // the last messages of the log may be erased
		if rest := withErased(consolidate.MessageBatch{}, erased.erasedUpto(math.MaxInt64, nil)); len(rest.Kept) > 0 {
			err = fn(rest)
		}
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", stream, err)
	}
	return nil
}

// applyMessagesUpto applies the messages up to a sequence, which need not exist any more, and those behind it that were
// read with them: no write minds which messages are stored already, and transactions stay few.
func (r *run) applyMessagesUpto(ctx context.Context, upto uint64) error {
	if upto <= r.Messages() {
		return nil
	}
	apply := func(b consolidate.MessageBatch) error {
		err := r.ApplyMessages(ctx, withoutAhead(b, r.Position()))
		r.report()
		return err
	}
	for r.feed != nil && r.Messages() < upto {
		b, more := <-r.feed.batches
		if !more {
			if r.feed.err != nil {
				return r.feed.err
			}
			break
		}
		if err := apply(b); err != nil {
			return err
		}
	}
	if r.feed == nil || upto > r.feed.end { // messages that came after the rebuild began
		if err := scanMessages(ctx, r.deps, r.rests, r.Messages(), upto, r.config.Batch, apply); err != nil {
			return err
		}
	}
	if r.Messages() >= upto {
		return nil
	}
	return r.SkipMessages(ctx, upto)
}

// withoutAhead leaves out of a batch what a store has applied ahead of the position of all banks, and keeps what is noted of
// it for as long as it matters.
func withoutAhead(b consolidate.MessageBatch, from memory.MessagePosition) consolidate.MessageBatch {
	if from.Ahead <= from.Seq && len(from.Held) == 0 {
		return b
	}
	b.Kept = slices.DeleteFunc(b.Kept, func(m consolidate.MessageEvent) bool { return m.Seq <= from.Of(m.Bank) })
	to := memory.MessagePosition{Seq: b.Last}
	if from.Last() > b.Last {
		to.Ahead, to.Held = from.Ahead, map[memory.BankID]uint64{}
		for bank, seq := range from.Held {
			to.Held[bank] = max(seq, b.Last)
		}
	}
	b.To = &to
	return b
}
