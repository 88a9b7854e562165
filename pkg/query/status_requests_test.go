package query_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// brokerRequests counts the requests that a broker gets through JetStream's API.
type brokerRequests struct {
	t   *testing.T
	nc  *nats.Conn
	sub *nats.Subscription
}

func watchRequests(t *testing.T, c *events.Conn) *brokerRequests {
	t.Helper()
	nc, err := nats.Connect(c.NC.ConnectedUrl())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	sub, err := nc.SubscribeSync("$JS.API.>")
	if err != nil {
		t.Fatal(err)
	}
	return &brokerRequests{t, nc, sub}
}

// drain returns the subjects of the requests since the last call.
func (b *brokerRequests) drain() (subjects []string) {
	b.t.Helper()
	if err := b.nc.Flush(); err != nil { // the broker has handed on what came before
		b.t.Fatal(err)
	}
	for {
		left, _, err := b.sub.Pending()
		if err != nil {
			b.t.Fatal(err)
		}
		if left == 0 {
			return subjects
		}
		m, err := b.sub.NextMsg(natstest.Patience)
		if err != nil {
			b.t.Fatal(err)
		}
		subjects = append(subjects, strings.TrimPrefix(m.Subject, "$JS.API."))
	}
}

// during returns the subjects of the requests that f makes.
func (b *brokerRequests) during(f func()) []string {
	b.t.Helper()
	b.drain()
	f()
	return b.drain()
}

func TestStatusAsksTheBrokerLittle(t *testing.T) {
	t.Parallel()
	conn := natstest.Start(t)
	w := newFixtureWith(t, query.DefaultConfig(), func(d *query.Deps) { d.Conn = conn })
	requests := watchRequests(t, conn)
	status := func() (s wire.Status) {
		s, err := w.service.Status(t.Context(), alice, wire.StatusRequest{})
		if err != nil {
			t.Error(err)
		}
		return s
	}
	atMost := func(most int, of string, f func()) {
		t.Helper()
		made := requests.during(f)
		if t.Logf("%s: %d requests", of, len(made)); len(made) > most {
			t.Errorf("%s: %d requests to the broker, expected %d at most: %q", of, len(made), most, made)
		}
	}
	w.know(alice, memory.Fact{Text: "Alice keeps bees."})
	atMost(6, "a settled bank", func() {
		if s := status(); !s.Settled {
			t.Errorf("it is not settled: %+v", s)
		}
	})
	for i := range 3 {
		natstest.Publish(t, conn, "alice", "s1", "I keep bees and two goats.")
		atMost(6+i, "a bank with messages that are not applied", func() {
			if s := status(); s.Settled || s.Conservation.Pending != i+1 || s.Conservation.Published != i+1 || s.Messages.Last != uint64(i+1) {
				t.Errorf("the message that was published is not shown: %+v", s)
			}
		})
	}
	const pollers = 50 // alone each would make eight
	atMost(2*pollers, "many who ask at once", func() {
		var all sync.WaitGroup
		for range pollers {
			all.Go(func() { status() })
		}
		all.Wait()
	})
}

// Who publishes and then asks sees the message, however many ask at that moment.
func TestAStatusShowsWhatItsCallerPublished(t *testing.T) {
	t.Parallel()
	conn := natstest.Start(t)
	w := newFixtureWith(t, query.DefaultConfig(), func(d *query.Deps) { d.Conn = conn })
	w.know(alice, memory.Fact{Text: "Alice keeps bees."})
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			for range 20 {
				seq := natstest.Publish(t, conn, "alice", "s1", "I keep bees.")
				given, cancel := context.WithCancel(t.Context())
				go cancel() // somebody who asks and goes away takes nobody's answer along
				_, _ = w.service.Status(given, alice, wire.StatusRequest{})
				s, err := w.service.Status(t.Context(), alice, wire.StatusRequest{})
				if err != nil || s.Messages.Last < seq || s.Settled || s.Conservation.Pending < 1 {
					t.Errorf("after message %d: %+v, %v", seq, s, err)
				}
			}
		})
	}
	all.Wait()
}
