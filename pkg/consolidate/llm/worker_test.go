package llm_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/llm"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

const (
	older = "Alice plays chess at the club."
	newer = "Alice plays chess at the library club with Bob on 3 evenings."
	both  = "Alice plays chess with Bob at the library club on 3 evenings."
)

// updates answers that the newer of two statements goes into one with the older.
func updates(p memory.Prompt) (string, error) {
	n, o := numberOf(p, newer), numberOf(p, older)
	if n == 0 || o == 0 {
		return answer("decisions"), nil
	}
	return answer("decisions", map[string]any{"new": n, "older": o, "action": "update", "text": both, "reason": "one habit", "relation": "specializes", "strength": .8}), nil
}

// polled tells of each round of a worker.
type polled struct {
	llm.Store
	rounds chan struct{}
}

func (p polled) Backlogs(ctx context.Context) ([]consolidate.Backlog, error) {
	select {
	case p.rounds <- struct{}{}:
	default: // nobody waits for it
	}
	return p.Store.Backlogs(ctx)
}

func TestDecide(t *testing.T) {
	t.Parallel()
	t.Run("what a model decides goes through the log into the store, with its model, its prompt and what it took", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, newModel().on(memory.StageDecide, updates))
		s.run()
		s.tell("m1", older)
		s.tell("m2", newer)
		s.eventually("the update is made", func() bool { return s.fact(both).Live() })
		writes := s.written(memory.WriteDecide)
		if len(writes) == 0 || writes[0].By == nil || writes[0].By.Model != "fake:model" || !strings.HasPrefix(writes[0].By.Prompt, "decide/") ||
			len(writes[0].Usage) != 1 || writes[0].Usage[0].PromptTokens != 10 {
			t.Fatalf("in the log: %+v", writes)
		}
		if d := writes[0].Decide[0].Targets[0]; d.Vector == nil || len(d.Evidence) != 2 {
			t.Errorf("the decision is %+v", d)
		}
		h, err := s.service.History(t.Context(), "alice", wire.HistoryRequest{ID: string(s.fact(older).ID)})
		if err != nil || len(h.Decisions) != 1 || h.Decisions[0].Model != "fake:model" || h.Decisions[0].Made != s.fact(both).ID {
			t.Errorf("history: %+v, %v", h.Decisions, err)
		}
		s.look(func(v plan.View) error {
			found, err := v.DecisionsOf([]memory.FactID{s.fact(older).ID})
			equal(t, "decisions of the older", len(found), 1)
			return err
		})
	})
	t.Run("a model that is down leaves facts waiting, and they are decided when it is back", func(t *testing.T) {
		t.Parallel()
		m := newModel().on(memory.StageDecide, func(memory.Prompt) (string, error) {
			return "", fmt.Errorf("out of order: %w", memory.ErrUnavailable)
		})
		s := newStage(t, m)
		s.run()
		s.tell("m1", older)
		s.tell("m2", newer)
		s.eventually("it was tried many times", func() bool { return m.count(memory.StageDecide) > 2*s.llm.Tries })
		equal(t, "waiting", s.waiting(memory.PendingDecide), 1)
		st, err := s.service.Status(t.Context(), "alice", struct{}{})
		if err != nil || st.Decisions.Pending != 1 {
			t.Errorf("status says %+v, %v", st.Decisions, err)
		}
		m.on(memory.StageDecide, updates)
		s.eventually("it is decided", func() bool { return s.fact(both).Live() })
		failed := 0
		for _, w := range s.written(memory.WriteUsage) {
			failed += w.Usage[0].Failed
		}
		if failed < 2*s.llm.Tries {
			t.Errorf("the log tells of %d failed calls", failed)
		}
	})
	t.Run("an answer that makes no sense drops what it was about and nothing else", func(t *testing.T) {
		t.Parallel()
		m := newModel().on(memory.StageDecide, func(p memory.Prompt) (string, error) {
			if numberOf(p, newer) > 0 {
				return "I would rather not say.", nil
			}
			n, o := numberOf(p, "Bob bakes rye"), numberOf(p, "Bob bakes bread")
			return answer("decisions", map[string]any{"new": n, "older": o, "action": "supersede"}), nil
		})
		s := newStage(t, m)
		s.tell("m1", older, "Bob bakes bread in Dover.")
		s.tell("m2", newer, "Bob bakes rye bread in Dover.")
		s.run()
		s.eventually("nothing waits", func() bool { return s.fact(newer).Text != "" && s.waiting(memory.PendingDecide) == 0 })
		equal(t, "the sensible one", s.fact("Bob bakes bread in Dover.").Superseded, s.fact("Bob bakes rye bread in Dover.").ID)
		equal(t, "the dropped one", s.fact(older).Live() && s.fact(newer).Live(), true)
	})
	t.Run("a model that makes no sense is asked so often an hour, and again in the next", func(t *testing.T) {
		t.Parallel()
		m := newModel().on(memory.StageDecide, func(memory.Prompt) (string, error) { return "I would rather not say.", nil })
		s := newStage(t, m)
		s.llm.Unusable, s.llm.Tries = 4, 1000
		var clock atomic.Int64 // hours
		start := time.Now()
		s.now = func() time.Time {
			return time.Date(2026, 5, 20, 9, 0, 0, 0, time.UTC).Add(time.Duration(clock.Load())*time.Hour + time.Since(start))
		}
		rounds := make(chan struct{}, 1)
		s.reads = func(st llm.Store) llm.Store { return polled{st, rounds} }
		s.tell("m1", older)
		s.tell("m2", newer)
		s.run()
		for hours := range 3 {
			s.eventually("it is asked as often as it may be", func() bool { return m.count(memory.StageDecide) == 4*(hours+1) })
			for range 20 {
				<-rounds
			}
			equal(t, "calls after twenty more rounds", m.count(memory.StageDecide), 4*(hours+1))
			clock.Add(1)
		}
		equal(t, "what waits", s.waiting(memory.PendingDecide) > 0, true)
	})
	t.Run("an empty answer decides and words nothing, and is requested again", func(t *testing.T) {
		t.Parallel()
		m := newModel()
		silent := func(stage string) func(memory.Prompt) (string, error) {
			return func(p memory.Prompt) (string, error) {
				if m.count(stage) < 3 {
					return "", nil
				}
				return everything(newModel()).scripts[stage](p)
			}
		}
		m.on(memory.StageDecide, silent(memory.StageDecide)).on(memory.StageSummarise, silent(memory.StageSummarise))
		s := newStage(t, m)
		s.llm.SummariseBatch = 1
		s.tell("m1", older)
		s.tell("m2", newer)
		s.tell("m3", "Alice mends old clocks in Dover.")
		s.tell("m4", "Alice mends old radios in Dover.")
		s.run()
		s.eventually("nothing waits", func() bool {
			return s.fact("Alice mends old radios in Dover.").Text != "" && s.waiting(memory.PendingDecide)+s.waiting(memory.PendingSummarise) == 0
		})
		equal(t, "asked again", m.count(memory.StageDecide) >= 3 && m.count(memory.StageSummarise) >= 3, true)
		equal(t, "the summary of the answer that came", strings.Contains(s.dump(s.db), `\"summarise/`), true)
	})
	t.Run("a scheduled run asks about few facts, and nothing is asked before it", func(t *testing.T) {
		t.Parallel()
		m := newModel().on(memory.StageDecide, updates)
		s := newStage(t, m)
		s.llm.DecideBatch, s.llm.DecideAfter = 100, time.Hour
		stop := s.run()
		s.tell("m1", older)
		s.tell("m2", newer)
		s.eventually("it waits", func() bool { return s.waiting(memory.PendingDecide) == 1 })
		stop()
		equal(t, "calls", m.count(memory.StageDecide), 0)
		s.llm.DecideAfter = time.Nanosecond
		s.run()
		s.eventually("it is decided", func() bool { return s.fact(both).Live() })
	})
}

// everything answers every stage with something to do.
func everything(m *model) *model {
	m.on(memory.StageDecide, updates)
	m.on(memory.StageSummarise, func(p memory.Prompt) (string, error) {
		var items []any
		for _, l := range lines(p) {
			var texts []string
			for _, t := range l["texts"].([]any) {
				texts = append(texts, t.(string))
			}
			items = append(items, map[string]any{"n": l["n"], "text": strings.Join(texts, " ")})
		}
		return answer("summaries", items...), nil
	})
	m.on(memory.StageObserve, func(p memory.Prompt) (string, error) {
		var facts []any
		for _, l := range lines(p) {
			if l["text"] != nil {
				facts = append(facts, l["n"])
			}
		}
		return answer("observations", map[string]any{"subject": 1, "type": "risk", "topic": "spare time", "text": "Alice has little time to spare.",
			"reasoning": "so it is said", "confidence": .9, "facts": facts}), nil
	})
	return m
}

func (s *stage) fill() {
	s.Helper()
	s.tell("m1", older, "Alice mends old clocks in Dover.")
	s.tell("m2", newer, "Alice mends old radios in Dover.")
	s.tell("m3", "Alice paints boats in the harbour.", "Alice mends old boats in Dover.")
}

func TestARebuildCallsNoModel(t *testing.T) {
	t.Parallel()
	m := everything(newModel())
	s := newStage(t, m)
	stop := s.run()
	s.fill()
	s.append(memory.Write{Kind: memory.WriteConsolidate, Op: "tidy", Consolidate: &memory.ConsolidateRequest{Force: true}})
	s.eventually("the request is answered", func() bool {
		out, err := s.db.Outcome(t.Context(), "alice", memory.ModelOp("tidy"))
		return err == nil && out != nil
	})
	s.tell("m4", "Alice paints boats at night.")
	s.quiet()
	stop()
	live := s.dump(s.db)
	for _, table := range []string{"decisions", "derived", "observations", "composites", "pending_models"} {
		if !strings.Contains(live, `["`+table+`"`) {
			t.Errorf("the store has nothing in %s", table)
		}
	}
	if !strings.Contains(live, `\"summarise/`) || !strings.Contains(live, `\"observe/`) {
		t.Error("no text of the store is marked as a model's")
	}
	before := m.count(memory.StageDecide) + m.count(memory.StageSummarise) + m.count(memory.StageObserve)
	if diff := cmp.Diff(live, s.dump(s.rebuilt())); diff != "" {
		t.Errorf("rebuilt, it is another store: %s", diff)
	}
	equal(t, "calls", m.count(memory.StageDecide)+m.count(memory.StageSummarise)+m.count(memory.StageObserve), before)
}

func TestForgetting(t *testing.T) {
	t.Parallel()
	t.Run("what a model wrote of a forgotten fact is in no write, no table and no rebuilt store", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, everything(newModel()))
		stop := s.run()
		s.fill()
		s.tell("m5", "Alice mends old Xanadu boats in Dover.", "Alice mends old bikes in Dover.")
		s.append(memory.Write{Kind: memory.WriteConsolidate, Op: "tidy", Consolidate: &memory.ConsolidateRequest{Force: true}})
		s.eventually("the request is answered", func() bool {
			out, err := s.db.Outcome(t.Context(), "alice", memory.ModelOp("tidy"))
			return err == nil && out != nil
		})
		held := 0
		for _, w := range s.written("") {
			if strings.Contains(fmt.Sprintf("%+v", w.Summaries), "Xanadu") {
				held++
			}
		}
		if held == 0 {
			t.Fatal("no summary holds the word: the test sees nothing")
		}
		s.forget("Alice mends old Xanadu boats in Dover.", "m5")
		s.forget(older, "m1")
		stop()
		again := s.rebuilt()
		for name, text := range map[string]string{"store": s.dump(s.db), "rebuilt": s.dump(again), "log": fmt.Sprintf("%+v", s.deep())} {
			for _, word := range []string{"Xanadu", older, both} {
				if strings.Contains(text, word) {
					t.Errorf("%q is still in the %s", word, name)
				}
			}
		}
		equal(t, "what the forgotten one went into lives again", s.fact(newer).Live(), true)
		equal(t, "facts rebuilt", factIDs(s.dump(again)), factIDs(s.dump(s.db)))
	})
	t.Run("what a model made of others survives a forget, in the store and in a rebuilt one", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, everything(newModel()))
		stop := s.run()
		s.tell("m1", older, "Alice owns a telescope in Xanadu.")
		s.tell("m2", newer)
		s.eventually("the update is made", func() bool { return s.fact(both).Live() })
		s.forgetFact("Alice owns a telescope in Xanadu.")
		stop()
		equal(t, "the update lives", s.fact(both).Live(), true)
		equal(t, "facts rebuilt", factIDs(s.dump(s.rebuilt())), factIDs(s.dump(s.db)))
	})
}

// forget forgets a message, and waits until it is erased everywhere.
func (s *stage) forget(_ string, message string) {
	s.Helper()
	s.erase(memory.ForgetRequest{ID: message})
}

// forgetFact forgets a fact and keeps the messages it rests on.
func (s *stage) forgetFact(text string) {
	s.Helper()
	s.erase(memory.ForgetRequest{ID: string(s.fact(text).ID), KeepMessages: true})
}

func (s *stage) erase(r memory.ForgetRequest) {
	s.Helper()
	last, err := s.conn.LastSeq(s.Context(), s.conn.Naming.Messages())
	if err != nil {
		s.Fatal(err)
	}
	s.n++
	op := fmt.Sprintf("forget-%d", s.n)
	s.append(memory.Write{Kind: memory.WriteForget, Op: op, Upto: last, Forget: &r})
	s.eventually("it is forgotten and erased", func() bool {
		out, err := s.db.Outcome(s.Context(), "alice", op)
		list, err2 := s.db.Erasures(s.Context(), "", 1)
		return err == nil && err2 == nil && out != nil && len(list) == 0
	})
	s.quiet()
}

// deep returns everything the log of writes holds, as text.
func (s *stage) deep() (out []string) {
	s.Helper()
	for _, w := range s.written("") {
		out = append(out, fmt.Sprintf("%+v %+v %+v %+v", w.Facts, w.Decide, w.Summaries, w.Observe))
	}
	return out
}

// factIDs returns the ids of the facts of a dump.
func factIDs(dump string) (out []string) {
	for _, l := range strings.Split(dump, "\n") {
		if strings.HasPrefix(l, `["facts",`) {
			out = append(out, strings.SplitN(l, `"`, 6)[3])
		}
	}
	return out
}
