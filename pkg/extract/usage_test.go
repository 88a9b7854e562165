package extract_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/work"
	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// spender is an extractor whose model takes tokens: it fails the first try of
// every window that says "fail", and counts as a provider would.
type spender struct {
	ledger *memory.Meter // what the provider says it took, whatever became of it
	name   string
	banks  map[memory.BankID]*memory.Meter
	tokens int
	failed map[memory.WindowID]bool
}

func newSpender(tokens int) *spender {
	return &spender{ledger: &memory.Meter{}, name: "fake:model", tokens: tokens, banks: map[memory.BankID]*memory.Meter{}, failed: map[memory.WindowID]bool{}}
}

func (s *spender) Name() string { return "spender/1" }

func (s *spender) Extract(ctx context.Context, in extract.Input) ([]extract.Draft, error) {
	fail := strings.Contains(in.New[0].Content, "fail") && !s.failed[in.Window.ID]
	s.failed[in.Window.ID] = true
	if s.banks[in.Bank] == nil {
		s.banks[in.Bank] = &memory.Meter{}
	}
	u := memory.StageUsage{Stage: memory.StageExtract, Model: s.name, Usage: memory.Usage{Calls: 1, PromptTokens: s.tokens - 1, CachedTokens: 1, CompletionTokens: 1}}
	if fail {
		u.Failed, u.CompletionTokens = 1, 0
	}
	embed := memory.StageUsage{Stage: memory.StageEmbed, Model: "fake:embed", Usage: memory.Usage{Calls: 1, PromptTokens: 3}}
	for _, m := range []*memory.Meter{s.ledger, s.banks[in.Bank], memory.MeterOf(ctx)} {
		m.Add(u)
		m.Add(embed)
	}
	if fail {
		return nil, errors.New("the model is not itself")
	}
	return []extract.Draft{{Text: "Alice said: " + in.New[0].Content, Sources: []memory.MessageID{in.New[0].ID}}}, nil
}

// conformUsage holds what is promised of counted tokens.
func conformUsage(t *testing.T) {
	t.Helper()
	t.Run("counted tokens equal what the provider reported, failed calls included", func(t *testing.T) {
		t.Parallel()
		p := newPipeline(t)
		x := newSpender(100)
		stop := p.extractor(x, nil)
		p.say("alice", "s1", "one", "fail two", "three")
		p.say("bob", "s1", "four", "fail five")
		p.until("alice", "alice is extracted", settled(3))
		p.until("bob", "bob is extracted", settled(2))
		stop()
		counted := func(bank memory.BankID, want []memory.StageUsage) func(wire.Status) bool {
			return func(s wire.Status) bool { return cmp.Equal(s.Usage, want) }
		}
		took := map[memory.BankID][]memory.StageUsage{"alice": x.banks["alice"].Take(), "bob": x.banks["bob"].Take()}
		for _, bank := range []memory.BankID{"alice", "bob"} {
			p.until(bank, fmt.Sprintf("the usage of %s is %v", bank, took[bank]), counted(bank, took[bank]))
		}
		if u := took["alice"][1]; u.Stage != memory.StageExtract || u.Calls != 4 || u.Failed != 1 || u.CompletionTokens != 3 {
			t.Errorf("the script is not what was run: %+v", u)
		}
		var sum []memory.StageUsage
		for _, u := range slices.Concat(took["alice"], took["bob"]) {
			sum = memory.AddUsage(sum, u)
		}
		if diff := cmp.Diff(x.ledger.Take(), sum); diff != "" {
			t.Errorf("banks do not sum up to the provider's (-provider +banks):\n%s", diff)
		}
		p.restart()
		for _, bank := range []memory.BankID{"alice", "bob"} {
			p.until(bank, "the usage after a restart", counted(bank, took[bank]))
		}
		natstest.Eventually(t, "one change for each of the 4 writes tells of the usage of extraction", func() bool {
			page, err := p.client.Changes(t.Context(), "alice", wire.ChangesRequest{Limit: 1000})
			n := 0
			for _, c := range page.Items {
				if c.What == memory.ChangeUsage && c.Record == memory.StageExtract && slices.Equal(c.IDs, []string{"fake:model"}) {
					n++
				}
			}
			return err == nil && n == 4
		})
	})
}

func TestBudget(t *testing.T) {
	t.Parallel()
	evening := time.Date(2026, 5, 20, 23, 0, 0, 0, time.UTC)
	said := func(words ...string) []string {
		out := []string{}
		for _, w := range words {
			out = append(out, "Alice said: "+w)
		}
		return out
	}
	same := func(t *testing.T, p *pipeline, bank memory.BankID, want []string) {
		t.Helper()
		if got := p.facts(bank); !slices.Equal(got, want) {
			t.Errorf("facts of %s: %q, want %q", bank, got, want)
		}
	}
	t.Run("windows beyond the budget wait for the next day, and no other bank for them", func(t *testing.T) {
		t.Parallel()
		p, c := newPipeline(t), newClock(evening)
		p.extractor(newSpender(100), p.budget(c, 150))
		p.say("alice", "s1", "one", "two", "three", "four")
		st := p.until("alice", "two windows are parked", func(s wire.Status) bool {
			return s.Windows.Parked == 2 && s.Windows.Pending == 2 && s.Conservation.Committed == 2
		})
		if st.Settled || st.Conservation.Pending != 2 {
			t.Errorf("with parked windows the status is %+v", st)
		}
		p.say("bob", "s1", "five")
		p.until("bob", "bob is not delayed", settled(1))
		p.say("alice", "s2", "six")
		p.until("alice", "later windows wait behind", func(s wire.Status) bool { return s.Windows.Parked == 3 })
		c.move(2 * time.Hour)
		p.until("alice", "the next day's budget is used up too", func(s wire.Status) bool { return s.Conservation.Committed == 4 && s.Windows.Parked == 1 })
		same(t, p, "alice", said("one", "two", "three", "four"))
		c.move(24 * time.Hour)
		p.until("alice", "all is extracted", settled(5))
		same(t, p, "alice", said("one", "two", "three", "four", "six"))
	})
	t.Run("windows that a dead process held or parked come back", func(t *testing.T) {
		t.Parallel()
		p, c := newPipeline(t), newClock(evening)
		dead := p.budget(c, 100)
		for _, bank := range []memory.BankID{"alice", "bob"} {
			dead.Spend(t.Context(), bank, []memory.StageUsage{{Stage: memory.StageExtract, Usage: memory.Usage{PromptTokens: 100}}})
			p.say(bank, "s1", "one")
			p.until(bank, "a window waits", func(s wire.Status) bool { return s.Windows.Pending == 1 })
		}
		// It parked alice's window and died before the acknowledgement; of bob's it only said that they wait.
		s, err := p.conn.JS.Stream(t.Context(), p.conn.Naming.Windows())
		if err != nil {
			t.Fatal(err)
		}
		first, err := p.conn.EventAt(t.Context(), p.conn.Naming.Windows(), s.CachedInfo().State.FirstSeq)
		if err != nil || first.Bank != "alice" {
			t.Fatalf("%+v, %v", first, err)
		}
		if parked, err := dead.Park(t.Context(), first); err != nil || !parked {
			t.Fatal(parked, err)
		}
		first.Bank, first.Seq = "bob", 99
		if _, err := dead.Park(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		list, err := work.ParkedWindows(t.Context(), p.conn, "bob")
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		if err := p.conn.Erase(t.Context(), p.conn.Naming.Parked(), list[0].Seq); err != nil {
			t.Fatal(err)
		}
		c.move(2 * time.Hour)
		p.extractor(newSpender(10), p.budget(c, 100))
		p.until("alice", "alice is extracted", settled(1))
		p.until("bob", "bob is extracted", settled(1))
		same(t, p, "alice", said("one"))
		same(t, p, "bob", said("one"))
	})
	t.Run("a bank's own budget holds, and raising it brings windows back", func(t *testing.T) {
		t.Parallel()
		p, c := newPipeline(t), newClock(evening)
		quota := func(n int64) {
			t.Helper()
			if _, err := p.client.SetBank(t.Context(), "alice", memory.BankUpdate{Quotas: &memory.Quotas{TokensPerDay: n}}); err != nil {
				t.Fatal(err)
			}
			p.until("alice", "the quota is known to extractors", func(wire.Status) bool {
				b, err := p.profile(t.Context(), "alice")
				return err == nil && b.Quotas != nil && b.Quotas.TokensPerDay == n
			})
		}
		quota(100)
		x := newSpender(100)
		stop := p.extractor(x, p.budget(c, 0))
		p.say("alice", "s1", "one", "two", "three")
		p.until("alice", "two windows are parked", func(s wire.Status) bool { return s.Windows.Parked == 2 })
		stop()
		p.extractor(x, p.budget(c, 0)) // another process: what was spent is known to it
		p.say("alice", "s1", "four")
		p.until("alice", "the new process parks too", func(s wire.Status) bool { return s.Windows.Parked == 3 })
		quota(1000)
		p.until("alice", "all is extracted", settled(4))
		same(t, p, "alice", said("one", "two", "three", "four"))
	})
}
