package llm_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/llm"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// counted counts the rows that the loop reads of a store.
type counted struct {
	llm.Store
	rows *atomic.Int64
}

func (c counted) Look(ctx context.Context, bank memory.BankID, fn func(plan.View) error) error {
	return c.Store.Look(ctx, bank, func(v plan.View) error { return fn(countedView{of: v, rows: c.rows}) })
}

// countedView has what decisions and summaries read; any other method panics.
type countedView struct {
	plan.View
	of   plan.View
	rows *atomic.Int64
}

func rows[T any](v countedView, list []T, err error) ([]T, error) {
	v.rows.Add(int64(len(list)))
	return list, err
}

func (v countedView) Pending(k memory.PendingKind, limit int) ([]memory.PendingQuestion, error) {
	list, err := v.of.Pending(k, limit)
	return rows(v, list, err)
}

func (v countedView) Facts(ids []memory.FactID) ([]memory.Fact, error) {
	list, err := v.of.Facts(ids)
	return rows(v, list, err)
}

func (v countedView) Composites(ids []memory.CompositeID) ([]memory.Composite, error) {
	list, err := v.of.Composites(ids)
	return rows(v, list, err)
}

func (v countedView) Nodes(level int, ids []string) ([]memory.Node, error) {
	list, err := v.of.Nodes(level, ids)
	return rows(v, list, err)
}

// conformReads holds what a model's work on one new fact reads.
func conformReads(t *testing.T) {
	t.Run("a model's work on one new fact reads by the number of neighbours, not of facts", func(t *testing.T) {
		t.Parallel()
		read := map[int]int64{}
		for _, n := range []int{20, 300} {
			m := everything(newModel())
			s := newStage(t, m)
			s.llm.SummariseBatch = 1
			var count atomic.Int64
			s.reads = func(st llm.Store) llm.Store { return counted{st, &count} }
			var others []string
			for i := range n {
				others = append(others, fmt.Sprintf("%s %s %s.", word(3*i), word(3*i+1), word(3*i+2)))
			}
			s.tell("m1", others...)
			s.tell("m2", older)
			s.run()
			idle := func() bool {
				return s.fact(older).Text != "" && s.waiting(memory.PendingDecide)+s.waiting(memory.PendingSummarise) == 0
			}
			s.quiet()
			s.eventually("nothing waits", idle)
			count.Store(0)
			calls := m.count(memory.StageDecide)
			s.tell("m3", newer)
			s.eventually("it is decided", func() bool { return s.fact(both).Live() && idle() })
			equal(t, "questions", m.count(memory.StageDecide), calls+1)
			read[n] = count.Load()
		}
		if read[20] == 0 || read[300] > read[20]+2 {
			t.Errorf("rows read by facts of the bank: %v", read)
		}
	})
}

// word returns the nth word of a language without similar words.
func word(n int) string {
	const letters = "bcdfghjklmnpqrstvwxz"
	var b strings.Builder
	for h := uint32(n+1) * 2654435761; b.Len() < 10; h = h*1664525 + 1013904223 {
		b.WriteByte(letters[h>>24%20])
		b.WriteByte("aeiou"[h>>20%5])
	}
	return b.String()
}
