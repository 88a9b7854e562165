package erasure_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/consolidatetest"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/erasure"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// queue is the table of erasures, with the facts that the store still has.
type queue struct {
	mu      sync.Mutex
	entries []erasure.Entry
	kept    []int64 // numbers of those that cannot be carried out
	facts   map[memory.FactID]bool
}

func (q *queue) Erasures(_ context.Context, after memory.BankID, limit int) ([]erasure.Entry, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if after >= "alice" { // all are of this bank
		return nil, nil
	}
	return append([]erasure.Entry(nil), q.entries[:min(limit, len(q.entries))]...), nil
}

func (q *queue) Erased(_ context.Context, numbers []int64) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.entries = slices.DeleteFunc(q.entries, func(e erasure.Entry) bool { return slices.Contains(numbers, e.No) })
	return nil
}

func (q *queue) Unerasable(_ context.Context, numbers []int64) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.kept = append(q.kept, numbers...)
	q.entries = slices.DeleteFunc(q.entries, func(e erasure.Entry) bool { return slices.Contains(numbers, e.No) })
	return nil
}

func (q *queue) ErasedMessages(context.Context, memory.BankID, []uint64) ([]memory.ErasedMessage, error) {
	return nil, nil
}

func (q *queue) Outcome(context.Context, memory.BankID, string) (*memory.WriteOutcome, error) {
	return nil, nil
}

func (q *queue) SourcesOf(context.Context, []memory.FactID) (map[memory.FactID][]uint64, error) {
	return nil, nil
}

func (q *queue) RetainedFacts(context.Context, string, []memory.FactID) (map[memory.FactID]bool, error) {
	return q.facts, nil
}

func (q *queue) KnownFacts(context.Context, []memory.FactID) (map[memory.FactID]bool, error) {
	return q.facts, nil
}

func (q *queue) KnownNames(context.Context, memory.BankID, []string) (map[string]bool, error) {
	return nil, nil
}

func (q *queue) KnownObservations(context.Context, []memory.ObservationID) (map[memory.ObservationID]bool, error) {
	return nil, nil
}

func (q *queue) AppliedDecisions(context.Context, memory.BankID, []memory.FactID) ([]memory.DecisionResult, error) {
	return nil, nil
}

// erase runs an Eraser until the queue is empty.
func erase(t *testing.T, c *events.Conn, q *queue) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- erasure.New(erasure.Deps{Conn: c, Store: q}).Run(ctx, nil)
	}()
	natstest.Eventually(t, "an empty queue of erasures", func() bool {
		list, err := q.Erasures(t.Context(), "", 1)
		return err == nil && len(list) == 0
	})
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func gone(t *testing.T, c *events.Conn, stream string, seq uint64) {
	t.Helper()
	if _, err := c.EventAt(t.Context(), stream, seq); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("event %d of %s is still there: %v", seq, stream, err)
	}
}

// retained appends a write that retains facts and returns its sequence.
func retained(t *testing.T, c *events.Conn, op string, facts ...memory.Fact) uint64 {
	t.Helper()
	seq, err := c.AppendWrite(t.Context(), memory.Write{Bank: "alice", Kind: memory.WriteRetain, Op: op, Facts: facts})
	if err != nil {
		t.Fatal(err)
	}
	return seq
}

func TestEraser(t *testing.T) {
	t.Parallel()
	fact := func(text string) memory.Fact {
		f := consolidatetest.FactWithoutVector(text)
		f.ID = memory.NewFactID("alice", text, f.Kind)
		return f
	}

	t.Run("messages are erased, many more than are read at once, and others stay", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		q := &queue{}
		for i := range 200 {
			seq := natstest.Publish(t, c, "alice", "s", fmt.Sprintf("note %d", i))
			if i%2 == 0 {
				q.entries = append(q.entries, erasure.Entry{No: int64(i + 1), Bank: "alice", Stream: "MEM_MESSAGES", Seq: seq})
			}
		}
		q.entries = append(q.entries, q.entries[0]) // it was carried out before a crash
		q.entries[len(q.entries)-1].No = 1000
		erase(t, c, q)
		for _, seq := range []uint64{1, 101, 199} {
			gone(t, c, c.Naming.Messages(), seq)
		}
		if _, err := c.EventAt(t.Context(), c.Naming.Messages(), 200); err != nil {
			t.Errorf("a message that nobody forgot: %v", err)
		}
	})
	t.Run("a write is replaced by one with the facts that are left, under its op", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		kept, forgotten := fact("Ines keeps bees."), fact("Ines fears heights.")
		seq := retained(t, c, "op-1", kept, forgotten)
		erase(t, c, &queue{entries: []erasure.Entry{{No: 1, Bank: "alice", Stream: "MEM_WRITES", Seq: seq}}, facts: map[memory.FactID]bool{kept.ID: true}})
		gone(t, c, c.Naming.Writes(), seq)
		e, err := c.EventAt(t.Context(), c.Naming.Writes(), seq+1)
		if err != nil {
			t.Fatal(err)
		}
		w, err := e.Write()
		if err != nil || w.Op != "op-1" || len(w.Facts) != 1 || w.Facts[0].ID != kept.ID {
			t.Errorf("the remainder is %+v, %v", w, err)
		}
	})
	t.Run("a write of which nothing is left leaves its usage, with op and time", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		f := fact("Ines fears heights.")
		seq, err := c.AppendWrite(t.Context(), memory.Write{Bank: "alice", Kind: memory.WriteRetain, Op: "op-2", Facts: []memory.Fact{f},
			Usage: []memory.StageUsage{{Stage: memory.StageEmbed, Model: "m", Usage: memory.Usage{Calls: 3}}}})
		if err != nil {
			t.Fatal(err)
		}
		erase(t, c, &queue{entries: []erasure.Entry{{No: 1, Bank: "alice", Stream: "MEM_WRITES", Seq: seq}}})
		e, err := c.EventAt(t.Context(), c.Naming.Writes(), seq+1)
		if err != nil {
			t.Fatal(err)
		}
		w, err := e.Write()
		if err != nil || w.Kind != memory.WriteErased || len(w.Facts) > 0 || w.Op != "op-2" || w.Time.IsZero() || len(w.Usage) != 1 || w.Usage[0].Calls != 3 {
			t.Errorf("the remainder is %+v, %v", w, err)
		}
	})
	t.Run("a write of an erased bank goes whole", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		f := fact("Ines keeps bees.")
		seq := retained(t, c, "op-3", f)
		erase(t, c, &queue{entries: []erasure.Entry{{No: 1, Bank: "alice", Stream: "MEM_WRITES", Seq: seq, Whole: true}}, facts: map[memory.FactID]bool{f.ID: true}})
		gone(t, c, c.Naming.Writes(), seq)
		e, err := c.EventAt(t.Context(), c.Naming.Writes(), seq+1)
		if err != nil {
			t.Fatal(err)
		}
		w, err := e.Write()
		if err != nil || w.Erased == nil || len(w.Erased.Writes) != 1 || w.Erased.Writes[0].Op != memory.HashedOp("alice", "op-3") || len(w.Facts) > 0 {
			t.Errorf("noted is %+v, %v", w, err)
		}
	})
}
