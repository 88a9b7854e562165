package verify

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// messageSample is how many message events are looked up in the log, spread over all of it, unless all are.
const messageSample = 500

// messages checks that the log still holds what the store was made from, so that it can be rebuilt; in full also that it
// holds no other message.
func (c *logCheck) messages(ctx context.Context, o Options) error {
	if o.Full {
		return c.everyMessage(ctx)
	}
	applied, _, err := c.store.Applied(ctx)
	if err != nil {
		return err
	}
	out := wire.Check{Rule: fmt.Sprintf("the log holds the messages of the store (%d of them looked up)", messageSample)}
	step := max(1, applied/messageSample)
	for after := uint64(0); after < applied; after += step {
		found, err := c.store.MessageEvents(ctx, after, 1)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			break
		}
		after = max(after, found[0].Seq-1)
		if err := c.lookUp(ctx, found[0], &out); err != nil {
			return err
		}
	}
	c.v.Add(out)
	return nil
}

// lookUp looks an event up in the log. If it is missing, the store is asked again: it may have been forgotten meanwhile.
func (c *logCheck) lookUp(ctx context.Context, k MessageEvent, out *wire.Check) error {
	if k.Forgotten {
		return nil
	}
	there, err := c.inLog(ctx, k)
	if err != nil || there {
		return err
	}
	again, err := c.store.MessageEvents(ctx, k.Seq-1, 1)
	if err != nil || len(again) == 0 || again[0] != k {
		return err
	}
	note(out, fmt.Sprint(k.Seq))
	return nil
}

// note counts a place where a rule is broken and names the first ones.
func note(c *wire.Check, where string) {
	const most = 5
	if c.Broken++; len(c.Where) < most {
		c.Where = append(c.Where, where)
	}
}

// everyMessage goes through the log and the store in parallel.
func (c *logCheck) everyMessage(ctx context.Context) error {
	applied, _, err := c.store.Applied(ctx)
	if err != nil {
		return err
	}
	lost := wire.Check{Rule: "the log holds every message of the store"}
	missed := wire.Check{Rule: "the store accounts for every message of the log"}
	walk := storeWalk{c: c}
	_, err = c.readAll(ctx, c.conn.Naming.Messages(), func(e events.Event) error {
		if e.Seq > applied || e.Kind != events.KindMessage || memory.IsForeign(e.Data) {
			return nil
		}
		k, found, err := walk.upto(ctx, e.Seq, &lost)
		if err != nil {
			return err
		}
		if e.Err == nil && (!found || k.Bank != e.Bank) {
			note(&missed, fmt.Sprint(e.Seq))
		}
		return nil
	})
	if err == nil {
		_, _, err = walk.upto(ctx, applied+1, &lost)
	}
	if err != nil {
		return err
	}
	c.v.Add(lost)
	c.v.Add(missed)
	return nil
}

// storeWalk returns the store's message events in order.
type storeWalk struct {
	c    *logCheck
	list []MessageEvent
	at   uint64 // last sequence asked for
	done bool
}

// upto goes on to a sequence and returns the store's event there. An event that it passes is not in the log; it is looked
// up once more before it is noted as lost.
func (w *storeWalk) upto(ctx context.Context, seq uint64, lost *wire.Check) (MessageEvent, bool, error) {
	for {
		for len(w.list) > 0 {
			k := w.list[0]
			if k.Seq > seq {
				return MessageEvent{}, false, nil
			}
			w.list = w.list[1:]
			if k.Seq == seq {
				return k, true, nil
			}
			if err := w.c.lookUp(ctx, k, lost); err != nil {
				return MessageEvent{}, false, err
			}
		}
		if w.done {
			return MessageEvent{}, false, nil
		}
		const page = 2000
		list, err := w.c.store.MessageEvents(ctx, w.at, page)
		if err != nil {
			return MessageEvent{}, false, err
		}
		w.list, w.done = list, len(list) < page
		if len(list) > 0 {
			w.at = list[len(list)-1].Seq
		}
	}
}

// stuckAfter is how long the first entry of a queue may stay the first.
const stuckAfter = 10 * time.Second

// queues checks that what commits left behind is being carried out: soon the first entry of a queue is another one, or
// none.
func (c *logCheck) queues(ctx context.Context, o Options) error {
	const rule = "changes are published and forgotten events erased"
	first, err := c.store.Queues(ctx)
	if err != nil {
		return err
	}
	out := wire.Check{Rule: rule}
	damaged := 0
	for _, q := range first {
		damaged += q.Damaged
	}
	if damaged > 0 {
		note(&out, fmt.Sprintf("%d forgotten events are damaged in the log: they cannot be erased, and their bytes stay on disk", damaged))
	}
	switch {
	case o.Stopped && damaged > 0:
		c.v.Add(out)
		return nil
	case o.Stopped:
		c.skip(rule, "nobody is at work on a stopped store; the consolidator goes on with it when it starts")
		return nil
	}
	now := first
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	patience := cmp.Or(o.Patience, stuckAfter)
	late := time.NewTimer(patience)
	defer late.Stop()
	for over := false; !over && stuck(first, now) != (Queues{}); {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-late.C:
			over = true
		case <-tick.C:
			if now, err = c.store.Queues(ctx); err != nil {
				return err
			}
		}
	}
	still := stuck(first, now)
	if still.Changes > 0 {
		note(&out, fmt.Sprintf("%d changes wait, and none went out in %s", still.Changes, patience))
	}
	if still.Erasures > 0 {
		note(&out, fmt.Sprintf("%d erasures wait, and none was carried out in %s", still.Erasures, patience))
	}
	c.v.Add(out)
	return nil
}

// stuck adds up the queues whose first entry is the same in two looks at all shards.
func stuck(first, now []Queues) (out Queues) {
	for i, q := range now[:min(len(first), len(now))] {
		if q.FirstChange != 0 && q.FirstChange == first[i].FirstChange {
			out.Changes += q.Changes
		}
		if q.FirstErasure != 0 && q.FirstErasure == first[i].FirstErasure {
			out.Erasures += q.Erasures
		}
	}
	return out
}
