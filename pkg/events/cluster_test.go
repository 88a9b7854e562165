package events_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func withReplicas(n int) events.StreamOptions {
	o := events.DefaultStreamOptions()
	o.Replicas = n
	return o
}

func TestReplicas(t *testing.T) {
	t.Parallel()
	cluster := natstest.StartCluster(t)
	c := cluster.Connect(t)
	if err := c.Reconcile(t.Context(), withReplicas(0)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.JS.CreateConsumer(t.Context(), c.Naming.Windows(), jetstream.ConsumerConfig{Durable: "extract", AckPolicy: jetstream.AckExplicitPolicy}); err != nil {
		t.Fatal(err)
	}
	all := func(want int) bool {
		for _, name := range c.Naming.AllStreams() {
			s, err := c.JS.Stream(t.Context(), name)
			if err != nil || s.CachedInfo().Config.Replicas != want || s.CachedInfo().Cluster == nil || len(s.CachedInfo().Cluster.Replicas) != want-1 {
				return false
			}
		}
		cons, err := c.JS.Consumer(t.Context(), c.Naming.Windows(), "extract")
		return err == nil && cons.CachedInfo().Cluster != nil && len(cons.CachedInfo().Cluster.Replicas) == want-1
	}
	if !all(1) {
		t.Error("without a number the streams are made with one replica")
	}
	natstest.Publish(t, c, "alice", "s", "kept while the replicas change")
	for _, n := range []int{3, 1, 3} {
		if err := c.Reconcile(t.Context(), withReplicas(n)); err != nil {
			t.Fatal(err)
		}
		natstest.Eventually(t, "every stream, bucket and consumer has the replicas", func() bool { return all(n) })
	}
	if err := c.Reconcile(t.Context(), withReplicas(0)); err != nil || !all(3) {
		t.Errorf("without a number the replicas stay: %v", err)
	}
	if last, err := c.LastMessage(t.Context(), "alice"); last != 1 || err != nil {
		t.Errorf("the message: %d, %v", last, err)
	}

	t.Run("more than the cluster has servers for are refused, and the error says what is needed", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		err := c.Reconcile(ctx, withReplicas(5))
		if !errors.Is(err, memory.ErrUnavailable) || !strings.Contains(err.Error(), "5 replicas (EUNOE_REPLICAS) need as many servers") {
			t.Errorf("%v", err)
		}
	})
	t.Run("the end of a bank comes from an acknowledgement", func(t *testing.T) {
		seq := natstest.Publish(t, c, "alice", "s", "before")
		end, err := c.EndOfBank(t.Context(), "alice")
		if err != nil || end <= seq {
			t.Errorf("%d after message %d, %v", end, seq, err)
		}
		if last, err := c.LastMessage(t.Context(), "alice"); last != seq || err != nil {
			t.Errorf("the last message is %d, %v; expected %d", last, err, seq)
		}
	})
	t.Run("an end before what is expected is doubted", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if end, err := c.EndOf(ctx, c.Naming.Messages(), 1000); !errors.Is(err, memory.ErrUnavailable) {
			t.Errorf("%d, %v", end, err)
		}
		last, err := c.LastSeq(t.Context(), c.Naming.Messages())
		if err != nil {
			t.Fatal(err)
		}
		if end, err := c.EndOf(t.Context(), c.Naming.Messages(), last); end != last || err != nil {
			t.Errorf("%d, %v; expected %d", end, err, last)
		}
	})
	t.Run("a stopped server is left for another one, and publishing goes on", func(t *testing.T) {
		first := c.NC.ConnectedServerName()
		cluster.Stop(int(first[1] - '0'))
		natstest.Eventually(t, "another server", func() bool { return c.NC.IsConnected() && c.NC.ConnectedServerName() != first })
		natstest.Eventually(t, "a publish", func() bool {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := c.PublishMessage(ctx, "alice", "s", []byte(`{"content":"after"}`))
			return err == nil
		})
	})
}

func TestASingleServerHasOneReplica(t *testing.T) {
	t.Parallel()
	c := natstest.StartServer(t).Connect(t)
	began := time.Now()
	err := c.Reconcile(t.Context(), withReplicas(3))
	if !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), "EUNOE_REPLICAS") || !strings.Contains(err.Error(), "cluster") {
		t.Errorf("%v", err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it was tried again for %s", took)
	}
	if err := c.Reconcile(t.Context(), withReplicas(1)); err != nil {
		t.Fatal(err)
	}
	seq := natstest.Publish(t, c, "alice", "s", "x")
	if end, err := c.EndOf(t.Context(), c.Naming.Messages(), 1000); end != seq || err != nil {
		t.Errorf("the word of a single server is doubted: %d, %v", end, err)
	}
	if end, err := c.EndOfBank(t.Context(), "alice"); end != seq || err != nil {
		t.Errorf("the end of the bank is %d, %v", end, err)
	}
}

func TestTheEndOfAStreamIsBelievedWhenItHolds(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 20, 12, 0, 0, 0, time.UTC)
	after := func(s float64) time.Time { return at.Add(time.Duration(s * float64(time.Second))) }

	e := events.NewEnds()
	if !e.Believed(10, 10, at) || !e.Believed(11, 10, at) {
		t.Error("an end that reaches what is expected was doubted")
	}
	for s := range 15 {
		if e.Believed(9, 10, after(float64(s))) {
			t.Fatalf("believed after %d s", s)
		}
	}
	if !e.Believed(9, 12, after(15)) {
		t.Error("not believed after 15 s, of a higher sequence")
	}

	e = events.NewEnds()
	e.Believed(9, 10, at)
	e.Believed(10, 10, after(4)) // the true leader answers
	for s := 5.0; s < 20; s++ {
		if e.Believed(9, 10, after(s)) {
			t.Fatalf("believed %.0f s after an answer to the contrary", s-4)
		}
	}

	e = events.NewEnds()
	e.Believed(9, 10, at)
	if e.Believed(9, 10, after(60)) {
		t.Error("two answers a minute apart are no end that holds")
	}

	e = events.NewEnds()
	for s := range 16 {
		e.Believed(9, 20, after(float64(s)))
	}
	if e.Believed(9, 10, after(16)) {
		t.Error("that it ends before 20 says nothing of 10")
	}
}

// TestErasedEventsAtTheEndOfAClusterAreGone asks for several erased events behind which there is no other, in turns.
func TestErasedEventsAtTheEndOfAClusterAreGone(t *testing.T) {
	t.Parallel()
	c := natstest.StartCluster(t).Connect(t)
	if err := c.Reconcile(t.Context(), withReplicas(3)); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		natstest.Publish(t, c, "alice", "s", "Onde está o guarda-chuva?")
	}
	for _, seq := range []uint64{2, 3} {
		if err := c.Erase(t.Context(), c.Naming.Messages(), seq); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if e, err := c.EventAt(ctx, c.Naming.Messages(), 3); !errors.Is(err, memory.ErrUnavailable) {
		t.Errorf("after five seconds, in which an old leader may have answered, an erased event is %v, %v", e.Seq, err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	found, err := c.Messages(ctx, []uint64{1, 2, 3})
	if err != nil || len(found) != 1 || found[1].Seq != 1 {
		t.Errorf("of three events, two of them erased, %d are found: %v", len(found), err)
	}
}

// TestEventsAreGoneWhenALaterOneIsThere asks for events that a server may lack because it lags, and for erased ones.
func TestEventsAreGoneWhenALaterOneIsThere(t *testing.T) {
	t.Parallel()
	alone := natstest.Start(t)
	cluster := natstest.StartCluster(t).Connect(t)
	if err := cluster.Reconcile(t.Context(), withReplicas(3)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []*events.Conn{alone, cluster} {
		replicated := c == cluster
		gone := func(after, upto uint64, want bool) {
			t.Helper()
			if got, err := c.Gone(t.Context(), c.Naming.Messages(), after, upto); got != want || err != nil {
				t.Errorf("replicated %v: of events %d to %d it is said that they are gone: %v, %v", replicated, after+1, upto, got, err)
			}
		}
		for range 4 {
			natstest.Publish(t, c, "alice", "s", "¿Dónde está el paraguas?")
		}
		gone(0, 3, false)
		gone(3, 4, false)
		gone(4, 6, !replicated) // nobody knows of a later one
		for _, seq := range []uint64{2, 3} {
			if err := c.Erase(t.Context(), c.Naming.Messages(), seq); err != nil {
				t.Fatal(err)
			}
		}
		gone(1, 3, true)
		gone(1, 4, false)
		if err := c.Erase(t.Context(), c.Naming.Messages(), 4); err != nil {
			t.Fatal(err)
		}
		gone(1, 4, !replicated)
		gone(0, 4, false)
	}
}
