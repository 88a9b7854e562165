package ordered_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// reading collects the events that ReadOrdered delivers.
type reading struct {
	mu   sync.Mutex
	seqs []uint64
	at   []time.Time
}

func (r *reading) take(_ context.Context, batch []events.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range batch {
		r.seqs, r.at = append(r.seqs, e.Seq), append(r.at, time.Now())
	}
	return nil
}

func (r *reading) len() int { r.mu.Lock(); defer r.mu.Unlock(); return len(r.seqs) }

// check fails the test unless the sequences are 1 to n in order.
func (r *reading) check(t *testing.T, n int) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, s := range r.seqs {
		if s != uint64(i+1) {
			t.Fatalf("at %d came %d: %v", i+1, s, r.seqs[max(0, i-3):min(len(r.seqs), i+3)])
		}
	}
	if len(r.seqs) != n {
		t.Fatalf("%d events came, want %d", len(r.seqs), n)
	}
}

// goRead reads a stream until the test ends or stop is called.
func goRead(t *testing.T, c *events.Conn, cfg ordered.Config, handle func(context.Context, []events.Event) error) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := ordered.Read(ctx, c, cfg, handle); err != nil {
			t.Error(err)
		}
	}()
	stop = sync.OnceFunc(func() { cancel(); <-done })
	t.Cleanup(stop)
	return stop
}

func consumers(t *testing.T, c *events.Conn, stream string) []string {
	t.Helper()
	s, err := c.JS.Stream(t.Context(), stream)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for n := range s.ConsumerNames(t.Context()).Name() {
		names = append(names, n)
	}
	return names
}

func TestReadOrderedGoesOn(t *testing.T) {
	t.Parallel()

	t.Run("when its consumer is deleted", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		var r reading
		goRead(t, c, ordered.Config{Stream: c.Naming.Messages()}, r.take)
		for i := range 60 {
			natstest.Publish(t, c, "alice", "s", "x")
			if i%20 == 10 {
				natstest.Eventually(t, "the reader caught up", func() bool { return r.len() > i })
				for _, n := range consumers(t, c, c.Naming.Messages()) {
					if err := c.JS.DeleteConsumer(t.Context(), c.Naming.Messages(), n); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		natstest.Eventually(t, "all events", func() bool { return r.len() >= 60 })
		r.check(t, 60)
	})

	t.Run("when its consumer stalls with events pending", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		var r reading
		goRead(t, c, ordered.Config{Stream: c.Naming.Messages(), StallAfter: 10 * time.Millisecond}, r.take)
		natstest.Publish(t, c, "alice", "s", "x")
		natstest.Eventually(t, "the first event", func() bool { return r.len() == 1 })
		// A paused consumer holds events back and still sends heartbeats, as a stalled one does.
		for _, n := range consumers(t, c, c.Naming.Messages()) {
			if _, err := c.JS.PauseConsumer(t.Context(), c.Naming.Messages(), n, time.Now().Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
		for range 5 {
			natstest.Publish(t, c, "alice", "s", "x")
		}
		natstest.Eventually(t, "the events behind the stall", func() bool { return r.len() == 6 })
		r.check(t, 6)
		if natstest.Resubscriptions(c, c.Naming.Messages(), "stalled") == 0 {
			t.Errorf("counted %+v", c.Resubscriptions())
		}
	})

	t.Run("when the server is stopped and started again", func(t *testing.T) {
		t.Parallel()
		s := natstest.StartServer(t)
		c := s.Connect(t)
		if err := c.Reconcile(t.Context(), events.DefaultStreamOptions()); err != nil {
			t.Fatal(err)
		}
		var r reading
		goRead(t, c, ordered.Config{Stream: c.Naming.Messages()}, r.take)
		for range 10 {
			natstest.Publish(t, c, "alice", "s", "x")
		}
		natstest.Eventually(t, "the first events", func() bool { return r.len() == 10 })
		s.Shutdown()
		s.Restart(t)
		natstest.Eventually(t, "the connection", c.NC.IsConnected)
		for range 10 {
			natstest.Eventually(t, "a publish", func() bool {
				_, err := c.PublishMessage(t.Context(), "alice", "s", []byte(`{"content":"x"}`))
				return err == nil
			})
		}
		last, err := c.LastSeq(t.Context(), c.Naming.Messages())
		if err != nil {
			t.Fatal(err)
		}
		natstest.Eventually(t, "all events", func() bool { return r.len() == int(last) })
		r.check(t, int(last))
	})

	t.Run("past events that were erased", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		for range 10 {
			natstest.Publish(t, c, "alice", "s", "x")
		}
		for _, seq := range []uint64{1, 5, 6, 10} {
			if err := c.Erase(t.Context(), c.Naming.Messages(), seq); err != nil {
				t.Fatal(err)
			}
		}
		var r reading
		goRead(t, c, ordered.Config{Stream: c.Naming.Messages(), MaxBatch: 2}, r.take)
		natstest.Eventually(t, "what is left", func() bool { return r.len() == 6 })
		if want := []uint64{2, 3, 4, 7, 8, 9}; !slices.Equal(r.seqs, want) {
			t.Errorf("%v", r.seqs)
		}
	})
}

func TestReadOrderedEnds(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	natstest.Publish(t, c, "alice", "s", "x")
	boom := errors.New("boom")
	cfg := ordered.Config{Stream: c.Naming.Messages()}
	if err := ordered.Read(t.Context(), c, cfg, func(context.Context, []events.Event) error { return ordered.Stop(boom) }); !errors.Is(err, boom) {
		t.Errorf("after Stop: %v", err)
	}
	conflict := func(context.Context, []events.Event) error { return fmt.Errorf("apply: %w", memory.ErrConflict) }
	if err := ordered.Read(t.Context(), c, cfg, conflict); !errors.Is(err, memory.ErrConflict) {
		t.Errorf("after a conflict: %v", err)
	}
	cfg.After = 2
	if err := ordered.Read(t.Context(), c, cfg, conflict); !errors.Is(err, memory.ErrConflict) {
		t.Errorf("behind the end of the stream: %v", err)
	}
	for _, n := range consumers(t, c, c.Naming.Messages()) {
		t.Errorf("the consumer %s was left behind", n)
	}
}

func TestALoneEventIsHandedOnAtOnce(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	var r reading
	goRead(t, c, ordered.Config{Stream: c.Naming.Messages()}, r.take)
	var took []time.Duration
	for i := range 50 {
		began := time.Now()
		natstest.Publish(t, c, "alice", "s", "x")
		natstest.Eventually(t, "the event", func() bool { return r.len() == i+1 })
		took = append(took, r.at[i].Sub(began))
	}
	slices.Sort(took)
	if median := took[len(took)/2]; median > 20*time.Millisecond { // 0.3 ms on a machine that is not busy
		t.Errorf("a lone event took %s", median)
	}
}

func TestScan(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	for i := range 1300 {
		natstest.Publish(t, c, memory.BankID(fmt.Sprintf("b%d", i%2)), "s", "x")
	}
	scan := func(subjects []string, after uint64, fn func(events.Event) error) (int, uint64, error) {
		n := 0
		last, err := ordered.Scan(t.Context(), c, c.Naming.Messages(), subjects, after, func(e events.Event) error { n++; return fn(e) })
		return n, last, err
	}
	all := func(events.Event) error { return nil }
	if n, last, err := scan(nil, 0, all); n != 1300 || last != 1300 || err != nil {
		t.Errorf("all: %d, %d, %v", n, last, err)
	}
	if n, last, err := scan([]string{c.Naming.StoredOf("b1", events.KindMessage)}, 100, all); n != 600 || last != 1300 || err != nil {
		t.Errorf("one bank: %d, %d, %v", n, last, err)
	}
	if n, last, err := scan([]string{c.Naming.StoredOf("nobody", events.KindMessage)}, 0, all); n != 0 || last != 1300 || err != nil {
		t.Errorf("nobody: %d, %d, %v", n, last, err)
	}
	if n, last, err := scan(nil, 1300, all); n != 0 || last != 1300 || err != nil {
		t.Errorf("at the end: %d, %d, %v", n, last, err)
	}
	if n, last, err := scan(nil, 0, func(e events.Event) error {
		if e.Seq == 7 {
			return ordered.ErrSkipRest
		}
		return nil
	}); n != 7 || last != 7 || err != nil {
		t.Errorf("enough: %d, %d, %v", n, last, err)
	}
	boom := errors.New("boom")
	if n, last, err := scan(nil, 3, func(events.Event) error { return boom }); n != 1 || last != 4 || !errors.Is(err, boom) {
		t.Errorf("error: %d, %d, %v", n, last, err)
	}
	if _, err := ordered.Scan(t.Context(), c, "NOWHERE", nil, 0, all); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("an unknown stream: %v", err)
	}
}

func BenchmarkReadOrdered(b *testing.B) {
	c := natstest.Start(b)
	const n = 20000
	for range n {
		if _, err := c.JS.PublishAsync(c.Naming.MessageSubject("alice", "s"), []byte(`{"content":"I moved to Lisbon in May."}`), jetstream.WithStallWait(time.Minute)); err != nil {
			b.Fatal(err)
		}
	}
	<-c.JS.PublishAsyncComplete()
	for b.Loop() {
		ctx, cancel := context.WithCancel(b.Context())
		read := 0
		if err := ordered.Read(ctx, c, ordered.Config{Stream: c.Naming.Messages()}, func(_ context.Context, batch []events.Event) error {
			if read += len(batch); read >= n {
				cancel()
			}
			return nil
		}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*n/b.Elapsed().Seconds(), "events/s")
}

func TestReadOrdered(t *testing.T) {
	t.Parallel()

	t.Run("delivers every event in order, whatever the handler does", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		const n = 2000
		for i := range n {
			natstest.Publish(t, c, "alice", "s", fmt.Sprint(i))
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var got []uint64
		calls := 0
		err := ordered.Read(ctx, c, ordered.Config{Stream: c.Naming.Messages(), MaxBatch: 64, Backoff: events.Backoff{Min: time.Microsecond, Max: time.Microsecond}},
			func(_ context.Context, batch []events.Event) error {
				if calls++; calls%3 == 0 {
					return memory.ErrUnavailable
				}
				for _, e := range batch {
					got = append(got, e.Seq)
				}
				if len(got) == n {
					cancel()
				}
				return nil
			})
		if err != nil {
			t.Fatal(err)
		}
		want := make([]uint64, n)
		for i := range want {
			want[i] = uint64(i + 1)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	})

	t.Run("reads a partition from a position", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		var want []uint64
		for i := range 100 {
			bank := memory.BankID(fmt.Sprintf("b%d", i%10))
			seq := natstest.Publish(t, c, bank, "s", "x")
			if c.Naming.PartitionOf(string(bank)) == c.Naming.PartitionOf("b3") && seq > 50 {
				want = append(want, seq)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var got []uint64
		if err := ordered.Read(ctx, c, ordered.Config{Stream: c.Naming.Messages(), Subjects: []string{c.Naming.StoredMessages(c.Naming.PartitionOf("b3"))}, After: 50},
			func(_ context.Context, batch []events.Event) error {
				for _, e := range batch {
					got = append(got, e.Seq)
				}
				if len(got) >= len(want) {
					cancel()
				}
				return nil
			}); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	})
}
