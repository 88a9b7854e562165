package storetest

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
)

func usage(t *testing.T, h *harness) {
	decide := func(_ plan.View, w memory.Write) (memory.Changes, error) {
		return memory.Changes{Bank: &memory.Bank{ID: w.Bank, Created: epoch, Version: w.Seq}, Changes: []memory.Change{{What: memory.ChangeBank, Record: string(w.Bank)}}}, nil
	}
	used := func(stage, model string, tokens int) memory.StageUsage {
		return memory.StageUsage{Stage: stage, Model: model, Usage: memory.Usage{Calls: 1, Failed: tokens % 2, PromptTokens: tokens, CachedTokens: 1, CompletionTokens: 2}}
	}
	write := func(bank memory.BankID, op string, seconds int, u ...memory.StageUsage) {
		w := memory.Write{Bank: bank, Kind: memory.WriteBank, Seq: h.writes + 1, Op: op, Time: at(seconds), Usage: u}
		h.must(h.ApplyWrites(context.Background(), h.writes, w.Seq, []memory.Write{w}, decide))
		h.writes = w.Seq
	}
	write("b", "one", 1, used("extract", "m", 10), used("embed", "e", 5))
	write("b", "one", 2, used("extract", "m", 11)) // came again: counts
	write("b", "one", 1, used("extract", "m", 10)) // appended anew: does not
	write("b", "two", 86400, used("extract", "n", 20))
	write("b", "three", 4)
	write("c", "one", 1, used("extract", "m", 100))
	sums := func(bank memory.BankID) (out []memory.StageUsage) {
		h.must(h.Read(context.Background(), bank, func(r query.Reader) (err error) {
			out, err = r.Usage()
			return err
		}))
		return out
	}
	want := []memory.StageUsage{
		used("embed", "e", 5),
		{Stage: "extract", Model: "m", Usage: memory.Usage{Calls: 2, Failed: 1, PromptTokens: 21, CachedTokens: 2, CompletionTokens: 4}},
		used("extract", "n", 20),
	}
	if d := cmp.Diff(want, sums("b")); d != "" {
		t.Error(d)
	}
	spent := func(bank memory.BankID, day string, tokens, bound int64) {
		t.Helper()
		if got, most, err := h.Spent(context.Background(), bank, day); err != nil || got != tokens || most != bound {
			t.Errorf("%s spent %d of %d on %s, %v; want %d of %d", bank, got, most, day, err, tokens, bound)
		}
	}
	spent("b", "2026-05-20", 25, 0) // without embedding
	spent("b", "2026-05-21", 22, 0)
	spent("b", "2026-05-22", 0, 0)
	spent("nobody", "2026-05-20", 0, 0)
	h.reopen("", 0)
	if d := cmp.Diff(want, sums("b")); d != "" {
		t.Errorf("after a restart: %s", d)
	}
	if d := cmp.Diff([]memory.StageUsage{used("extract", "m", 100)}, sums("c")); d != "" {
		t.Error(d)
	}
	var dump bytes.Buffer
	h.must(h.Dump(context.Background(), &dump))
	for _, day := range []string{"2026-05-20", "2026-05-21"} {
		if !strings.Contains(dump.String(), `"`+day+`"`) {
			t.Errorf("no usage is kept under %s", day)
		}
	}
	quota := memory.Write{Bank: "c", Kind: memory.WriteBank, Seq: h.writes + 1, Op: "quota", Time: at(5)}
	h.must(h.ApplyWrites(context.Background(), h.writes, quota.Seq, []memory.Write{quota}, func(plan.View, memory.Write) (memory.Changes, error) {
		return memory.Changes{Bank: &memory.Bank{ID: "c", Created: epoch, Version: quota.Seq, Quotas: &memory.Quotas{TokensPerDay: 70}}}, nil
	}))
	h.writes = quota.Seq
	spent("c", "2026-05-20", 102, 70)
	list, err := h.Outbox(context.Background(), 0, 100)
	h.must(err)
	told, ids := map[uint64]int{}, map[string]bool{}
	for _, e := range list {
		if ids[e.Change.ID] {
			t.Errorf("two changes have the id %s", e.Change.ID)
		}
		ids[e.Change.ID] = true
		if e.Change.What == memory.ChangeUsage {
			told[e.Change.Write]++
		}
	}
	if d := cmp.Diff(map[uint64]int{1: 2, 2: 1, 4: 1, 6: 1}, told); d != "" {
		t.Errorf("changes of usage by write: %s", d)
	}
}
