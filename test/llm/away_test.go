package llm_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/providertest"
)

func TestAModelThatIsAway(t *testing.T) {
	t.Parallel()
	wd := newWard(t, away)
	// Patience is 0: a window whose model is away becomes a dead letter.
	w := start(t, wd.url, map[string]string{"MAX_ATTEMPTS": "2", "MODEL_PATIENCE": "0", "MODEL_TIMEOUT": "3s"})

	talks, kept := control("a"), control("c")
	w.say(t, w.keep(talks.bank), "talk", talks.name, sentences()...)
	w.ended(t, talks.bank, len(sentences()))
	whole := w.state(t, talks)
	w.retain(t, w.keep(kept.bank), statements(kept.name))
	w.consolidate(t, kept.bank)
	w.drained(t, kept.bank)
	decided := w.state(t, kept)
	w.retain(t, w.keep(library), statements("Kim"))

	silent := patients("a", away, memory.StageExtract)
	for _, p := range silent {
		wd.infect(p.name, p.stage, p.kind, -1)
		w.say(t, w.keep(p.bank), "talk", p.name, sentences()...)
	}
	waiting := patients("c", away, consolidationStages...)
	for _, p := range waiting {
		wd.infect(p.name, p.stage, p.kind, -1)
		w.retain(t, w.keep(p.bank), statements(p.name))
		w.consolidate(t, p.bank)
	}
	asked := patients("d", away, questionStages...)
	ill := w.askAll(t, wd, asked)
	stored := patients("f", []providertest.Kind{providertest.ServerError, providertest.Hang, providertest.Reset}, memory.StageEmbed)
	for _, p := range stored {
		var facts []memory.FactInput
		for _, text := range unlike(p.name) {
			facts = append(facts, memory.FactInput{Text: text})
		}
		wd.infect(p.name, p.stage, p.kind, 1)
		w.retain(t, w.keep(p.bank), facts)
	}
	for i, p := range asked {
		t.Run(p.String()+": the answer to a question says so", func(t *testing.T) {
			ill[i].check(t)
			if !ill[i].names(p.stage) || p.stage == memory.StageReflect && ill[i].mode != "context" {
				t.Errorf("nobody says why: %q, %q", ill[i].mode, ill[i].degraded)
			}
		})
	}
	for _, p := range waiting {
		t.Run(p.String()+": what is to be decided waits", func(t *testing.T) {
			var s memory.Status
			eventually(t, "all that was written is applied", func() bool {
				s = w.status(t, p.bank)
				return s.Writes.Pending == 0
			})
			if p.stage == memory.StageDecide && s.Decisions.Pending == 0 {
				t.Errorf("%+v", s)
			}
			if r, err := w.client.Consolidate(t.Context(), p.bank, consolidation(p.bank, time.Second)); err != nil || !r.Pending {
				t.Errorf("%+v, %v", r, err)
			}
			w.once(t, p.bank)
			wd.cure(p.name)
		})
	}
	for _, p := range silent {
		t.Run(p.String()+": a window ends dead, and gives its facts when it is sent again", func(t *testing.T) {
			w.checkSilent(t, wd, p, whole)
		})
	}
	for _, p := range waiting {
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
			var well heard
			eventually(t, "nothing is left out", func() bool {
				well = w.ask(t.Context(), p)
				return len(well.degraded) == 0
			})
			well.check(t)
		})
	}
	for _, p := range stored {
		t.Run(p.String()+": the vectors of what is stored", func(t *testing.T) { w.checkVectors(t, p) })
	}
	t.Run("every call that came is counted for its bank, and the store is sound", func(t *testing.T) { w.checkBooks(t, wd) })
}

// askAll asks all questions at once, each with its fault.
func (w *world) askAll(t *testing.T, wd *ward, list []patient) []heard {
	t.Helper()
	out := make([]heard, len(list))
	places := make(chan struct{}, 8)
	var all sync.WaitGroup
	for i, p := range list {
		wd.infect(p.name, p.stage, p.kind, -1)
		all.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			out[i] = w.ask(t.Context(), p)
			wd.cure(p.name)
		})
	}
	all.Wait()
	return out
}

// checkSilent wants a dead letter that says what the model did, and the facts
// once it is back: while its rest from failures lasts, a retry dies again.
func (w *world) checkSilent(t *testing.T, wd *ward, p patient, whole string) {
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
	wd.cure(p.name)
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
	wd := newWard(t, []providertest.Kind{providertest.ServerError, providertest.RateLimit})
	w := start(t, wd.url, map[string]string{"MODEL_RETRIES": "2", "MODEL_TIMEOUT": "20s"})
	well, sick := patient{name: "Kimaaa", bank: "well"}, patient{name: "Kimbbb", bank: "sick"}

	for _, stage := range []string{memory.StageExtract, memory.StageReflect, memory.StageDecide} {
		t.Run(stage+": a limit that asks to wait is waited for, and nothing is missing", func(t *testing.T) {
			wd.infect(well.name, stage, providertest.RateLimit, 1)
			began, p := time.Now(), patient{name: well.name, bank: memory.BankID("limit-" + stage), stage: stage}
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
			if wd.hits(stage, p.name) == 0 || time.Since(began) < time.Second {
				t.Errorf("it took %s", time.Since(began))
			}
			eventually(t, "the failed call is counted", func() bool { return used(w.status(t, p.bank), stage).Failed == 1 })
		})
	}
	t.Run("what comes while every model is down is kept, answered by rules, and done when they are back", func(t *testing.T) {
		for _, p := range []patient{well, sick} {
			if p == sick {
				wd.infect(p.name, "", providertest.ServerError, -1)
			}
			w.say(t, w.keep(p.bank), "talk", p.name, sentences()...)
			w.retain(t, p.bank, statements(p.name))
			w.consolidate(t, p.bank)
		}
		w.checkDown(t, sick)
		w.ended(t, well.bank, len(sentences()))
		w.drained(t, well.bank)
		wd.cure(sick.name)
		s := w.ended(t, sick.bank, len(sentences()))
		w.drained(t, sick.bank)
		if s.Conservation.Committed != len(sentences()) || s.Dead != 0 {
			t.Errorf("%+v", s)
		}
		facts := func(p patient) string {
			return strings.ReplaceAll(strings.Join(told(w.facts(t, p.bank)), "\n"), p.name, "Kim")
		}
		var got, want string
		defer func() {
			if got != want {
				t.Logf("got\n%s\nwant\n%s", got, want)
			}
		}()
		eventually(t, "nothing tells that the models were down", func() bool {
			// What got its vectors late is asked about with the next request.
			if _, err := w.client.Observe(t.Context(), sick.bank, memory.ObserveRequest{}); err != nil && !errors.Is(err, memory.ErrDeadline) {
				t.Fatal(err)
			}
			got, want = facts(sick), facts(well)
			return got == want
		})
		w.once(t, sick.bank)
	})
	t.Run("every call that came is counted for its bank, and the store is sound", func(t *testing.T) { w.checkBooks(t, wd) })
}

// checkDown looks at a bank of which every model call fails.
func (w *world) checkDown(t *testing.T, p patient) {
	t.Helper()
	eventually(t, "a call has failed", func() bool { return used(w.status(t, p.bank), memory.StageExtract).Failed > 0 })
	if s := w.status(t, p.bank); s.Conservation.Pending != len(sentences()) || s.Windows.Pending != 1 || s.Dead != 0 || s.Settled {
		t.Errorf("%+v", s)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	r, err := w.client.Recall(ctx, p.bank, memory.RecallRequest{Query: "Which tea does " + p.name + " like?", Judge: &memory.Judge{}, Adequacy: 1})
	if err != nil || len(r.Items) == 0 || !strings.Contains(r.Items[0].Text, "tea") {
		t.Errorf("%+v, %v", r, err)
	}
	said := strings.Join(r.Degraded, "\n")
	for _, part := range []string{"semantic:", "judge:", "adequacy:", "rerank:"} {
		if !strings.Contains(said, part) {
			t.Errorf("%s is not among %q", part, r.Degraded)
		}
	}
	f, err := w.client.Reflect(ctx, p.bank, memory.ReflectRequest{RecallRequest: memory.RecallRequest{Query: "Which tea does " + p.name + " like?"}})
	if err != nil || f.Mode != "context" || !strings.Contains(f.Response, "tea") {
		t.Errorf("%+v, %v", f, err)
	}
}
