package events_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func publish(t testing.TB, c *events.Conn, bank memory.BankID, session memory.SessionID, text string) uint64 {
	t.Helper()
	seq, err := c.PublishMessage(t.Context(), bank, session, fmt.Appendf(nil, `{"content":%q}`, text))
	if err != nil {
		t.Fatal(err)
	}
	return seq
}

func TestMessagesAreStoredUnderTheirPartition(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	for _, bank := range []memory.BankID{"alice", "!room:server.org", "bob", "日本"} {
		seq := publish(t, c, bank, "s.1", "hello")
		if _, err := c.PublishFlush(t.Context(), bank, "s.1", memory.Flush{Upto: seq}); err != nil {
			t.Fatal(err)
		}
		s, err := c.JS.Stream(t.Context(), c.Naming.Messages())
		if err != nil {
			t.Fatal(err)
		}
		raw, err := s.GetMsg(t.Context(), seq)
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("mem.%d.%s.message.%s", c.Naming.PartitionOf(events.EncodeToken(string(bank))), events.EncodeToken(string(bank)), "s%2E1")
		if raw.Subject != want {
			t.Errorf("stored under %s, want %s", raw.Subject, want)
		}
		last, err := c.LastMessage(t.Context(), bank)
		if err != nil || last != seq {
			t.Errorf("LastMessage = %d, %v; want %d", last, err, seq)
		}
		got, err := c.Messages(t.Context(), []uint64{seq, seq + 1000})
		if err != nil || len(got) != 1 {
			t.Fatalf("Messages = %v, %v", got, err)
		}
		e := got[seq]
		if e.Bank != bank || e.Session != "s.1" || e.Kind != "message" || e.Subject != c.Naming.MessageSubject(bank, "s.1") {
			t.Errorf("event %+v", e)
		}
		if string(e.Data) != `{"content":"hello"}` || len(e.Header) != 0 {
			t.Errorf("data %s header %v", e.Data, e.Header)
		}
	}
}

func TestReadOrdered(t *testing.T) {
	t.Parallel()

	t.Run("hands on every event in order, whatever the handler does", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		const n = 2000
		for i := range n {
			publish(t, c, "alice", "s", fmt.Sprint(i))
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var got []uint64
		calls := 0
		err := c.ReadOrdered(ctx, events.OrderedConfig{Stream: c.Naming.Messages(), MaxBatch: 64, Backoff: events.Backoff{Min: time.Microsecond, Max: time.Microsecond}},
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
			seq := publish(t, c, bank, "s", "x")
			if c.Naming.PartitionOf(string(bank)) == c.Naming.PartitionOf("b3") && seq > 50 {
				want = append(want, seq)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var got []uint64
		if err := c.ReadOrdered(ctx, events.OrderedConfig{Stream: c.Naming.Messages(), Subjects: []string{c.Naming.StoredMessages(c.Naming.PartitionOf("b3"))}, After: 50},
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

func TestWork(t *testing.T) {
	t.Parallel()

	t.Run("hands each window to one worker and acknowledges it", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		const n = 200
		for i := range uint64(n) {
			w := memory.Window{ID: memory.NewWindowID("alice", "s", i+1, i+1, 0), Bank: "alice", Session: "s", New: []memory.WindowMessage{{Seq: i + 1}}, Trigger: memory.TriggerCount}
			if err := c.PublishWindow(t.Context(), w); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		var mu sync.Mutex
		seen := map[uint64]int{}
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if err := c.Work(ctx, events.WorkConfig{Durable: "extract", Concurrency: 8}, func(_ context.Context, e events.Event) error {
					w, err := e.Window()
					if err != nil {
						return err
					}
					mu.Lock()
					defer mu.Unlock()
					seen[w.First()]++
					return nil
				}); err != nil {
					t.Error(err)
				}
			})
		}
		natstest.Eventually(t, "all windows worked on", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(seen) == n
		})
		cancel()
		wg.Wait()
		for s, k := range seen {
			if k != 1 {
				t.Errorf("window %d was handled %d times", s, k)
			}
		}
	})
}
