package llm_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
	"github.com/eunoe-memory/eunoe/test/scriptedmodel"
)

// The outcomes of a window whose every answer has the same fault.
var badWindows = map[scriptedmodel.Kind]string{
	scriptedmodel.Fences: "whole", scriptedmodel.Prose: "whole", scriptedmodel.BareList: "whole", scriptedmodel.Duplicates: "whole",
	scriptedmodel.SingleQuotes: "whole", scriptedmodel.InvalidUTF8: "whole",
	scriptedmodel.BadItem: "part", scriptedmodel.NoItems: "empty",
	scriptedmodel.Truncated: "dead", scriptedmodel.Length: "dead", scriptedmodel.WrongTypes: "dead", scriptedmodel.MissingIDs: "dead",
	scriptedmodel.ForeignIDs: "dead", scriptedmodel.InventedIDs: "dead", scriptedmodel.Megabytes: "dead", scriptedmodel.Refusal: "dead",
	scriptedmodel.Empty: "dead",
}

// consolidationStages are the stages that run concurrently with the writer.
var consolidationStages = []string{memory.StageDecide, memory.StageSummarise, memory.StageObserve}

// control is the case without a fault.
func control(tag string) faultCase {
	name := "Kim" + tag + "zz"
	return faultCase{name: name, bank: memory.BankID(strings.ToLower(name))}
}

func TestAModelThatAnswersBadly(t *testing.T) {
	t.Parallel()
	model := newFaultyModel(t, badKinds)
	w := start(t, model.url, map[string]string{"MAX_ATTEMPTS": "1", "MODEL_TIMEOUT": "10s"})

	// All faults are set at once; the outcome of each case is checked one by one.
	talks := control("a")
	w.say(t, w.keep(talks.bank), "talk", talks.name, sentences()...)
	lasting, once := faultCases("a", badKinds, memory.StageExtract), faultCases("b", badKinds, memory.StageExtract)
	for _, p := range lasting {
		model.setFault(p.name, p.stage, p.kind, -1)
	}
	for _, p := range once {
		model.setFault(p.name, p.stage, p.kind, 1)
	}
	for _, p := range slices.Concat(lasting, once) {
		w.say(t, w.keep(p.bank), "talk", p.name, sentences()...)
	}
	kept := control("c")
	w.retain(t, w.keep(kept.bank), statements(kept.name))
	w.consolidate(t, kept.bank)
	muddled := faultCases("c", badKinds, consolidationStages...)
	for _, p := range muddled {
		model.setFault(p.name, p.stage, p.kind, 1)
		w.retain(t, w.keep(p.bank), statements(p.name))
		w.consolidate(t, p.bank)
	}
	stubborn := faultCases("e", []scriptedmodel.Kind{scriptedmodel.WrongTypes}, consolidationStages...)
	for _, p := range stubborn {
		model.setFault(p.name, p.stage, p.kind, -1)
		w.retain(t, w.keep(p.bank), statements(p.name))
		w.consolidate(t, p.bank)
	}
	asked := faultCases("d", badKinds, questionStages...)
	w.retain(t, w.keep(library), statements("Kim"))
	stored := faultCases("f", badKinds, memory.StageEmbed)
	for _, p := range stored {
		model.setFault(p.name, p.stage, p.kind, 1)
		var facts []memory.FactInput
		for _, text := range unlike(p.name) {
			facts = append(facts, memory.FactInput{Text: text})
		}
		w.retain(t, w.keep(p.bank), facts)
	}

	w.ended(t, talks.bank, len(sentences()))
	whole := w.state(t, talks)
	for _, p := range lasting {
		t.Run(p.String()+": every answer of a window", func(t *testing.T) { w.checkWindow(t, model, p, badWindows[p.kind], whole) })
	}
	for _, p := range once {
		t.Run(p.String()+": the first answer of a window", func(t *testing.T) {
			end := badWindows[p.kind]
			if end == "dead" { // it is asked for once more
				end = "whole"
			}
			w.checkWindow(t, model, p, end, whole)
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
		t.Run(p.String()+": given up after answers of no use, and done when asked for again", func(t *testing.T) { w.checkGivenUp(t, model, p, decided) })
	}
	for _, p := range asked {
		t.Run(p.String()+": the answer to a question", func(t *testing.T) {
			model.setFault(p.name, p.stage, p.kind, -1)
			active := w.ask(t.Context(), p)
			model.clearFault(p.name)
			checkHeard(t, p, active, w.ask(t.Context(), p))
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
	t.Run("every call is counted for its bank, and the store is sound", func(t *testing.T) { w.checkUsage(t, model) })
}

// checkWindow checks the expected outcome of the bank's only window, and then its outcome without the fault.
func (w *pipeline) checkWindow(t *testing.T, model *faultyModel, p faultCase, end, whole string) {
	n := len(sentences())
	s := w.ended(t, p.bank, n)
	w.once(t, p.bank)
	want := map[string]memory.Conservation{
		"whole": {Published: n, Committed: n}, "part": {Published: n, Committed: n}, "dead": {Published: n, Dead: n}, "empty": {Published: n, Empty: n},
	}[end]
	if s.Conservation != want {
		t.Fatalf("the conservation counts are %+v; expected %s", s.Conservation, end)
	}
	if model.hits(p.stage, p.name) == 0 {
		t.Fatal("no call met the fault")
	}
	model.clearFault(p.name)
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

// checkRefused requires that the log names the rejected item and the reason.
func (w *pipeline) checkRefused(t *testing.T, p faultCase) {
	t.Helper()
	for _, wr := range w.writes(t, p.bank) {
		if wr.Kind == memory.WriteWindow && len(wr.Refused) == 1 && wr.Refused[0].Reason != "" {
			return
		}
	}
	t.Error("the log does not tell what was left out")
}

// anew requests re-extraction of a bank.
func (w *pipeline) anew(t *testing.T, bank memory.BankID) {
	t.Helper()
	if n, err := w.client.Admin().Reextract(t.Context(), bank, ""); err != nil || n != 1 {
		t.Fatalf("%d windows anew, %v", n, err)
	}
}

// retryDead requires one dead letter with its reason and the rejected answer, and retries it.
func (w *pipeline) retryDead(t *testing.T, p faultCase) {
	t.Helper()
	letters := w.letters(t, p.bank)
	if len(letters) != 1 {
		t.Fatalf("%d dead letters", len(letters))
	}
	l, err := w.client.Admin().DeadLetter(t.Context(), letters[0].ID)
	if err != nil || l.Stage != "extract" || l.Reason == "" || strings.Contains(l.Reason, p.name) {
		t.Errorf("the dead letter: %+v, %v", l, err)
	}
	answered := slices.Contains(badKinds, p.kind) && p.kind != scriptedmodel.Empty
	if answered != (l.Output != "" && l.Prompt == "extract/1") || len(l.Output) > 64<<10 {
		t.Errorf("it keeps %d bytes of the answer to %q", len(l.Output), l.Prompt)
	}
	if err := w.client.Admin().RetryDead(t.Context(), l.ID); err != nil {
		t.Fatal(err)
	}
}

// consolidate forces all scheduled work and returns once the request is in the log, without waiting for the result.
func (w *pipeline) consolidate(t *testing.T, bank memory.BankID) {
	t.Helper()
	_, err := w.client.Consolidate(t.Context(), bank, consolidation(bank, time.Millisecond))
	if err != nil && !errors.Is(err, memory.ErrDeadline) {
		t.Fatalf("consolidate %s: %v", bank, err)
	}
}

// consolidation is the only consolidate request of a bank; repeating it returns its outcome.
func consolidation(bank memory.BankID, wait time.Duration) wire.ConsolidateRequest {
	d := memory.Duration(wait)
	return wire.ConsolidateRequest{Force: true, WriteControl: wire.WriteControl{Op: "consolidate " + string(bank), Wait: &d}}
}

// drained waits until the models answered a consolidation and no work of the bank waits for a model.
func (w *pipeline) drained(t *testing.T, bank memory.BankID) {
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

// checkDecided requires the result of the case without a fault where the answer can be repaired or requested again. An
// empty list is a valid answer: there is nothing to do.
func (w *pipeline) checkDecided(t *testing.T, p faultCase, decided string) {
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
	if p.kind == scriptedmodel.NoItems && lost != "" && strings.Contains(got, lost) {
		return
	}
	t.Errorf("got\n%s\nwant\n%s", got, decided)
}

// checkGivenUp requires that the rules' results remain when no answer is usable, and that the rest follows when it is
// requested again.
func (w *pipeline) checkGivenUp(t *testing.T, model *faultyModel, p faultCase, decided string) {
	w.drained(t, p.bank)
	w.once(t, p.bank)
	if n := model.hits(p.stage, p.name); n < 2 {
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
	model.clearFault(p.name)
	if _, err := w.client.Observe(t.Context(), p.bank, wire.ObserveRequest{WriteControl: unhurried()}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is observed when it is asked for again", func() bool { return w.state(t, p) == decided })
}

// checkHeard requires the answer of the case without the fault, or one that names the reason.
func checkHeard(t *testing.T, p faultCase, active, healthy answer) {
	t.Helper()
	active.check(t)
	healthy.check(t)
	if len(healthy.degraded) > 0 || p.stage == memory.StageReflect && healthy.mode != "answer" {
		t.Errorf("after the cure: %q, %q", healthy.mode, healthy.degraded)
	}
	if len(active.degraded) == 0 {
		active.text = strings.ReplaceAll(active.text, "\uFFFD", "")
	}
	same := strings.HasPrefix(healthy.text, strings.ReplaceAll(strings.Split(active.text, "\n")[0], "\uFFFD", "")) || active.text == healthy.text
	mends := p.stage != memory.StageEmbed && p.stage != memory.StageRerank &&
		slices.Contains([]scriptedmodel.Kind{scriptedmodel.Fences, scriptedmodel.Prose, scriptedmodel.SingleQuotes, scriptedmodel.Duplicates}, p.kind)
	switch named := active.names(p.stage); {
	case mends && (active.text != healthy.text || len(active.degraded) > 0):
		t.Errorf("it can be mended, and gave %q, %q", active.degraded, active.text)
	case !named && !same && p.stage != "adequacy":
		t.Errorf("nobody says why it is another answer: %q, %q; well: %q", active.degraded, active.text, healthy.text)
	}
}

// unlike are facts whose vectors are far apart.
func unlike(name string) []string {
	return []string{name + " paints fences.", "The kettle of " + name + " whistles at dawn.", name + " distrusts elevators."}
}

// checkVectors requires that every fact is the nearest neighbour of its own text.
func (w *pipeline) checkVectors(t *testing.T, p faultCase) {
	for _, text := range unlike(p.name) {
		last := ""
		eventually(t, text+" has its vector", func() bool {
			one := 1
			r, err := w.client.Recall(t.Context(), p.bank, wire.RecallRequest{Query: text, MaxFacts: &one, Explain: true,
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

// checkUsage requires that the usage of all banks equals the calls that reached the models, and that the store is
// sound. A call that timed out may not have reached the model: it is counted as failed.
func (w *pipeline) checkUsage(t *testing.T, model *faultyModel) {
	var got, failed, want map[string]int
	defer func() { t.Logf("counted %v, of them failed %v, of %v", got, failed, want) }()
	eventually(t, "every call is counted", func() bool {
		got, failed, want = map[string]int{}, map[string]int{}, model.calls()
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
	if report, err := w.client.Admin().Verify(t.Context(), wire.VerifyRequest{}); err != nil || !report.OK {
		t.Errorf("%+v, %v", report, err)
	}
}
