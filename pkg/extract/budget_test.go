package extract_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/work"
	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// parks reports whether a budget puts a window of alice aside.
func parks(t *testing.T, b *extract.Budget, seq uint64) bool {
	t.Helper()
	w := memory.Window{Bank: bank, Session: session, New: []memory.WindowMessage{{Seq: seq}}}
	parked, err := b.Park(t.Context(), events.Event{Bank: w.Bank, Session: w.Session, Kind: events.KindWindow, Seq: seq, Data: []byte(`{"new":[{"seq":1}]}`)})
	if err != nil {
		t.Fatal(err)
	}
	return parked
}

func newBudget(t *testing.T, c *events.Conn, now func() time.Time, perDay int64) *extract.Budget {
	t.Helper()
	cfg := extract.DefaultBudgetConfig()
	cfg.TokensPerDay, cfg.Metered = perDay, true
	b, err := extract.NewBudget(cfg, extract.BudgetDeps{Conn: c, Log: zerolog.Nop(), Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func used(tokens int) []memory.StageUsage {
	return []memory.StageUsage{
		{Stage: memory.StageExtract, Model: "m", Usage: memory.Usage{Calls: 1, PromptTokens: tokens - 1, CompletionTokens: 1}},
		{Stage: memory.StageEmbed, Model: "e", Usage: memory.Usage{Calls: 1, PromptTokens: 1000}},
	}
}

func TestSpending(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 5, 20, 12, 0, 0, 0, time.UTC)
	t.Run("the tokens that several processes spend at once add up", func(t *testing.T) {
		t.Parallel()
		c, at := natstest.Start(t), newClock(noon)
		var all sync.WaitGroup
		for range 4 {
			b := newBudget(t, natstest.Another(t, c), at.now, 201)
			all.Go(func() {
				for range 5 {
					b.Spend(t.Context(), bank, used(10))
				}
			})
		}
		all.Wait()
		b := newBudget(t, c, at.now, 201)
		if parks(t, b, 1) {
			t.Error("200 of 201 tokens park a window")
		}
		b.Spend(t.Context(), bank, used(1))
		if !parks(t, b, 2) {
			t.Error("201 of 201 tokens park no window")
		}
		if n, err := work.CountParked(t.Context(), c, bank); err != nil || n != 1 {
			t.Errorf("%d parked, %v", n, err)
		}
	})
	t.Run("usage that could not be written counts here at once and everywhere later", func(t *testing.T) {
		t.Parallel()
		s := natstest.StartServer(t)
		c := s.Connect(t)
		if err := c.Reconcile(t.Context(), events.DefaultStreamOptions()); err != nil {
			t.Fatal(err)
		}
		b := newBudget(t, c, newClock(noon).now, 100)
		s.Shutdown()
		b.Spend(t.Context(), bank, used(100))
		s.Restart(t)
		natstest.Eventually(t, "the connection is there again", func() bool {
			_, err := work.CountParked(t.Context(), c, bank)
			return err == nil
		})
		if !parks(t, b, 1) {
			t.Error("what was spent while the broker was away does not count")
		}
		b.Spend(t.Context(), bank, used(1))
		if !parks(t, newBudget(t, c, newClock(noon).now, 101), 2) {
			t.Error("another process does not know what was spent")
		}
	})
	t.Run("without a language model, or a bound, nothing is parked", func(t *testing.T) {
		t.Parallel()
		c, at := natstest.Start(t), newClock(noon)
		newBudget(t, c, at.now, 100).Spend(t.Context(), bank, used(100))
		cfg := extract.DefaultBudgetConfig()
		cfg.TokensPerDay = 100
		rules, err := extract.NewBudget(cfg, extract.BudgetDeps{Conn: c, Now: at.now})
		if err != nil {
			t.Fatal(err)
		}
		for name, b := range map[string]*extract.Budget{"rules": rules, "no bound": newBudget(t, c, at.now, 0), "no budget": nil} {
			if parks(t, b, 1) {
				t.Errorf("%s: a window is parked", name)
			}
		}
		at.move(12 * time.Hour)
		if parks(t, newBudget(t, c, at.now, 100), 1) {
			t.Error("the next day begins with tokens spent")
		}
	})
	t.Run("a process whose clock is before midnight takes nothing from what one after it spent", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		at := func(ahead time.Duration) *extract.Budget {
			return newBudget(t, c, newClock(noon.Add(ahead)).now, 100)
		}
		early, late := at(0), at(13*time.Hour)
		at(240*time.Hour).Spend(t.Context(), bank, used(100))
		if parks(t, early, 1) {
			t.Error("what a clock far ahead wrote counts today")
		}
		for range 5 {
			late.Spend(t.Context(), bank, used(10))
			early.Spend(t.Context(), bank, used(10))
		}
		if !parks(t, late, 2) || !parks(t, early, 3) {
			t.Error("100 of 100 tokens park no window")
		}
	})
	t.Run("settings out of range are refused", func(t *testing.T) {
		t.Parallel()
		for _, c := range []extract.BudgetConfig{{TokensPerDay: -1, Tick: time.Second, Ahead: 1}, {Ahead: 1}, {Tick: time.Second}} {
			if err := c.Validate(); !errors.Is(err, memory.ErrInvalid) {
				t.Errorf("%+v: %v", c, err)
			}
		}
	})
}
