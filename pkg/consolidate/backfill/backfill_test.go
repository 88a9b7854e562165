package backfill_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/backfill"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/consolidatetest"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lacking is a store in which records lack vectors. It has applied every write of the log up to applied.
type lacking struct {
	facts, messages []backfill.Record
	applied         atomic.Uint64
}

func (s *lacking) Applied(context.Context) (messages, writes uint64, err error) {
	return 0, s.applied.Load(), nil
}

func (s *lacking) FactsWithoutVector(_ context.Context, after int64, limit int) ([]backfill.Record, error) {
	return past(s.facts, after, limit), nil
}

func (s *lacking) MessagesWithoutVector(_ context.Context, after int64, limit int) ([]backfill.Record, error) {
	return past(s.messages, after, limit), nil
}

func past(list []backfill.Record, after int64, limit int) (out []backfill.Record) {
	for _, r := range list {
		if r.Place > after && len(out) < limit {
			out = append(out, r)
		}
	}
	return out
}

// facts returns n facts of a bank without vectors, from a place on.
func facts(bank memory.BankID, from, n int) (out []backfill.Record) {
	for i := range n {
		out = append(out, backfill.Record{Place: int64(from + i), Bank: bank, Record: memory.RecordFact, ID: fmt.Sprintf("f_%s%d", bank, from+i),
			Text: fmt.Sprintf("Shelf %d holds atlases.", from+i)})
	}
	return out
}

type noSecrets struct{}

func (noSecrets) Redact(s string) string { return strings.ReplaceAll(s, "hunter2", "[redacted]") }

func newWorker(c *events.Conn, s backfill.Store, e memory.Embedder) *backfill.Worker {
	return backfill.New(backfill.Deps{Conn: c, Store: s, Embedder: e, Redactor: noSecrets{}})
}

// vectors returns how many vectors the log has for each bank, and how many writes hold them.
func vectors(t *testing.T, c *events.Conn) (banks map[memory.BankID]int, writes int) {
	t.Helper()
	banks = map[memory.BankID]int{}
	if _, err := ordered.Scan(t.Context(), c, c.Naming.Writes(), nil, 0, func(e events.Event) error {
		w, err := e.Write()
		if w.Kind == memory.WriteVectors {
			banks[w.Bank] += len(w.Vectors)
			writes++
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return banks, writes
}

func TestRound(t *testing.T) {
	t.Parallel()

	t.Run("a pass embeds facts and messages, a page at a time and each bank by itself", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		s := &lacking{facts: append(facts("alice", 1, 70), facts("bob", 71, 10)...), messages: []backfill.Record{{Place: 5, Bank: "bob", Record: memory.RecordMessage, Seq: 5, Text: "Tea?"}}}
		w := newWorker(c, s, consolidatetest.NewEmbedder("m"))
		for _, want := range []int{64, 16, 1, 0} {
			if n, err := w.Round(t.Context()); n != want || err != nil {
				t.Fatalf("a round looked at %d records, expected %d: %v", n, want, err)
			}
		}
		if banks, writes := vectors(t, c); banks["alice"] != 70 || banks["bob"] != 11 || writes != 4 {
			t.Errorf("%v in %d writes", banks, writes)
		}
	})
	t.Run("a new pass begins only after the store has applied the vectors of the last one", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		s := &lacking{facts: facts("alice", 1, 3)}
		e := consolidatetest.NewEmbedder("m")
		w := newWorker(c, s, e)
		for range 4 {
			if _, err := w.Round(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if _, texts := e.Calls(); texts != 3 {
			t.Errorf("%d texts were embedded while the store lagged, expected 3", texts)
		}
		s.applied.Store(1)
		if n, err := w.Round(t.Context()); n != 3 || err != nil {
			t.Errorf("the next pass looked at %d records, %v", n, err)
		}
	})
	t.Run("a record that the embedder refuses is left out, the rest of its batch is not, and it is not asked again", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		s := &lacking{facts: facts("alice", 1, 9)}
		s.facts[4].Text = "A bitter pill."
		e := consolidatetest.NewEmbedder("m")
		e.Refuse("bitter")
		w := newWorker(c, s, e)
		if n, err := w.Round(t.Context()); n != 9 || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
		if banks, _ := vectors(t, c); banks["alice"] != 8 {
			t.Errorf("%d vectors, expected 8", banks["alice"])
		}
		if _, err := w.Round(t.Context()); err != nil { // the end of the pass
			t.Fatal(err)
		}
		s.applied.Store(100)
		s.facts = s.facts[4:5]
		before, _ := e.Calls()
		if _, err := w.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
		if after, _ := e.Calls(); after != before {
			t.Errorf("the refused record was sent %d times more", after-before)
		}
	})
	t.Run("an embedder that is down is an error, and the page is tried again", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		e := consolidatetest.NewEmbedder("m")
		w := newWorker(c, &lacking{facts: facts("alice", 1, 3)}, e)
		e.Down(true)
		if n, err := w.Round(t.Context()); n != 0 || !errors.Is(err, memory.ErrUnavailable) {
			t.Errorf("%d, %v", n, err)
		}
		e.Down(false)
		if n, err := w.Round(t.Context()); n != 3 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	})
}

func TestRunEmbedsWhatAppearsAndReportsItsUsage(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	e := consolidatetest.NewEmbedder("m")
	e.Down(true)
	w := newWorker(c, &lacking{facts: facts("alice", 1, 5)}, e)
	var progress atomic.Int64
	w.Progress = func(n int) { progress.Store(int64(n)) }
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	natstest.Eventually(t, "a failed call", func() bool { calls, _ := e.Calls(); return calls > 0 })
	e.Down(false)
	natstest.Eventually(t, "all vectors", func() bool { return progress.Load() == 5 })
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	calls, failed := 0, 0
	if _, err := ordered.Scan(t.Context(), c, c.Naming.Writes(), nil, 0, func(ev events.Event) error {
		w, err := ev.Write()
		for _, u := range w.Usage {
			calls, failed = calls+u.Calls, failed+u.Failed
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if all, _ := e.Calls(); calls != all || failed == 0 {
		t.Errorf("the log counts %d calls (%d failed) of %d", calls, failed, all)
	}
}
