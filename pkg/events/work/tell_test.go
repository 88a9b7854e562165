package work_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/work"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// TestWhatBecameOfAnEventIsToldAgain loses what the broker is told of an event that was handled, or that failed.
func TestWhatBecameOfAnEventIsToldAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		outcome error
		word    string
		calls   int64
	}{
		"an acknowledgement is lost":        {nil, "+ACK", 1},
		"that it is to come again, is lost": {errors.New("a bad answer"), "-NAK", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			other := natstest.Start(t)
			conn, wire := natstest.ConnectWire(t, other.NC.ConnectedUrl())
			natstest.PublishWindow(t, other, 1)
			var calls atomic.Int64
			begun, release := make(chan struct{}), make(chan struct{})
			goWork(t, conn, work.Config{AckWait: 10 * time.Minute, Backoff: events.Backoff{Min: time.Millisecond, Max: time.Millisecond}},
				func(context.Context, events.Event) error {
					if calls.Add(1) > 1 {
						return nil
					}
					close(begun)
					<-release
					return c.outcome
				})
			<-begun
			wire.Lose(true, false)
			close(release)
			natstest.Eventually(t, "the word that is lost", func() bool { return wire.Lost(c.word) })
			wire.Lose(false, false)
			natstest.Eventually(t, "an empty queue", func() bool { return pending(t, other) == 0 })
			if calls.Load() != c.calls {
				t.Errorf("handled %d times", calls.Load())
			}
		})
	}
}

// TestDeliveriesThatNobodyTriedMakeNoWaitLonger has an event delivered and given back many times before it fails.
func TestDeliveriesThatNobodyTriedMakeNoWaitLonger(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	natstest.PublishWindow(t, c, 1)
	cons, err := c.JS.CreateConsumer(t.Context(), c.Naming.Windows(), jetstream.ConsumerConfig{Durable: "extract", AckPolicy: jetstream.AckExplicitPolicy,
		AckWait: 30 * time.Second, MaxDeliver: -1, MaxAckPending: -1, MaxWaiting: 4096})
	if err != nil {
		t.Fatal(err)
	}
	const givenBack = 20
	for range givenBack {
		m, err := cons.Next()
		if err == nil {
			err = m.Nak()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var calls, attempt atomic.Int64
	goWork(t, c, work.Config{Backoff: events.Backoff{Min: time.Millisecond, Max: 10 * time.Minute}}, func(_ context.Context, e events.Event) error {
		attempt.Store(int64(e.Attempt))
		if calls.Add(1) < 3 {
			return work.RetryLater(memory.ErrUnavailable)
		}
		return nil
	})
	natstest.Eventually(t, "an empty queue", func() bool { return pending(t, c) == 0 })
	if calls.Load() != 3 || attempt.Load() != givenBack+3 {
		t.Errorf("handled %d times, by attempt %d", calls.Load(), attempt.Load())
	}
}
