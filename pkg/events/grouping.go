package events

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// grouping collects the batches of messages that are published while another one is under way on the connection, and
// sends them as one. A batch costs the broker the same syncs however many messages it holds.
type grouping struct {
	mu      sync.Mutex
	running bool
	waiting []*groupedBatch
	within  time.Duration // how long the broker may take to answer; 0 = StallWait
}

// groupedBatch is a batch that waits for its turn.
type groupedBatch struct {
	msgs []*nats.Msg
	done chan struct{} // closed once last and err are set
	last uint64
	err  error
}

// PublishGrouped stores messages of the stream of messages as one atomic batch, perhaps together with those of concurrent
// calls, and returns the sequence of the last; the others precede it directly. BatchRefused tells of an error whether they
// may be stored.
func (c *Conn) PublishGrouped(ctx context.Context, msgs []*nats.Msg) (last uint64, err error) {
	return c.grouped(ctx, &c.grouping, msgs)
}

// grouped stores messages of one stream as PublishGrouped does, g being that stream's.
func (c *Conn) grouped(ctx context.Context, g *grouping, msgs []*nats.Msg) (last uint64, err error) {
	b := &groupedBatch{msgs: msgs, done: make(chan struct{})}
	g.mu.Lock()
	g.waiting = append(g.waiting, b)
	if !g.running {
		g.running = true
		go c.runGroups(context.WithoutCancel(ctx), g)
	}
	g.mu.Unlock()
	select {
	case <-b.done:
		return b.last, b.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// runGroups publishes batches until none waits.
func (c *Conn) runGroups(ctx context.Context, g *grouping) {
	for {
		group := g.next()
		if group == nil {
			return
		}
		c.publishGroup(ctx, group, cmp.Or(g.within, StallWait))
	}
}

// next returns the batches at the front that fit into one, or nil where none waits; the runner then ends.
func (g *grouping) next() []*groupedBatch {
	g.mu.Lock()
	defer g.mu.Unlock()
	n, messages, bytes := 0, 0, 0
	for _, b := range g.waiting {
		messages += len(b.msgs)
		for _, m := range b.msgs {
			bytes += m.Size()
		}
		if n > 0 && (messages > batchMessages || bytes > batchBytes) {
			break
		}
		n++
	}
	group := g.waiting[:n:n]
	g.waiting = g.waiting[n:]
	g.running = n > 0
	if n == 0 {
		g.waiting = nil
		return nil
	}
	return group
}

// publishGroup stores batches as one. If the broker does not accept it, each is tried alone.
func (c *Conn) publishGroup(ctx context.Context, group []*groupedBatch, within time.Duration) {
	var all []*nats.Msg
	for _, b := range group {
		all = append(all, b.msgs...)
	}
	last, err := c.publishBatch(ctx, all, within)
	if errors.Is(err, errBatch) && len(group) > 1 {
		for _, b := range group {
			c.publishGroup(ctx, []*groupedBatch{b}, within)
		}
		return
	}
	first := last - uint64(len(all)-1)
	for _, b := range group {
		b.last, b.err = first+uint64(len(b.msgs)-1), err
		first += uint64(len(b.msgs))
		close(b.done)
	}
}
