package events_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// changes returns n changes of one bank, numbered from first on.
func changes(first, n int) []events.BankChange {
	out := make([]events.BankChange, n)
	for i := range out {
		id := fmt.Sprintf("c%05d", first+i)
		out[i] = events.BankChange{Bank: "alice", Change: memory.Change{ID: id, What: memory.ChangeFact, Op: memory.OutcomeAdded, Record: id, Time: time.Unix(0, 0).UTC()}}
	}
	return out
}

// announced returns the ids of the events in MEM_CHANGES, in order.
func announced(t *testing.T, c *events.Conn) []string {
	t.Helper()
	var ids []string
	_, err := ordered.Scan(t.Context(), c, c.Naming.Changes(), nil, 0, func(e events.Event) error {
		var ch memory.Change
		if err := memory.DecodeEvent(e.Data, &ch); err != nil {
			return err
		}
		ids = append(ids, ch.ID)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

func wanted(n int) string {
	var ids []string
	for _, c := range changes(0, n) {
		ids = append(ids, c.Change.ID)
	}
	return fmt.Sprint(ids)
}

func TestPublishChangesInBatches(t *testing.T) {
	t.Parallel()
	t.Run("stores every change once and in order, beyond one batch", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		if err := c.PublishChanges(t.Context(), changes(0, 1234)); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(announced(t, c)); got != wanted(1234) {
			t.Errorf("got %.200s", got)
		}
		first, err := c.EventAt(t.Context(), c.Naming.Changes(), 1)
		if err != nil || first.Header.Get("Nats-Batch-Id") == "" {
			t.Errorf("they were not stored as a batch: %v, %v", first.Header, err)
		}
	})
	t.Run("stores the new changes of a batch that repeats some", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		for _, part := range [][]events.BankChange{changes(0, 40), changes(20, 60), changes(79, 1), nil} {
			if err := c.PublishChanges(t.Context(), part); err != nil {
				t.Fatal(err)
			}
		}
		if got := fmt.Sprint(announced(t, c)); got != wanted(80) {
			t.Errorf("got %.200s", got)
		}
	})
	t.Run("works with a stream that does not allow batches", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		s, err := c.JS.Stream(t.Context(), c.Naming.Changes())
		if err != nil {
			t.Fatal(err)
		}
		cfg := s.CachedInfo().Config
		cfg.AllowAtomicPublish = false
		if _, err := c.JS.UpdateStream(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
		if err := c.PublishChanges(t.Context(), changes(0, 300)); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(announced(t, c)); got != wanted(300) {
			t.Errorf("got %.200s", got)
		}
		if err := c.Reconcile(t.Context(), events.StreamOptions{}); err != nil {
			t.Fatal(err)
		}
		if s, err = c.JS.Stream(t.Context(), c.Naming.Changes()); err != nil || !s.CachedInfo().Config.AllowAtomicPublish {
			t.Errorf("batches are not allowed again: %v", err)
		}
	})
}

func TestPublishMessagesInBatches(t *testing.T) {
	t.Parallel()
	for _, batches := range []bool{true, false} {
		t.Run(map[bool]string{true: "stores them in order", false: "works with a stream that does not allow batches"}[batches], func(t *testing.T) {
			t.Parallel()
			c := natstest.Start(t)
			s, err := c.JS.Stream(t.Context(), c.Naming.Messages())
			if err != nil {
				t.Fatal(err)
			}
			cfg := s.CachedInfo().Config
			cfg.AllowAtomicPublish = batches
			if _, err := c.JS.UpdateStream(t.Context(), cfg); err != nil {
				t.Fatal(err)
			}
			p, err := events.NewPublisher(events.DefaultPublisherConfig(), c)
			if err != nil {
				t.Fatal(err)
			}
			for round := range 2 { // the second on a connection that knows
				said := make([]memory.Message, 603)
				for i := range said {
					said[i] = memory.Message{ID: memory.MessageID(fmt.Sprint("m", round, "-", i)), Content: "I planted leeks."}
				}
				var mu sync.Mutex
				seqs := make([]uint64, len(said))
				err = p.PublishAll(t.Context(), "alice", "s", said, func(i int, seq uint64, err error) {
					mu.Lock()
					defer mu.Unlock()
					if err != nil || seqs[i] != 0 {
						t.Errorf("message %d is done at %d and %d: %v", i, seqs[i], seq, err)
					}
					seqs[i] = seq
				})
				if err != nil {
					t.Fatal(err)
				}
				for i, seq := range seqs {
					if want := uint64(round*len(said) + i + 1); seq != want {
						t.Fatalf("message %d is at %d, want %d", i, seq, want)
					}
				}
				first, err := c.EventAt(t.Context(), c.Naming.Messages(), seqs[0])
				if err != nil || (first.Header.Get("Nats-Batch-Id") != "") != batches {
					t.Errorf("headers %v, batches %v: %v", first.Header, batches, err)
				}
			}
			last, err := c.EventAt(t.Context(), c.Naming.Messages(), 1206)
			if m, bad := last.Message(); err != nil || bad != nil || m.ID != "m1-602" {
				t.Errorf("the last is %+v: %v, %v", m, err, bad)
			}
		})
	}
}

func TestConcurrentBatchesAreStoredTogether(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	p, err := events.NewPublisher(events.DefaultPublisherConfig(), c)
	if err != nil {
		t.Fatal(err)
	}
	const callers, each = 40, 12
	said := func(caller int) []memory.Message {
		out := make([]memory.Message, each)
		for i := range out {
			out[i] = memory.Message{ID: memory.MessageID(fmt.Sprintf("m%d-%d", caller, i)), Content: "The leeks are in."}
		}
		return out
	}
	publish := func(caller int) []uint64 {
		var mu sync.Mutex
		seqs := make([]uint64, each)
		err := p.PublishAll(t.Context(), "alice", memory.SessionID(fmt.Sprint("s", caller)), said(caller), func(i int, seq uint64, err error) {
			mu.Lock()
			defer mu.Unlock()
			if err != nil || seqs[i] != 0 {
				t.Errorf("message %d of %d is done at %d and %d: %v", i, caller, seqs[i], seq, err)
			}
			seqs[i] = seq
		})
		if err != nil {
			t.Error(err)
		}
		return seqs
	}
	seqs := make([][]uint64, callers)
	var all sync.WaitGroup
	for caller := range callers {
		all.Go(func() { seqs[caller] = publish(caller) })
	}
	all.Wait()
	batches := map[string]bool{}
	for caller, at := range seqs {
		for i, seq := range at {
			e, err := c.EventAt(t.Context(), c.Naming.Messages(), seq)
			if err != nil {
				t.Fatal(err)
			}
			if m, bad := e.Message(); bad != nil || m.ID != said(caller)[i].ID {
				t.Fatalf("message %d of %d is said to be at %d, where %q is: %v", i, caller, seq, m.ID, bad)
			}
			batches[e.Header.Get("Nats-Batch-Id")] = true
		}
	}
	if delete(batches, ""); len(batches) == 0 || len(batches) >= callers {
		t.Errorf("%d callers published %d batches; expected that some went together", callers, len(batches))
	}
}
