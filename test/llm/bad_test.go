package llm_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/providertest"
)

// The ends that a window has whose every answer is bad in one way.
var badWindows = map[providertest.Kind]string{
	providertest.Fences: "whole", providertest.Prose: "whole", providertest.BareList: "whole", providertest.Duplicates: "whole",
	providertest.SingleQuotes: "whole", providertest.InvalidUTF8: "whole",
	providertest.BadItem: "part", providertest.NoItems: "empty",
	providertest.Truncated: "dead", providertest.Length: "dead", providertest.WrongTypes: "dead", providertest.MissingIDs: "dead",
	providertest.ForeignIDs: "dead", providertest.InventedIDs: "dead", providertest.Megabytes: "dead", providertest.Refusal: "dead",
	providertest.Empty: "dead",
}

// consolidationStages are asked for beside the writer.
var consolidationStages = []string{memory.StageDecide, memory.StageSummarise, memory.StageObserve}

// control is a case that no fault meets.
func control(tag string) patient {
	name := "Kim" + tag + "zz"
	return patient{name: name, bank: memory.BankID(strings.ToLower(name))}
}

func TestAModelThatAnswersBadly(t *testing.T) {
	t.Parallel()
	wd := newWard(t, bad)
	w := start(t, wd.url, map[string]string{"MAX_ATTEMPTS": "1", "MODEL_PATIENCE": "0", "MODEL_TIMEOUT": "10s"})

	// All fall ill at once; what each case came to is looked at one by one.
	talks := control("a")
	w.say(t, w.keep(talks.bank), "talk", talks.name, sentences()...)
	lasting, once := patients("a", bad, memory.StageExtract), patients("b", bad, memory.StageExtract)
	for _, p := range lasting {
		wd.infect(p.name, p.stage, p.kind, -1)
	}
	for _, p := range once {
		wd.infect(p.name, p.stage, p.kind, 1)
	}
	for _, p := range slices.Concat(lasting, once) {
		w.say(t, w.keep(p.bank), "talk", p.name, sentences()...)
	}
	kept := control("c")
	w.retain(t, w.keep(kept.bank), statements(kept.name))
	w.consolidate(t, kept.bank)
	muddled := patients("c", bad, consolidationStages...)
	for _, p := range muddled {
		wd.infect(p.name, p.stage, p.kind, 1)
		w.retain(t, w.keep(p.bank), statements(p.name))
		w.consolidate(t, p.bank)
	}
	stubborn := patients("e", []providertest.Kind{providertest.WrongTypes}, consolidationStages...)
	for _, p := range stubborn {
		wd.infect(p.name, p.stage, p.kind, -1)
		w.retain(t, w.keep(p.bank), statements(p.name))
		w.consolidate(t, p.bank)
	}
	asked := patients("d", bad, questionStages...)
	w.retain(t, w.keep(library), statements("Kim"))
	stored := patients("f", bad, memory.StageEmbed)
	for _, p := range stored {
		wd.infect(p.name, p.stage, p.kind, 1)
		var facts []memory.FactInput
		for _, text := range unlike(p.name) {
			facts = append(facts, memory.FactInput{Text: text})
		}
		w.retain(t, w.keep(p.bank), facts)
	}

	w.ended(t, talks.bank, len(sentences()))
	whole := w.state(t, talks)
	for _, p := range lasting {
		t.Run(p.String()+": every answer of a window", func(t *testing.T) { w.checkWindow(t, wd, p, badWindows[p.kind], whole) })
	}
	for _, p := range once {
		t.Run(p.String()+": the first answer of a window", func(t *testing.T) {
			end := badWindows[p.kind]
			if end == "dead" { // it is asked for once more
				end = "whole"
			}
			w.checkWindow(t, wd, p, end, whole)
		})
	}
	w.drained(t, kept.bank)
	decided := w.state(t, kept)
	if !strings.Contains(decided, "composite Kim likes black tea with lemon; Kim likes green tea with lemon") || !strings.Contains(decided, "Of Kim:") ||
		strings.Contains(decided, "north harbour") {
		t.Errorf("without a fault: %s", decided)
	}
	for _, p := range muddled {
		t.Run(p.String()+": the first answer", func(t *testing.T) { w.checkDecided(t, p, decided) })
	}
	for _, p := range stubborn {
		t.Run(p.String()+": given up after answers of no use, and done when asked for again", func(t *testing.T) { w.checkGivenUp(t, wd, p, decided) })
	}
	for _, p := range asked {
		t.Run(p.String()+": the answer to a question", func(t *testing.T) {
			wd.infect(p.name, p.stage, p.kind, -1)
			ill := w.ask(t.Context(), p)
			wd.cure(p.name)
			checkHeard(t, p, ill, w.ask(t.Context(), p))
		})
	}
	for _, p := range stored {
		t.Run(p.String()+": the vectors of what is stored", func(t *testing.T) { w.checkVectors(t, p) })
	}
	t.Run("the reasons are counted", func(t *testing.T) {
		text := w.metrics(t)
		for _, m := range []string{
			`eunoe_consolidate_model_answers_total{outcome="nonsense",stage="decide"}`, `eunoe_consolidate_model_answers_total{outcome="nonsense",stage="summarise"}`,
			`eunoe_consolidate_model_answers_total{outcome="nonsense",stage="observe"}`, `eunoe_consolidate_model_items_total{outcome="refused",stage="decide"}`,
			`eunoe_consolidate_model_items_total{outcome="dropped",stage="decide"}`, `eunoe_extract_windows_total{outcome="dead"}`, "eunoe_extract_refused_total",
		} {
			if !strings.Contains(text, "\n"+m+" ") || strings.Contains(text, "\n"+m+" 0\n") {
				t.Errorf("%s is missing or 0", m)
			}
		}
	})
	t.Run("every call that came is counted for its bank, and the store is sound", func(t *testing.T) { w.checkBooks(t, wd) })
}

// checkWindow holds a bank to the end its one window has, and then to what it
// becomes without the fault.
func (w *world) checkWindow(t *testing.T, wd *ward, p patient, end, whole string) {
	n := len(sentences())
	s := w.ended(t, p.bank, n)
	w.once(t, p.bank)
	want := map[string]memory.Conservation{
		"whole": {Published: n, Committed: n}, "part": {Published: n, Committed: n}, "dead": {Published: n, Dead: n}, "empty": {Published: n, Empty: n},
	}[end]
	if s.Conservation != want {
		t.Fatalf("the books: %+v; expected %s", s.Conservation, end)
	}
	if wd.hits(p.stage, p.name) == 0 {
		t.Fatal("no call met the fault")
	}
	wd.cure(p.name)
	switch end {
	case "whole":
	case "part":
		had, all := strings.Split(w.state(t, p), "\n"), strings.Split(whole, "\n")
		facts := slices.DeleteFunc(had, func(l string) bool { return !strings.Contains(l, "←") || !slices.Contains(all, l) })
		if len(facts) != n-1 {
			t.Errorf("of ten facts these are kept:\n%s", strings.Join(had, "\n"))
		}
		w.checkRefused(t, p)
		w.anew(t, p.bank)
	case "empty":
		w.anew(t, p.bank)
	case "dead":
		w.retryDead(t, p)
	}
	var now string
	eventually(t, "all facts are there", func() bool {
		now = strings.ReplaceAll(w.state(t, p), "\uFFFD", "")
		return now == whole || t.Failed()
	})
	if s := w.ended(t, p.bank, n); s.Conservation.Committed != n || s.Dead != 0 {
		t.Errorf("in the end: %+v", s)
	}
	w.once(t, p.bank)
}

// checkRefused wants the log to say which item was left out, and why.
func (w *world) checkRefused(t *testing.T, p patient) {
	t.Helper()
	for _, wr := range w.writes(t, p.bank) {
		if wr.Kind == memory.WriteWindow && len(wr.Refused) == 1 && wr.Refused[0].Reason != "" {
			return
		}
	}
	t.Error("the log does not tell what was left out")
}

// anew has a bank extracted anew.
func (w *world) anew(t *testing.T, bank memory.BankID) {
	t.Helper()
	if n, err := w.client.Admin().Reextract(t.Context(), bank, ""); err != nil || n != 1 {
		t.Fatalf("%d windows anew, %v", n, err)
	}
}

// retryDead wants one dead letter with its reason and the answer that was of
// no use, and sends it again.
func (w *world) retryDead(t *testing.T, p patient) {
	t.Helper()
	letters := w.letters(t, p.bank)
	if len(letters) != 1 {
		t.Fatalf("%d dead letters", len(letters))
	}
	l, err := w.client.Admin().DeadLetter(t.Context(), letters[0].ID)
	if err != nil || l.Stage != "extract" || l.Reason == "" || strings.Contains(l.Reason, p.name) {
		t.Errorf("the dead letter: %+v, %v", l, err)
	}
	answered := slices.Contains(bad, p.kind) && p.kind != providertest.Empty
	if answered != (l.Output != "" && l.Prompt == "extract/1") || len(l.Output) > 64<<10 {
		t.Errorf("it keeps %d bytes of the answer to %q", len(l.Output), l.Prompt)
	}
	if err := w.client.Admin().RetryDead(t.Context(), l.ID); err != nil {
		t.Fatal(err)
	}
}

// consolidate has everything done that waits for a schedule, and does not wait
// for it: the request is in the log by then.
func (w *world) consolidate(t *testing.T, bank memory.BankID) {
	t.Helper()
	_, err := w.client.Consolidate(t.Context(), bank, consolidation(bank, time.Millisecond))
	if err != nil && !errors.Is(err, memory.ErrDeadline) {
		t.Fatalf("consolidate %s: %v", bank, err)
	}
}

// consolidation is the one request of a bank: repeated, it tells what came of it.
func consolidation(bank memory.BankID, wait time.Duration) memory.ConsolidateRequest {
	d := memory.Duration(wait)
	return memory.ConsolidateRequest{Force: true, WriteControl: memory.WriteControl{Op: "consolidate " + string(bank), Wait: &d}}
}

// drained waits until a consolidation was answered by the models and nothing
// of the bank waits for one.
func (w *world) drained(t *testing.T, bank memory.BankID) {
	t.Helper()
	eventually(t, "nothing of "+string(bank)+" waits for a model", func() bool {
		r, err := w.client.Consolidate(t.Context(), bank, consolidation(bank, time.Second))
		if err != nil || r.Pending {
			return false
		}
		s := w.status(t, bank)
		return s.Decisions.Pending == 0 && s.Writes.Pending == 0
	})
}

// checkDecided wants the same as without a fault, where the answer can be
// mended or asked for again. An empty list is an answer: there is nothing to do.
func (w *world) checkDecided(t *testing.T, p patient, decided string) {
	w.drained(t, p.bank)
	w.once(t, p.bank)
	if u := used(w.status(t, p.bank), p.stage); u.Calls == 0 {
		t.Error("nobody was asked")
	}
	got := strings.ReplaceAll(w.state(t, p), "\uFFFD", "")
	if got == decided {
		return
	}
	lost := map[string]string{memory.StageDecide: "composite Kim keeps the red boat", memory.StageObserve: "south harbour. ←"}[p.stage]
	if p.kind == providertest.NoItems && lost != "" && strings.Contains(got, lost) {
		return
	}
	t.Errorf("got\n%s\nwant\n%s", got, decided)
}

// checkGivenUp wants what the rules made to stand when no answer is of use, and
// the rest to come when it is asked for again.
func (w *world) checkGivenUp(t *testing.T, wd *ward, p patient, decided string) {
	w.drained(t, p.bank)
	w.once(t, p.bank)
	if n := wd.hits(p.stage, p.name); n < 2 {
		t.Errorf("it was asked for %d times", n)
	}
	got := w.state(t, p)
	for _, left := range map[string][]string{
		memory.StageDecide:    {"north harbour. ←", "south harbour. ←", "in the morning. ←", "in the evening. ←"},
		memory.StageSummarise: {"south harbour. ←", "black tea with lemon. ←", "composite Kim likes"},
		memory.StageObserve:   {"south harbour. ←", "composite Kim likes black tea with lemon; Kim likes"},
	}[p.stage] {
		if !strings.Contains(got, left) {
			t.Errorf("%q is gone:\n%s", left, got)
		}
	}
	if p.stage != memory.StageObserve {
		return
	}
	wd.cure(p.name)
	if _, err := w.client.Observe(t.Context(), p.bank, memory.ObserveRequest{WriteControl: unhurried()}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is observed when it is asked for again", func() bool { return w.state(t, p) == decided })
}

// checkHeard wants a question answered as without the fault, or with the
// reason named.
func checkHeard(t *testing.T, p patient, ill, well heard) {
	t.Helper()
	ill.check(t)
	well.check(t)
	if len(well.degraded) > 0 || p.stage == memory.StageReflect && well.mode != "answer" {
		t.Errorf("after the cure: %q, %q", well.mode, well.degraded)
	}
	if len(ill.degraded) == 0 {
		ill.text = strings.ReplaceAll(ill.text, "\uFFFD", "")
	}
	same := strings.HasPrefix(well.text, strings.ReplaceAll(strings.Split(ill.text, "\n")[0], "\uFFFD", "")) || ill.text == well.text
	mends := p.stage != memory.StageEmbed && p.stage != memory.StageRerank &&
		slices.Contains([]providertest.Kind{providertest.Fences, providertest.Prose, providertest.SingleQuotes, providertest.Duplicates}, p.kind)
	switch named := ill.names(p.stage); {
	case mends && (ill.text != well.text || len(ill.degraded) > 0):
		t.Errorf("it can be mended, and gave %q, %q", ill.degraded, ill.text)
	case !named && !same && p.stage != "adequacy":
		t.Errorf("nobody says why it is another answer: %q, %q; well: %q", ill.degraded, ill.text, well.text)
	}
}

// unlike are facts that no vector puts near each other.
func unlike(name string) []string {
	return []string{name + " paints fences.", "The kettle of " + name + " whistles at dawn.", name + " distrusts elevators."}
}

// checkVectors wants every fact to be nearest to its own words.
func (w *world) checkVectors(t *testing.T, p patient) {
	for _, text := range unlike(p.name) {
		last := ""
		eventually(t, text+" has its vector", func() bool {
			one := 1
			r, err := w.client.Recall(t.Context(), p.bank, memory.RecallRequest{Query: text, MaxFacts: &one, Explain: true,
				Filter: memory.Filter{Records: []memory.Record{memory.RecordFact}}, Strategies: map[string]float64{memory.StrategySemantic: 1}})
			last = fmt.Sprintf("%+v, %v", r, err)
			return err == nil && len(r.Items) == 1 && r.Items[0].Text == text && r.Items[0].Explain[memory.StrategySemantic].Rank == 1
		})
		if t.Failed() {
			t.Log(last)
		}
	}
	w.once(t, p.bank)
}

// checkBooks wants the usage of all banks to be every call that came to the
// models, and the store to be whole. A call that its time was over for may have
// been given up on the way: it is counted as failed, and did not come.
func (w *world) checkBooks(t *testing.T, wd *ward) {
	var got, failed, want map[string]int
	defer func() { t.Logf("counted %v, of them failed %v, of %v", got, failed, want) }()
	eventually(t, "every call is counted", func() bool {
		got, failed, want = map[string]int{}, map[string]int{}, wd.calls()
		for b, err := range w.client.Admin().Banks(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			for _, u := range w.status(t, b.ID).Usage {
				got[u.Stage] += u.Calls
				failed[u.Stage] += u.Failed
			}
		}
		for stage := range got {
			if got[stage] < want[stage] || got[stage]-failed[stage] > want[stage] {
				return t.Failed()
			}
		}
		return len(got) >= len(want) || t.Failed()
	})
	if report, err := w.client.Admin().Verify(t.Context()); err != nil || !strings.Contains(string(report), `"ok":true`) {
		t.Errorf("%s, %v", report, err)
	}
}
