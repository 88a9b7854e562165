package consolidate

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/deadletter"
	"github.com/eunoe-memory/eunoe/pkg/events/kv"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// loop is the one goroutine that changes the store. Messages go first, because they are to be recallable at once; a
// write waits until the messages it rests on are applied.
type loop struct {
	*Applier
	config Config

	batches   chan MessageBatch // of banks that are not held
	held      chan MessageBatch // of held ones
	writes    chan []decodedWrite
	committed chan struct{} // signalled after a commit
	erasures  chan struct{} // signalled after a commit, which may have queued erasures
	replacing <-chan replacement

	applied atomic.Pointer[kv.Progress] // for other goroutines
	untold  chan struct{}               // signalled after a change of applied
	open    atomic.Int64                // messages that were read ahead and are not applied
	waiting []Write                     // read and not yet applied, in order
	idle    idlePosition                // of writes
	later   time.Duration               // for how long it still waits
	batch   batchSize
	looked  time.Time    // when the store was last asked where it stands
	again   *time.Ticker // wakes the loop to ask again; of run
}

func newLoop(a *Applier, cfg Config) *loop {
	l := &loop{Applier: a, config: cfg, batches: make(chan MessageBatch), held: make(chan MessageBatch), writes: make(chan []decodedWrite),
		committed: make(chan struct{}, 1), erasures: make(chan struct{}, 1), untold: make(chan struct{}, 1)}
	l.progressed()
	return l
}

// progressed makes known how far the store is.
func (l *loop) progressed() {
	p := kv.Progress{Write: l.Writes, Messages: l.messages}
	if !l.deps.Shard.Alone() {
		p.Shards = l.deps.Shard.Of
	}
	l.applied.Store(&p)
	signal(l.untold)
}

// How often it is told how far the writes are applied: at once after a commit, but for a pause between two, and often enough
// that the record lives.
const (
	tellAfter = 10 * time.Millisecond
	tellAgain = events.LeaseTTL / 4
)

// tell tells those who append how far the store is, until ctx ends. Where nothing is applied it seldom wakes the process.
func (l *loop) tell(ctx context.Context) {
	record := kv.OpenApplied(l.deps.Conn, l.deps.Shard)
	again := time.NewTicker(tellAgain)
	defer again.Stop()
	for {
		telling, cancel := context.WithTimeout(ctx, tellAgain) // then there is news to tell
		if err := record.Put(telling, *l.applied.Load()); err != nil {
			signal(l.untold)
		}
		cancel()
		if !events.Sleep(ctx, tellAfter) {
			return
		}
		select {
		case <-l.untold:
		case <-again.C:
		case <-ctx.Done():
			return
		}
	}
}

// run applies until ctx ends or the store belongs to another owner.
func (l *loop) run(ctx context.Context) error {
	signal(l.committed) // an earlier owner may have left changes and erasures behind
	signal(l.erasures)
	first := newMessagesFirst(time.Now())
	l.looked, l.again = time.Now(), time.NewTicker(lookEvery)
	defer l.again.Stop()
	for ctx.Err() == nil {
		if err := l.look(ctx); err != nil {
			return err
		}
		select { // messages without end must not keep writes from being seen
		case run := <-l.writesWanted():
			if err := l.take(ctx, run); err != nil {
				return err
			}
		case r := <-l.replacing:
			if err := l.replace(r); err != nil {
				return err
			}
		default:
		}
		ready, now := l.ready(), time.Now()
		if b, ok := l.nextMessages(ready == 0 || first.allows(now), ready == 0 || first.allowsHeld(now)); ok {
			if err := l.applyMessages(ctx, b); err != nil {
				return err
			}
			first.applied(b.held)
			continue
		}
		err := error(nil)
		if ready > 0 {
			err = l.applyWrites(ctx, ready)
		} else {
			err = l.receive(ctx)
		}
		if err != nil {
			return err
		}
		first = newMessagesFirst(time.Now())
	}
	return ctx.Err()
}

// writesWanted returns where writes are received from: nowhere while many wait.
func (l *loop) writesWanted() chan []decodedWrite {
	if len(l.waiting) >= 4*l.config.Batch {
		return nil
	}
	return l.writes
}

// receive waits for a batch of either stream.
func (l *loop) receive(ctx context.Context) error {
	if err := l.skipErased(ctx); err != nil {
		return err
	}
	select {
	case b := <-l.batches:
		return l.applyMessages(ctx, b)
	case b := <-l.held:
		return l.applyMessages(ctx, b)
	case run := <-l.writesWanted():
		return l.take(ctx, run)
	case r := <-l.replacing:
		return l.replace(r)
	case <-l.again.C:
		return nil
	case <-after(l.later):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// take adds writes that were read to those that wait.
func (l *loop) take(ctx context.Context, run []decodedWrite) error {
	for _, d := range run {
		w, err := l.admit(ctx, d)
		if err != nil {
			return err
		}
		if n := len(l.waiting); n > 0 && w.Write == nil && l.waiting[n-1].Write == nil {
			l.waiting[n-1] = w // all that they change is the position
			continue
		}
		l.waiting = append(l.waiting, w)
	}
	return nil
}

// ready counts the writes at the front whose messages are applied, up to the size of the next transaction. Those of other
// shards alone are ready later.
func (l *loop) ready() int {
	only := len(l.waiting) == 1 && l.waiting[0].Write == nil && l.waiting[0].Event.Elsewhere()
	if l.later = l.idle.wait(only, time.Now()); l.later > 0 {
		return 0
	}
	n, most := 0, min(l.config.Batch, l.batch.next())
	for n < len(l.waiting) && n < most && upto(l.waiting[n]) <= l.MessagesOf(l.waiting[n].Event.Bank) {
		n++
	}
	return n
}

// upto is the message that a write waits for, 0 for none.
func upto(w Write) uint64 {
	if w.Write == nil {
		return 0
	}
	return w.Write.Upto
}

// admit returns a write that can be applied, now or later. One that could not be decoded, or that waits for a message
// the log does not have, is recorded dead.
func (l *loop) admit(ctx context.Context, d decodedWrite) (Write, error) {
	cause := d.err
	if cause == nil && upto(d.Write) > l.MessagesOf(d.Event.Bank) {
		var end uint64
		if err := l.retry.Do(ctx, "reading the end of the log", func() (err error) {
			end, err = l.deps.Conn.EndOf(ctx, l.deps.Conn.Naming.Messages(), d.Write.Write.Upto)
			return err
		}); err != nil {
			return d.Write, err
		}
		if d.Write.Write.Upto > end {
			cause = memory.Invalid("upto", "is %d; the log of messages ends at %d", d.Write.Write.Upto, end)
		}
	}
	if cause == nil {
		return d.Write, nil
	}
	return Write{Event: d.Event}, l.bury(ctx, d.Event, cause)
}

// bury records an event dead; it returns once the broker has acknowledged that.
func (l *loop) bury(ctx context.Context, e events.Event, cause error) error {
	l.deps.Log.Error().Ctx(l.deps.Conn.Traced(ctx, e)).Err(cause).Str("stage", Stage).Uint64("seq", e.Seq).Str("bank", e.BankToken).Msg("dead write")
	l.metrics.dead.Inc()
	return l.retry.Do(ctx, "publishing a dead letter", func() error {
		return deadletter.Publish(ctx, l.deps.Conn, deadletter.New(Stage, e, cause, l.deps.Now()))
	})
}

func (l *loop) applyMessages(ctx context.Context, b MessageBatch) error {
	began := time.Now()
	if err := l.ApplyMessages(ctx, b); err != nil {
		return err
	}
	l.batch.stored(time.Since(began), time.Now(), b.held)
	l.open.Add(-int64(b.taken))
	l.progressed()
	signal(l.committed)
	signal(l.erasures)
	return nil
}

// applyWrites applies the first n waiting writes in one transaction. If one of them can never be applied, they go one
// by one and that one is recorded dead.
func (l *loop) applyWrites(ctx context.Context, n int) error {
	run, began := l.waiting[:n], time.Now()
	err := l.ApplyWrites(ctx, run)
	switch {
	case err == nil:
		l.batch.wrote(n, time.Since(began), time.Now())
	case errors.Is(err, memory.ErrInvalid):
		err = l.applySingly(ctx, run)
	}
	if err != nil {
		return err
	}
	l.progressed()
	clear(run)                                        // the queue's array must not keep what was applied in memory
	l.waiting, l.idle = l.waiting[n:], idlePosition{} // those that come now wait from now on
	signal(l.committed)
	signal(l.erasures)
	return nil
}

func (l *loop) applySingly(ctx context.Context, run []Write) error {
	for i := range run {
		began := time.Now()
		err := l.ApplyWrites(ctx, run[i:i+1])
		if errors.Is(err, memory.ErrInvalid) {
			if err := l.bury(ctx, run[i].Event, err); err != nil {
				return err
			}
			run[i].Write = nil
			err = l.ApplyWrites(ctx, run[i:i+1])
		}
		if err != nil {
			return err
		}
		l.batch.wrote(1, time.Since(began), time.Now())
	}
	return nil
}

// signal wakes the goroutine that waits on c, without waiting for it.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
