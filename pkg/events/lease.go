package events

import (
	"context"
	"errors"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// A lease is renewed each leaseRenew; its holder stops leaseMargin before the
// broker would give it to another, so that clocks need not agree.
const (
	leaseRenew  = LeaseTTL / 6
	leaseMargin = LeaseTTL / 5
)

// lease is a key of the lease bucket that this process holds.
type lease struct {
	bucket  Bucket
	record  Record
	renewed time.Time // when the last renewal that succeeded was asked for
}

// acquire tries to take a lease once; nil when another holds it.
func (c *Conn) acquire(ctx context.Context, key, owner string) (*lease, error) {
	l := &lease{bucket: c.Bucket(c.Naming.LeaseBucket()), record: Record{Key: key, Value: []byte(owner)}}
	err := l.renew(ctx)
	if !errors.Is(err, memory.ErrConflict) {
		return l.orNil(err)
	}
	r, err := l.bucket.Get(ctx, key)
	if err != nil || r.Value != nil {
		return nil, err
	}
	l.record.Revision = r.Revision // given back, or gone meanwhile
	if err = l.renew(ctx); errors.Is(err, memory.ErrConflict) {
		return nil, nil
	}
	return l.orNil(err)
}

func (l *lease) orNil(err error) (*lease, error) {
	if err != nil {
		return nil, err
	}
	return l, nil
}

// renew prolongs the lease by LeaseTTL. memory.ErrConflict: it is lost.
func (l *lease) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, leaseRenew)
	defer cancel()
	asked := time.Now()
	rev, err := l.bucket.Put(ctx, l.record)
	if err != nil {
		return err
	}
	l.record.Revision, l.renewed = rev, asked
	return nil
}

// over reports that the lease may have run out.
func (l *lease) over() bool { return time.Since(l.renewed) > LeaseTTL-leaseMargin }

// release gives the lease to whoever is next, at once.
func (l *lease) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = l.bucket.Delete(ctx, l.record) // if it fails, the lease runs out
}

// keep renews the lease until ctx ends or it is lost; it reports whether it is
// still held.
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
		if errors.Is(err, memory.ErrConflict) || l.over() {
			return false
		}
	}
}

// Hold waits for the lease of key, runs run while it is held, and gives it
// back. owner is this process, unlike any other's name. run's context ends when
// the lease is lost or ctx ends; it must return soon then. A run that ends by a
// lost lease, by memory.ErrConflict (another owner was at work) or by
// memory.ErrUnavailable stands by again; any other end is Hold's: nil or its
// error. Hold returns nil when ctx ends. At most one run of a key is meant to
// be alive, but only the store's fence makes sure of it.
func (c *Conn) Hold(ctx context.Context, key, owner string, run func(context.Context) error) error {
	waits := Backoff{Min: 100 * time.Millisecond, Max: 2 * time.Second}.start()
	for ctx.Err() == nil {
		l, err := c.acquire(ctx, key, owner)
		if err != nil || l == nil {
			if err != nil && ctx.Err() == nil {
				c.Log.Warn().Err(err).Str("lease", key).Msg("waiting for a lease")
			}
			wait(ctx, leaseRenew/4)
			continue
		}
		held, err := l.run(ctx, run)
		switch {
		case ctx.Err() != nil:
			if err != nil && !errors.Is(err, context.Canceled) {
				return err
			}
			return nil
		case !held, errors.Is(err, memory.ErrConflict), errors.Is(err, memory.ErrUnavailable):
			c.Log.Warn().Err(err).Str("lease", key).Bool("held", held).Msg("standing by")
			wait(ctx, waits.NextBackOff())
		default:
			return err
		}
	}
	return nil
}

// run runs f while the lease is kept, and releases it.
func (l *lease) run(ctx context.Context, f func(context.Context) error) (held bool, err error) {
	working, stop := context.WithCancel(ctx)
	keeping, leave := context.WithCancel(context.WithoutCancel(ctx))
	defer leave()
	kept := make(chan bool, 1)
	go func() {
		k := l.keep(keeping) // while f stops, too
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
