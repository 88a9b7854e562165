package query_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/query/reflect"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// spends records the model usage of alice in the store and sets her daily token quota.
func (w *fixture) spends(stage string, tokens int, quota int64) {
	w.t.Helper()
	w.write++
	ev := memory.Write{Bank: alice, Kind: memory.WriteUsage, Seq: w.write, Op: "used", Time: noon,
		Usage: []memory.StageUsage{{Stage: stage, Model: "m", Usage: memory.Usage{Calls: 1, PromptTokens: tokens - 1, CompletionTokens: 1}}}}
	changes := memory.Changes{Bank: &memory.Bank{ID: alice, Created: noon, Version: w.write, Disposition: memory.DefaultDisposition(), Quotas: &memory.Quotas{TokensPerDay: quota}}}
	err := w.db.ApplyWrites(context.Background(), w.write-1, w.write, []memory.Write{ev},
		func(plan.View, memory.Write) (memory.Changes, error) { return changes, nil })
	if err != nil {
		w.t.Fatal(err)
	}
}

func TestTokenBudget(t *testing.T) {
	t.Parallel()
	const over = "the bank took 100 of the 100 tokens it may take on 2026-05-20 (tokens_per_day)"
	t.Run("over the daily budget reflect returns the context and says why", func(t *testing.T) {
		t.Parallel()
		m := &told{}
		w := home(t, m)
		w.spends(memory.StageExtract, 100, 100)
		r := mustReflect(t, w, question("Where does Alice live?"))
		if r.Mode != "context" || m.asked() != 0 || !hasDegraded(r.Degraded, "answer: "+over+"; the context is given") || !strings.Contains(r.Response, "Alice lives in Lisbon.") {
			t.Errorf("got %+v after %d calls", r, m.asked())
		}
		asked := question("Where does Alice live?")
		asked.Style = reflect.StyleContext
		if r := mustReflect(t, w, asked); hasDegraded(r.Degraded, "tokens") {
			t.Errorf("a context that was asked for is degraded: %v", r.Degraded)
		}
	})
	t.Run("below the budget, on another day, for another bank and for embedding alone reflect answers", func(t *testing.T) {
		t.Parallel()
		for name, c := range map[string]struct {
			stage         string
			tokens        int
			quota, common int64
			now           time.Time
			mode          string
		}{
			"below":                           {memory.StageExtract, 99, 100, 0, noon, "answer"},
			"no bound":                        {memory.StageReflect, 1000000, 0, 0, noon, "answer"},
			"embedding alone":                 {memory.StageEmbed, 1000, 100, 0, noon, "answer"},
			"the next day":                    {memory.StageExtract, 1000, 100, 0, noon.Add(12 * time.Hour), "answer"},
			"the deployment's bound":          {memory.StageExtract, 1000, 0, 100, noon, "context"},
			"its own before the deployment's": {memory.StageExtract, 1000, 2000, 100, noon, "answer"},
		} {
			m := &told{steps: []step{done("Lisbon [1].", 1)}}
			cfg := query.DefaultConfig()
			cfg.Recall.TokensPerDay = c.common
			w := furnish(newFixtureWith(t, cfg, func(d *query.Deps) { withModel(m)(d); d.Now = func() time.Time { return c.now } }))
			w.spends(c.stage, c.tokens, c.quota)
			if r := mustReflect(t, w, question("Where does Alice live?")); r.Mode != c.mode {
				t.Errorf("%s: got %+v", name, r)
			}
		}
	})
	t.Run("over the budget no judge and no adequacy round runs, and both are reported as degraded", func(t *testing.T) {
		t.Parallel()
		m := &told{steps: []step{judges(t, nil, 0)}}
		w := tea(t, m)
		before := textsOf(w.recall(alice, wire.RecallRequest{Query: "Who has tea?"}).Items)
		w.spends(memory.StageJudge, 100, 100)
		r := judged(ptr(.5))
		r.Adequacy = 2
		got := w.recall(alice, r)
		if m.asked() != 0 || got.Judged != nil || !hasDegraded(got.Degraded, "judge: "+over) || !hasDegraded(got.Degraded, "adequacy: "+over) {
			t.Errorf("got %v, %+v after %d calls", got.Degraded, got.Judged, m.asked())
		}
		if after := textsOf(got.Items); strings.Join(after, "|") != strings.Join(before, "|") {
			t.Errorf("found %q, before %q", after, before)
		}
	})
}
