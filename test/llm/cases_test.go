package llm_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/providertest"
)

// away are the faults of a model that does not answer.
var away = []providertest.Kind{
	providertest.RateLimit, providertest.ServerError, providertest.BadGateway, providertest.Overloaded, providertest.Hang, providertest.Slow,
	providertest.Reset, providertest.Cut, providertest.WebPage, providertest.NoChoices,
}

// bad are the faults of a model that answers badly.
var bad = []providertest.Kind{
	providertest.Truncated, providertest.Length, providertest.Fences, providertest.Prose, providertest.BareList, providertest.WrongTypes,
	providertest.BadItem, providertest.MissingIDs, providertest.ForeignIDs, providertest.InventedIDs, providertest.Duplicates,
	providertest.Empty, providertest.NoItems, providertest.Megabytes, providertest.InvalidUTF8, providertest.SingleQuotes, providertest.Refusal,
}

// patient is one case: a bank in which the calls of one stage go wrong in one way.
type patient struct {
	name  string // whom its texts speak of
	bank  memory.BankID
	stage string
	kind  providertest.Kind
}

func (p patient) String() string { return fmt.Sprintf("%s, %s", p.stage, p.kind) }

// patients gives a case for each fault of each stage. The names of two calls
// never share one.
func patients(tag string, kinds []providertest.Kind, stages ...string) []patient {
	var out []patient
	for _, stage := range stages {
		for _, k := range kinds {
			n := len(out)
			name := fmt.Sprintf("Kim%s%c%c", tag, 'a'+n/26, 'a'+n%26)
			out = append(out, patient{name, memory.BankID(strings.ToLower(name)), stage, k})
		}
	}
	return out
}

// sentences are ten things to remember of somebody, one a message.
func sentences() []string {
	return []string{
		"I moved to Porto in 2024.", "I work as a carpenter.", "My sister plays the cello.", "I am allergic to walnuts.", "I own two grey cats.",
		"I bake bread on Saturdays.", "My bicycle is green.", "I study Portuguese at night.", "I like cold soup.", "My desk is made of oak.",
	}
}

// statements are facts of which some leave a decision open, some are near each
// other, and all are of one person.
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
func (w *world) retain(t *testing.T, bank memory.BankID, facts []memory.FactInput) {
	t.Helper()
	r, err := w.client.Retain(t.Context(), bank, memory.RetainRequest{Facts: facts, WriteControl: unhurried()})
	if err != nil || len(r.Results) != len(facts) {
		t.Fatalf("retain in %s: %+v, %v", bank, r, err)
	}
}

// state is a bank as it is compared with another: the person is called Kim, and
// nothing is named by id.
func (w *world) state(t *testing.T, p patient) string {
	t.Helper()
	var out []string
	for _, it := range w.facts(t, p.bank) {
		out = append(out, told([]memory.Item{it})...)
	}
	slices.Sort(out)
	var more []string
	for _, record := range []memory.Record{memory.RecordComposite, memory.RecordObservation} {
		for it, err := range w.client.All(t.Context(), p.bank, memory.ListRequest{Record: record, Limit: 200}) {
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

// once fails for a fact or a source that stands twice.
func (w *world) once(t *testing.T, bank memory.BankID) {
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

// unhurried waits longer for an outcome than a busy machine takes.
func unhurried() memory.WriteControl {
	long := memory.Duration(20 * time.Second)
	return memory.WriteControl{Wait: &long}
}
