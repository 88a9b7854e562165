package events

import (
	"context"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Appender appends writes to the log in the order of the calls. Writes that arrive while others are sent are collected
// and sent as one batch, so that a broker that syncs before it acknowledges does so once for all of them. It delays
// nothing: a single write takes as long as by AppendWrite. It is safe for concurrent use.
type Appender struct {
	conn *Conn

	mu      sync.Mutex
	waiting []*Appending
	busy    bool
}

// NewAppender returns an Appender. Nothing runs while it has no writes; it need not be closed.
func NewAppender(c *Conn) *Appender { return &Appender{conn: c} }

// Appending is a write that is being appended.
type Appending struct {
	msg  *nats.Msg
	op   string
	span telemetry.Span
	done chan struct{}

	seq    uint64
	stored bool
	err    error
}

// Append begins to append a write and returns at once. Wait returns the outcome.
func (a *Appender) Append(ctx context.Context, w memory.Write) *Appending {
	p := &Appending{op: w.Op, done: make(chan struct{})}
	if p.msg, p.err = a.conn.writeMsg(w); p.err != nil {
		close(p.done)
		return p
	}
	_, p.span = a.conn.beginAppend(ctx, w, p.msg)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waiting = append(a.waiting, p)
	if !a.busy {
		a.busy = true
		go a.run()
	}
	return p
}

// Wait returns what AppendNew returns. If ctx ends first, the write may still be appended; appending it again stores
// none twice.
func (p *Appending) Wait(ctx context.Context) (seq uint64, stored bool, err error) {
	select {
	case <-p.done:
		return p.seq, p.stored, p.err
	case <-ctx.Done():
		return 0, false, Classify(ctx.Err(), "append write %s", p.op)
	}
}

// run appends until no write waits.
func (a *Appender) run() {
	for {
		part := a.nextBatch()
		if len(part) == 0 {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), storeWithin)
		a.appendAll(ctx, part)
		cancel()
		for _, p := range part {
			p.span.At(p.seq).End(p.err)
			close(p.done)
		}
	}
}

// nextBatch removes up to one batch from the waiting writes. If there are none, the appender is no longer busy.
func (a *Appender) nextBatch() []*Appending {
	a.mu.Lock()
	defer a.mu.Unlock()
	n, bytes := 0, 0
	for n < len(a.waiting) && n < batchMessages && (n == 0 || bytes+a.waiting[n].msg.Size() <= batchBytes) {
		bytes += a.waiting[n].msg.Size()
		n++
	}
	part := a.waiting[:n:n]
	a.waiting = a.waiting[n:]
	a.busy = n > 0
	return part
}

func (a *Appender) appendAll(ctx context.Context, part []*Appending) {
	msgs := make([]*nats.Msg, len(part))
	for i, p := range part {
		msgs[i] = p.msg
	}
	if last, err := a.conn.publishBatch(ctx, msgs, batchAgain); err == nil {
		for i, p := range part {
			p.seq, p.stored = last-uint64(len(part)-1-i), true
		}
		return
	}
	for i, s := range a.conn.StoreEach(ctx, msgs) { // some may be stored already
		p := part[i]
		p.seq, p.stored, p.err = s.Seq, s.Err == nil && !s.Again, Classify(s.Err, "append write %s", p.op)
	}
}
