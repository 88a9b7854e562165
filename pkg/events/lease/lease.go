// Package lease decides which process owns what. A lease is a key in a bucket whose records live events.LeaseTTL; its
// owner renews it.
//
// Hold runs a function in one process at a time, Share spreads numbered parts over the processes of a group. A lease
// keeps two owners from doing the same work; it can be lost unnoticed, so correctness rests on expected revisions and
// on the fence of the store. An owner that cannot reach the broker therefore goes on: of a cluster without a leader nobody
// else can take the lease. When the broker is back, owners renew first: others wait for leaseGrace.
package lease

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/kv"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

const (
	leaseRenew = events.LeaseTTL / 6 // how often a lease is renewed
	leaseGrace = 4 * leaseRenew      // how long free leases are left to their owners once an unreachable broker answers again
	answerTime = 2 * leaseRenew      // how long the broker may take to answer; a lease outlives a broker that is away for less
)

// lease is a key of the bucket that this process holds.
type lease struct {
	bucket kv.Bucket
	record kv.Record
}

// acquire tries once to take a lease over a revision: 0, or that of an owner that is gone. It returns nil if another
// process holds it.
func acquire(ctx context.Context, c *events.Conn, key, owner string, over uint64) (*lease, error) {
	l := &lease{bucket: kv.Open(c, c.Naming.LeaseBucket()), record: kv.Record{Key: key, Value: []byte(owner), Revision: over}}
	err := l.renew(ctx)
	if errors.Is(err, memory.ErrConflict) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}

// Holder returns the owner of a lease, "" if nobody holds it.
func Holder(ctx context.Context, c *events.Conn, key string) (owner string, err error) {
	r, err := read(ctx, c, key)
	return string(r.Value), err
}

func read(ctx context.Context, c *events.Conn, key string) (kv.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	return kv.Open(c, c.Naming.LeaseBucket()).Get(ctx, key)
}

// renew extends the lease by events.LeaseTTL, or takes it where nobody holds it: an election of the broker may last longer
// than it lives. The error is memory.ErrConflict if another process holds it.
func (l *lease) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	rev, err := l.bucket.Put(ctx, l.record)
	if errors.Is(err, memory.ErrConflict) {
		rev, err = l.retake(ctx, err)
	}
	if err == nil {
		l.record.Revision = rev
	}
	return err
}

// retake writes the record over what another revision left behind; conflict is returned where that is somebody's lease.
func (l *lease) retake(ctx context.Context, conflict error) (uint64, error) {
	now, err := l.bucket.Get(ctx, l.record.Key)
	if err != nil {
		return 0, err
	}
	// One with this owner's name was written by a renewal whose acknowledgement was lost.
	if now.Value != nil && !bytes.Equal(now.Value, l.record.Value) {
		return 0, conflict
	}
	now.Value = l.record.Value
	return l.bucket.Put(ctx, now)
}

// release ends the lease, so that the next process can take it at once.
func (l *lease) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = l.bucket.Delete(ctx, l.record) // if it fails, the lease expires
}

// keep renews the lease until ctx ends or another process holds it, and reports whether it is still held.
func (l *lease) keep(ctx context.Context) bool {
	t := time.NewTicker(leaseRenew)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return true
		case <-t.C:
		}
		err := l.renew(ctx)
		if ctx.Err() != nil {
			return true
		}
		if errors.Is(err, memory.ErrConflict) {
			return false
		}
	}
}

// Hold waits for the lease of key, calls run while it holds the lease, and releases it. owner is a name that no other
// process has. The context of run ends when another process has the lease or ctx ends; run must then return soon. If the lease
// was lost or run returned memory.ErrConflict (another owner is active) or memory.ErrUnavailable, Hold waits for the lease
// again; otherwise it returns what run returned. It returns nil when ctx ends. Only the fence of the store guarantees
// that one run is active.
func Hold(ctx context.Context, c *events.Conn, key, owner string, run func(context.Context) error) error {
	waits := events.Backoff{Min: 100 * time.Millisecond, Max: 2 * time.Second}.Intervals()
	stop, err := answer(c, owner)
	if err != nil {
		return err
	}
	defer stop()
	w, away := newWitness(c), false // the broker did not answer the last question
	for ctx.Err() == nil {
		l, err := await(ctx, w, key, owner, &away)
		if l == nil {
			if err != nil && ctx.Err() == nil {
				c.Log.Warn().Err(err).Str("lease", key).Msg("waiting for a lease")
			}
			continue
		}
		held, err := l.run(ctx, run)
		standby := !held || errors.Is(err, memory.ErrConflict) || errors.Is(err, memory.ErrUnavailable)
		switch {
		case ctx.Err() != nil:
			if err != nil && !standby && !errors.Is(err, context.Canceled) {
				return err
			}
			return nil
		case standby:
			c.Log.Warn().Err(err).Str("lease", key).Bool("held", held).Msg("standing by")
			events.Sleep(ctx, waits.NextBackOff())
		default:
			return err
		}
	}
	return nil
}

// await looks once whether the lease is free and takes it, or waits a little. It only writes after it has read: what a
// client sends while it is not connected reaches the broker later, before the owner can renew. After an answer that
// failed to come, or came over another connection, it leaves the lease to its owner for leaseGrace.
func await(ctx context.Context, w *witness, key, owner string, away *bool) (*lease, error) {
	c := w.conn
	connected, reconnects := c.NC.IsConnected(), c.NC.Stats().Reconnects
	held, err := read(ctx, c, key)
	holder := string(held.Value)
	*away = *away || !connected || c.NC.Stats().Reconnects != reconnects
	switch {
	case err != nil:
		*away = true
		events.Sleep(ctx, leaseRenew)
		return nil, err
	case *away:
		*away = false
		w.restart()
		events.Sleep(ctx, leaseGrace)
		return nil, nil
	case holder != "" && holder != owner && !w.gone(ctx, holder):
		events.Sleep(ctx, leaseRenew/4)
		return nil, nil
	}
	l, err := acquire(ctx, c, key, owner, held.Revision)
	*away = err != nil
	return l, err
}

// run calls f while it renews the lease, and then releases it.
func (l *lease) run(ctx context.Context, f func(context.Context) error) (held bool, err error) {
	working, stop := context.WithCancel(ctx)
	keeping, leave := context.WithCancel(context.WithoutCancel(ctx))
	defer leave()
	kept := make(chan bool, 1)
	go func() {
		k := l.keep(keeping) // until f has returned
		stop()
		kept <- k
	}()
	err = f(working)
	stop()
	leave()
	if held = <-kept; held {
		l.release(ctx)
	}
	return held, err
}
