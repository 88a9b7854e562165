package llm_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
	"github.com/eunoe-memory/eunoe/test/scriptedmodel"
)

// awayKinds are the faults of an unavailable model.
var awayKinds = []scriptedmodel.Kind{
	scriptedmodel.RateLimit, scriptedmodel.ServerError, scriptedmodel.BadGateway, scriptedmodel.Overloaded, scriptedmodel.Hang, scriptedmodel.Slow,
	scriptedmodel.Reset, scriptedmodel.Cut, scriptedmodel.WebPage, scriptedmodel.NoChoices,
}

// badKinds are the faults of a model that returns unusable answers.
var badKinds = []scriptedmodel.Kind{
	scriptedmodel.Truncated, scriptedmodel.Length, scriptedmodel.Fences, scriptedmodel.Prose, scriptedmodel.BareList, scriptedmodel.WrongTypes,
	scriptedmodel.BadItem, scriptedmodel.MissingIDs, scriptedmodel.ForeignIDs, scriptedmodel.InventedIDs, scriptedmodel.Duplicates,
	scriptedmodel.Empty, scriptedmodel.NoItems, scriptedmodel.Megabytes, scriptedmodel.InvalidUTF8, scriptedmodel.SingleQuotes, scriptedmodel.Refusal,
}

// faultCase is a bank in which the calls of one stage fail in one way.
type faultCase struct {
	name  string // whom its texts speak of
	bank  memory.BankID
	stage string
	kind  scriptedmodel.Kind
}

func (p faultCase) String() string { return fmt.Sprintf("%s, %s", p.stage, p.kind) }

// faultCases returns a case for each fault of each stage. The names of two calls never share one.
func faultCases(tag string, kinds []scriptedmodel.Kind, stages ...string) []faultCase {
	var out []faultCase
	for _, stage := range stages {
		for _, k := range kinds {
			n := len(out)
			name := fmt.Sprintf("Kim%s%c%c", tag, 'a'+n/26, 'a'+n%26)
			out = append(out, faultCase{name, memory.BankID(strings.ToLower(name)), stage, k})
		}
	}
	return out
}

// sentences are ten memorable statements about a person, one per message.
func sentences() []string {
	return []string{
		"I moved to Porto in 2024.", "I work as a carpenter.", "My sister plays the cello.", "I am allergic to walnuts.", "I own two grey cats.",
		"I bake bread on Saturdays.", "My bicycle is green.", "I study Portuguese at night.", "I like cold soup.", "My desk is made of oak.",
	}
}

// statements are facts about one person; some require a decision, and some are similar to each other.
func statements(name string) []memory.FactInput {
	var out []memory.FactInput
	for i, text := range []string{
		"keeps the red boat in the north harbour.", "keeps the red boat in the south harbour.",
		"waters the tall green plants in the morning.", "waters the tall green plants in the evening.",
		"likes black tea with lemon.", "likes green tea with lemon.",
	} {
		said := time.Date(2026, 3, 2, 18, 30+i, 0, 0, time.UTC)
		out = append(out, memory.FactInput{Text: name + " " + text, Said: &said, Entities: []string{"person:" + name}})
	}
	return out
}

// retain stores the statements about a case's person.
func (w *pipeline) retain(t *testing.T, bank memory.BankID, facts []memory.FactInput) {
	t.Helper()
	r, err := w.client.Retain(t.Context(), bank, wire.RetainRequest{Facts: facts, WriteControl: unhurried()})
	if err != nil || len(r.Results) != len(facts) {
		t.Fatalf("retain in %s: %+v, %v", bank, r, err)
	}
}

// state is a comparable form of a bank: the person is renamed to Kim, and ids are left out.
func (w *pipeline) state(t *testing.T, p faultCase) string {
	t.Helper()
	var out []string
	for _, it := range w.facts(t, p.bank) {
		out = append(out, factTexts([]memory.Item{it})...)
	}
	slices.Sort(out)
	var more []string
	for _, record := range []memory.Record{memory.RecordComposite, memory.RecordObservation} {
		for it, err := range w.client.All(t.Context(), p.bank, wire.ListRequest{Record: record, Limit: 200}) {
			if err != nil {
				t.Fatal(err)
			}
			said := strings.Split(it.Text, ". ") // the order is that of ids
			for i := range said {
				said[i] = strings.TrimSuffix(said[i], ".")
			}
			slices.Sort(said)
			more = append(more, string(record)+" "+strings.Join(said, "; "))
		}
	}
	slices.Sort(more)
	return strings.ReplaceAll(strings.ReplaceAll(strings.Join(append(out, more...), "\n"), p.name, "Kim"), strings.ToLower(p.name), "kim")
}

// once fails the test for a duplicate fact or source.
func (w *pipeline) once(t *testing.T, bank memory.BankID) {
	t.Helper()
	ids, texts := map[string]bool{}, map[string]bool{}
	for _, it := range w.facts(t, bank) {
		if ids[it.ID] || texts[memory.NormalText(it.Text)] {
			t.Errorf("%s stands twice", it.Text)
		}
		ids[it.ID], texts[memory.NormalText(it.Text)] = true, true
		for i, s := range it.Sources {
			if slices.Index(it.Sources, s) != i {
				t.Errorf("%s rests twice on %s", it.Text, s)
			}
		}
	}
}

// unhurried is a wait that suffices on a busy machine.
func unhurried() wire.WriteControl {
	long := memory.Duration(natstest.Patience)
	return wire.WriteControl{Wait: &long}
}
