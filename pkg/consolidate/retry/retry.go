// Package retry repeats an operation of the consolidator until it succeeds.
//
// The consolidator keeps the order of its streams, so it never steps over what failed: a store that is busy, or a
// broker that is away, is tried again in place, with pauses that double from 20 ms. Two errors end the attempts at
// once, because repeating cannot help: memory.ErrConflict (another owner writes the store) and memory.ErrInvalid (the
// event can never be applied).
package retry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Policy says how failures are repeated and reported. Its zero value repeats for ever and reports nothing.
type Policy struct {
	First   time.Duration      // pause after the first failure; 0 = 20 ms
	Longest time.Duration      // longest pause; 0 = 5 s
	GiveUp  time.Duration      // time after which the last error is returned; 0 = never
	Final   func(error) bool   // errors that end the attempts at once; nil = conflicts and invalid events
	Log     zerolog.Logger     // one warning a failure
	Stage   string             // stage named in the log
	Counter prometheus.Counter // failures that are repeated; nil = not counted
}

// Do calls f until it returns nil, ctx ends or the policy gives up. what names the operation in the log: "<what>
// failed; trying again". The error is f's last one, or that of ctx; both where f failed after ctx ended, for a driver
// that is stopped in the middle of a transaction says so in words of its own.
func (p Policy) Do(ctx context.Context, what string, f func() error) error {
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval, pauses.MaxInterval = orDefault(p.First, 20*time.Millisecond), orDefault(p.Longest, 5*time.Second)
	pauses.Multiplier, pauses.RandomizationFactor = 2, 0
	final := p.Final
	if final == nil {
		final = func(err error) bool { return errors.Is(err, memory.ErrConflict) || errors.Is(err, memory.ErrInvalid) }
	}
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := f()
		if err != nil && ctx.Err() != nil && !errors.Is(err, ctx.Err()) {
			err = fmt.Errorf("%w: %w", ctx.Err(), err)
		}
		if err != nil && (ctx.Err() != nil || final(err)) {
			return struct{}{}, backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(pauses), backoff.WithMaxElapsedTime(p.GiveUp), backoff.WithNotify(func(err error, _ time.Duration) {
		if p.Counter != nil {
			p.Counter.Inc()
		}
		p.Log.Warn().Err(err).Str("stage", p.Stage).Msg(what + " failed; trying again")
	}))
	return err
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d == 0 {
		return otherwise
	}
	return d
}
