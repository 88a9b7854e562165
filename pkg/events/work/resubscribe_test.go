package work_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/work"
)

// working counts the events handled by a worker that checks its consumer without delay.
func working(t *testing.T, c *events.Conn) (handled *atomic.Int64, said *natstest.LogBuffer) {
	t.Helper()
	handled, said = new(atomic.Int64), new(natstest.LogBuffer)
	c.Log = zerolog.New(said)
	goWork(t, c, work.Config{StallAfter: 10 * time.Millisecond}, func(context.Context, events.Event) error {
		handled.Add(1)
		return nil
	})
	natstest.PublishWindow(t, c, 1)
	natstest.Eventually(t, "the first window", func() bool { return handled.Load() == 1 })
	return handled, said
}

// meddle changes the workers' consumer without their knowledge.
func meddle(t *testing.T, c *events.Conn, change func(*jetstream.ConsumerConfig)) {
	t.Helper()
	cons, err := c.JS.Consumer(t.Context(), c.Naming.Windows(), "extract")
	if err != nil {
		t.Fatal(err)
	}
	cfg := cons.CachedInfo().Config
	change(&cfg)
	if _, err := c.JS.UpdateConsumer(t.Context(), c.Naming.Windows(), cfg); err != nil {
		t.Fatal(err)
	}
}

func TestWorkGoesOn(t *testing.T) {
	t.Parallel()

	t.Run("when its consumer is paused with events pending", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		handled, said := working(t, c)
		if _, err := c.JS.PauseConsumer(t.Context(), c.Naming.Windows(), "extract", time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		natstest.PublishWindow(t, c, 2)
		natstest.Eventually(t, "the window behind the pause", func() bool { return handled.Load() == 2 })
		if n := natstest.Resubscriptions(c, c.Naming.Windows(), "drifted"); n == 0 || !said.Contains("paused until") || !said.Contains("taking work from a new subscription") {
			t.Errorf("%d renewals; the log: %s", n, said.String())
		}
		if problems, err := testutil.CollectAndLint(events.NewMetrics(c)); err != nil || len(problems) > 0 {
			t.Errorf("%v, %v", problems, err)
		}
		if n := testutil.CollectAndCount(events.NewMetrics(c), "eunoe_broker_renewals_total"); n == 0 {
			t.Error("no metric counts it")
		}
	})

	t.Run("when its consumer is deleted", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		handled, _ := working(t, c)
		natstest.Eventually(t, "an empty queue", func() bool { return pending(t, c) == 0 })
		if err := c.JS.DeleteConsumer(t.Context(), c.Naming.Windows(), "extract"); err != nil {
			t.Fatal(err)
		}
		natstest.PublishWindow(t, c, 2)
		natstest.Eventually(t, "the window after it", func() bool { return handled.Load() == 2 })
		if natstest.Resubscriptions(c, c.Naming.Windows(), "lost") == 0 {
			t.Errorf("counted %+v", c.Resubscriptions())
		}
	})

	t.Run("when its consumer is changed to deliver less", func(t *testing.T) {
		t.Parallel()
		for name, change := range map[string]func(*jetstream.ConsumerConfig){
			"a filter":         func(c *jetstream.ConsumerConfig) { c.FilterSubject = "mem.nobody.window.*" },
			"a bound on tries": func(c *jetstream.ConsumerConfig) { c.MaxDeliver = 2 },
			"nothing at all":   func(c *jetstream.ConsumerConfig) { c.MaxAckPending = 1; c.HeadersOnly = true },
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				c := natstest.Start(t)
				handled, said := working(t, c)
				meddle(t, c, change)
				natstest.Eventually(t, "the consumer is corrected", func() bool { return said.Contains("corrected a consumer") })
				natstest.PublishWindow(t, c, 2)
				natstest.Eventually(t, "the window after it", func() bool { return handled.Load() == 2 })
				if natstest.Resubscriptions(c, c.Naming.Windows(), "drifted") == 0 {
					t.Errorf("counted %+v", c.Resubscriptions())
				}
			})
		}
	})

	t.Run("where a consumer was made otherwise", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		if _, err := c.JS.CreateConsumer(t.Context(), c.Naming.Windows(), jetstream.ConsumerConfig{
			Durable: "extract", AckPolicy: jetstream.AckExplicitPolicy, ReplayPolicy: jetstream.ReplayOriginalPolicy, MaxDeliver: 1, FilterSubject: "mem.alice.window.*",
		}); err != nil {
			t.Fatal(err)
		}
		_, said := working(t, c)
		if !said.Contains("it is made anew") || !said.Contains("replay_policy") {
			t.Errorf("the log: %s", said.String())
		}
	})
}

func TestAConsumerStallsWhenNobodyIsDeliveredWhatIsPending(t *testing.T) {
	t.Parallel()
	stands := func(pending, delivered uint64) *jetstream.ConsumerInfo {
		i := &jetstream.ConsumerInfo{NumPending: pending, Config: jetstream.ConsumerConfig{MaxAckPending: -1, MaxDeliver: -1}}
		i.Delivered.Consumer = delivered
		return i
	}
	got := work.Looks(t.Context(), stands(0, 1), stands(0, 1), // nothing to deliver
		stands(3, 2), stands(3, 5), stands(3, 9), // another worker is served
		stands(2, 9), stands(2, 9), // nobody is
		stands(0, 9), stands(1, 9), stands(0, 10), stands(1, 10)) // one came and went
	want := []string{"", "", "", "", "", "", "stalled", "", "", "", ""}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
