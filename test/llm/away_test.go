package llm_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
	"github.com/eunoe-memory/eunoe/test/scriptedmodel"
)

func TestAModelThatIsAway(t *testing.T) {
	t.Parallel()
	model := newFaultyModel(t, awayKinds)
	// Patience is 0: a window whose model is unavailable becomes a dead letter.
	w := start(t, model.url, map[string]string{"MAX_ATTEMPTS": "2", "MODEL_TIMEOUT": "3s"})

	talks, kept := control("a"), control("c")
	w.say(t, w.keep(talks.bank), "talk", talks.name, sentences()...)
	w.ended(t, talks.bank, len(sentences()))
	whole := w.state(t, talks)
	w.retain(t, w.keep(kept.bank), statements(kept.name))
	w.consolidate(t, kept.bank)
	w.drained(t, kept.bank)
	decided := w.state(t, kept)
	w.retain(t, w.keep(library), statements("Kim"))

	windows := faultCases("a", awayKinds, memory.StageExtract)
	for _, p := range windows {
		model.setFault(p.name, p.stage, p.kind, -1)
		w.say(t, w.keep(p.bank), "talk", p.name, sentences()...)
	}
	decisions := faultCases("c", awayKinds, consolidationStages...)
	for _, p := range decisions {
		model.setFault(p.name, p.stage, p.kind, -1)
		w.retain(t, w.keep(p.bank), statements(p.name))
		w.consolidate(t, p.bank)
	}
	asked := faultCases("d", awayKinds, questionStages...)
	active := w.askAll(t, model, asked)
	for i, p := range asked {
		t.Run(p.String()+": the answer to a question says so", func(t *testing.T) {
			active[i].check(t)
			if !active[i].names(p.stage) || p.stage == memory.StageReflect && active[i].mode != "context" {
				t.Errorf("nobody says why: %q, %q", active[i].mode, active[i].degraded)
			}
		})
	}
	pending := w.stillPending(t, decisions)
	for i, p := range decisions {
		t.Run(p.String()+": what is to be decided waits", func(t *testing.T) {
			if s := w.status(t, p.bank); p.stage == memory.StageDecide && s.Decisions.Pending == 0 {
				t.Errorf("%+v", s)
			}
			if pending[i] != nil {
				t.Error(pending[i])
			}
			w.once(t, p.bank)
			model.clearFault(p.name)
		})
	}
	for _, p := range windows {
		t.Run(p.String()+": a window ends as a dead letter, and yields its facts when it is sent again", func(t *testing.T) {
			w.checkSilent(t, model, p, whole)
		})
	}
	for _, p := range decisions {
		t.Run(p.String()+": what waits is decided when the model is back", func(t *testing.T) {
			w.drained(t, p.bank)
			w.once(t, p.bank)
			if got := w.state(t, p); got != decided {
				t.Errorf("got\n%s\nwant\n%s", got, decided)
			}
		})
	}
	for _, p := range asked {
		t.Run(p.String()+": the answer to a question when the model is back", func(t *testing.T) {
			var healthy answer
			eventually(t, "nothing is left out", func() bool {
				healthy = w.ask(t.Context(), p)
				return len(healthy.degraded) == 0
			})
			healthy.check(t)
		})
	}
	t.Run("every call is counted for its bank, and the store is sound", func(t *testing.T) { w.checkUsage(t, model) })
}

// TestAnEmbedderThatIsAway has its own pipeline: in a shared one other failures lengthen the pauses between attempts.
func TestAnEmbedderThatIsAway(t *testing.T) {
	t.Parallel()
	model := newFaultyModel(t, awayKinds)
	w := start(t, model.url, map[string]string{"MODEL_TIMEOUT": "3s"})
	stored := faultCases("f", []scriptedmodel.Kind{scriptedmodel.ServerError, scriptedmodel.Hang, scriptedmodel.Reset}, memory.StageEmbed)
	for _, p := range stored {
		var facts []memory.FactInput
		for _, text := range unlike(p.name) {
			facts = append(facts, memory.FactInput{Text: text})
		}
		model.setFault(p.name, p.stage, p.kind, 1)
		w.retain(t, w.keep(p.bank), facts)
	}
	for _, p := range stored {
		t.Run(p.String()+": the vectors of what is stored", func(t *testing.T) { w.checkVectors(t, p) })
	}
	t.Run("every call is counted for its bank, and the store is sound", func(t *testing.T) { w.checkUsage(t, model) })
}

// stillPending checks all banks concurrently, once their writes are applied, that consolidation still waits for a model
// a second later. The errors name the banks where it does not.
func (w *pipeline) stillPending(t *testing.T, list []faultCase) []error {
	t.Helper()
	out := make([]error, len(list))
	var all sync.WaitGroup
	for i, p := range list {
		eventually(t, "all that was written to "+string(p.bank)+" is applied", func() bool { return w.status(t, p.bank).Writes.Pending == 0 })
		all.Go(func() {
			r, err := w.client.Consolidate(t.Context(), p.bank, consolidation(p.bank, time.Second))
			if err == nil && !r.Pending {
				err = fmt.Errorf("nothing waits: %+v", r)
			}
			out[i] = err
		})
	}
	all.Wait()
	return out
}

// askAll sends all questions concurrently, each with its fault.
func (w *pipeline) askAll(t *testing.T, model *faultyModel, list []faultCase) []answer {
	t.Helper()
	out := make([]answer, len(list))
	places := make(chan struct{}, 24)
	var all sync.WaitGroup
	for i, p := range list {
		model.setFault(p.name, p.stage, p.kind, -1)
		all.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			out[i] = w.ask(t.Context(), p)
			model.clearFault(p.name)
		})
	}
	all.Wait()
	return out
}

// checkSilent requires a dead letter with the model's failure, and the facts once the model is back; while the pause
// after failures lasts, a retry fails again.
func (w *pipeline) checkSilent(t *testing.T, model *faultyModel, p faultCase, whole string) {
	n := len(sentences())
	s := w.ended(t, p.bank, n)
	if s.Conservation.Dead != n || s.Dead != 1 || s.Facts != 0 {
		t.Fatalf("%+v", s)
	}
	letters := w.letters(t, p.bank)
	if len(letters) != 1 || letters[0].Reason == "" || letters[0].Output != "" || letters[0].Attempts != 2 {
		t.Errorf("%+v", letters)
	}
	if u := used(s, memory.StageExtract); u.Failed == 0 && !strings.Contains(letters[0].Reason, "left alone") {
		t.Errorf("no call failed: %+v", u)
	}
	model.clearFault(p.name)
	eventually(t, "all facts are there", func() bool {
		for _, l := range w.letters(t, p.bank) {
			if err := w.client.Admin().RetryDead(t.Context(), l.ID); err != nil {
				t.Fatal(err)
			}
		}
		return w.ended(t, p.bank, n).Dead == 0 && w.state(t, p) == whole
	})
	if c := w.ended(t, p.bank, n).Conservation; c.Committed != n {
		t.Errorf("in the end: %+v", c)
	}
	w.once(t, p.bank)
}

func TestAnOutageOfEverything(t *testing.T) {
	t.Parallel()
	model := newFaultyModel(t, []scriptedmodel.Kind{scriptedmodel.ServerError, scriptedmodel.RateLimit})
	w := start(t, model.url, map[string]string{"MODEL_TIMEOUT": "20s"}, func(c *settings.Config) { c.ModelRetries = settings.DefaultTuning().ModelRetries })
	healthy, faulty := faultCase{name: "Kimaaa", bank: "well"}, faultCase{name: "Kimbbb", bank: "sick"}

	for _, stage := range []string{memory.StageExtract, memory.StageReflect, memory.StageDecide} {
		t.Run(stage+": a limit that asks to wait is waited for, and nothing is missing", func(t *testing.T) {
			model.setFault(healthy.name, stage, scriptedmodel.RateLimit, 1)
			began, p := time.Now(), faultCase{name: healthy.name, bank: memory.BankID("limit-" + stage), stage: stage}
			switch stage {
			case memory.StageExtract:
				w.say(t, w.keep(p.bank), "talk", p.name, sentences()...)
				if s := w.ended(t, p.bank, len(sentences())); s.Facts != len(sentences()) {
					t.Errorf("%+v", s)
				}
			case memory.StageReflect:
				w.retain(t, w.keep(library), statements("Kim"))
				if h := w.ask(t.Context(), p); h.mode != "answer" || len(h.degraded) > 0 {
					t.Errorf("%+v", h)
				}
				p.bank = library
			case memory.StageDecide:
				w.retain(t, w.keep(p.bank), statements(p.name))
				w.consolidate(t, p.bank)
				w.drained(t, p.bank)
			}
			if model.hits(stage, p.name) == 0 || time.Since(began) < time.Second {
				t.Errorf("it took %s", time.Since(began))
			}
			eventually(t, "the failed call is counted", func() bool { return used(w.status(t, p.bank), stage).Failed == 1 })
		})
	}
	t.Run("requests during a total outage are kept, answered by rules, and completed when the models are back", func(t *testing.T) {
		for _, p := range []faultCase{healthy, faulty} {
			if p == faulty {
				model.setFault(p.name, "", scriptedmodel.ServerError, -1)
			}
			w.say(t, w.keep(p.bank), "talk", p.name, sentences()...)
			w.retain(t, p.bank, statements(p.name))
			w.consolidate(t, p.bank)
		}
		w.checkDown(t, faulty)
		w.ended(t, healthy.bank, len(sentences()))
		w.drained(t, healthy.bank)
		model.clearFault(faulty.name)
		s := w.ended(t, faulty.bank, len(sentences()))
		// Facts that receive their vectors after the request was answered are decided with the next one.
		eventually(t, "all that the models missed is decided", func() bool {
			r, err := w.client.Consolidate(t.Context(), faulty.bank, consolidation(faulty.bank, time.Second))
			if err != nil || r.Pending {
				return false
			}
			if _, err := w.client.Observe(t.Context(), faulty.bank, wire.ObserveRequest{}); err != nil && !errors.Is(err, memory.ErrDeadline) {
				t.Fatal(err)
			}
			s := w.status(t, faulty.bank)
			return s.Decisions.Pending == 0 && s.Writes.Pending == 0
		})
		if s.Conservation.Committed != len(sentences()) || s.Dead != 0 {
			t.Errorf("%+v", s)
		}
		facts := func(p faultCase) string {
			return strings.ReplaceAll(strings.Join(factTexts(w.facts(t, p.bank)), "\n"), p.name, "Kim")
		}
		var got, want string
		defer func() {
			if got != want {
				t.Logf("got\n%s\nwant\n%s", got, want)
			}
		}()
		eventually(t, "nothing tells that the models were down", func() bool {
			// Facts that received their vectors late are decided with the next request.
			if _, err := w.client.Observe(t.Context(), faulty.bank, wire.ObserveRequest{}); err != nil && !errors.Is(err, memory.ErrDeadline) {
				t.Fatal(err)
			}
			got, want = facts(faulty), facts(healthy)
			return got == want
		})
		w.once(t, faulty.bank)
	})
	t.Run("every call is counted for its bank, and the store is sound", func(t *testing.T) { w.checkUsage(t, model) })
}

// checkDown checks a bank whose every model call fails.
func (w *pipeline) checkDown(t *testing.T, p faultCase) {
	t.Helper()
	eventually(t, "a call has failed", func() bool { return used(w.status(t, p.bank), memory.StageExtract).Failed > 0 })
	if s := w.status(t, p.bank); s.Conservation.Pending != len(sentences()) || s.Windows.Pending != 1 || s.Dead != 0 || s.Settled {
		t.Errorf("%+v", s)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	r, err := w.client.Recall(ctx, p.bank, wire.RecallRequest{Query: "Which tea does " + p.name + " like?", Judge: &wire.Judge{}, Adequacy: 1})
	if err != nil || len(r.Items) == 0 || !strings.Contains(r.Items[0].Text, "tea") {
		t.Errorf("%+v, %v", r, err)
	}
	said := strings.Join(r.Degraded, "\n")
	for _, part := range []string{"semantic:", "judge:", "adequacy:", "rerank:"} {
		if !strings.Contains(said, part) {
			t.Errorf("%s is not among %q", part, r.Degraded)
		}
	}
	f, err := w.client.Reflect(ctx, p.bank, wire.ReflectRequest{RecallRequest: wire.RecallRequest{Query: "Which tea does " + p.name + " like?"}})
	if err != nil || f.Mode != "context" || !strings.Contains(f.Response, "tea") {
		t.Errorf("%+v, %v", f, err)
	}
}
