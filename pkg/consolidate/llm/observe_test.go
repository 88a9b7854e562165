package llm_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// observed sends an observe request with enough time for the model.
func (s *stage) observed(r memory.ObserveRequest) wire.ObserveReply {
	s.Helper()
	wait := memory.Duration(20 * time.Second)
	r.Wait = &wait
	reply, err := s.service.Writes().Observe(s.Context(), "alice", r)
	if err != nil {
		s.Fatal(err)
	}
	return reply
}

func byModel(list []memory.Observation) (out []memory.Observation) {
	for _, o := range list {
		if o.By != nil {
			out = append(out, o)
		}
	}
	return out
}

func TestConformance(t *testing.T) {
	t.Parallel()
	conformReads(t)
	t.Run("observing twice with a model adds no twin and changes no confidence", func(t *testing.T) {
		t.Parallel()
		m := everything(newModel())
		s := newStage(t, m)
		s.run()
		s.fill()
		s.quiet()
		first := byModel(s.observed(memory.ObserveRequest{}).Observations)
		if len(first) != 1 || first[0].Type != memory.ObservationRisk || len(first[0].Facts) < 2 || first[0].Reasoning == "" {
			t.Fatalf("observed %+v", first)
		}
		calls := m.count(memory.StageObserve)
		again := byModel(s.observed(memory.ObserveRequest{}).Observations)
		if diff := cmp.Diff(first, again); diff != "" {
			t.Error(diff)
		}
		equal(t, "calls for no news", m.count(memory.StageObserve), calls)
		asked := s.observed(memory.ObserveRequest{Types: []memory.ObservationType{memory.ObservationRisk}})
		if diff := cmp.Diff(first, byModel(asked.Observations)); diff != "" {
			t.Error(diff)
		}
		for _, id := range first[0].Facts {
			if !strings.HasPrefix(string(id), "f_") {
				t.Errorf("it rests on %s, which is no fact", id)
			}
		}
	})
	t.Run("consolidate asks the model with three waiting or forced, and never for nothing", func(t *testing.T) {
		t.Parallel()
		m := everything(newModel())
		s := newStage(t, m)
		s.llm.DecideBatch = 1000
		s.run()
		wait := memory.Duration(20 * time.Second)
		consolidate := func(force bool) wire.ConsolidateReply {
			t.Helper()
			r, err := s.service.Writes().Consolidate(t.Context(), "alice", memory.ConsolidateRequest{WriteControl: memory.WriteControl{Wait: &wait}, Force: force})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		s.tell("m1", older)
		s.tell("m2", newer)
		s.quiet()
		equal(t, "ran with two", consolidate(false).Ran, false)
		equal(t, "calls with two", m.count(memory.StageDecide), 0)
		r := consolidate(true)
		equal(t, "forced", fmt.Sprint(r.Ran, r.Pending), "true false")
		equal(t, "decided", s.fact(both).Live(), true)
		calls := m.count(memory.StageDecide)
		s.tell("m3", "Alice mends clocks.", "Bob bakes bread.", "Carol sails to Dover.")
		s.quiet()
		r = consolidate(false)
		equal(t, "ran with three", fmt.Sprint(r.Ran, r.Pending), "true false")
		equal(t, "decisions asked for nothing", m.count(memory.StageDecide), calls)
	})
	t.Run("remembering waits for no model, and type, topic and entities stay when it fails", func(t *testing.T) {
		t.Parallel()
		hangs := make(chan struct{})
		m := newModel().on(memory.StageDecide, func(memory.Prompt) (string, error) { <-hangs; return "", memory.ErrUnavailable })
		s := newStage(t, m)
		s.run()
		s.tell("m1", older)
		s.tell("m2", newer)
		s.eventually("the model is asked", func() bool { return m.count(memory.StageDecide) == 1 })
		kept, err := s.service.Writes().Retain(t.Context(), "alice", wire.RetainRequest{Facts: []memory.FactInput{{Text: "Bob bakes bread."}}})
		if err != nil || len(kept.Results) != 1 || kept.Results[0].Outcome != memory.OutcomeAdded {
			t.Errorf("retained while the model hangs: %+v, %v", kept, err)
		}
		close(hangs)
		s.eventually("the model was asked in vain", func() bool { return m.count(memory.StageDecide) > 3 })
		for _, text := range []string{older, newer} {
			f := s.fact(text)
			if f.Type != memory.TypeConstraint || f.Topic != "life" || len(f.Entities) != 1 || !f.Live() {
				t.Errorf("%+v", f)
			}
		}
	})
	t.Run("a decision that is delivered again changes nothing", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, newModel().on(memory.StageDecide, updates))
		stop := s.run()
		s.tell("m1", older)
		s.tell("m2", newer)
		s.eventually("the update is made", func() bool { return s.fact(both).Live() })
		s.quiet()
		before, w := factIDs(s.dump(s.db)), s.written(memory.WriteDecide)[0]
		w.Time, w.Op = time.Time{}, "another-op"
		s.append(w)
		s.quiet()
		equal(t, "facts", factIDs(s.dump(s.db)), before)
		equal(t, "live", fmt.Sprint(s.fact(both).Live(), s.fact(older).Live(), s.fact(newer).Live()), "true false false")
		stop()
	})
}

func TestRequests(t *testing.T) {
	t.Parallel()
	t.Run("a model that is not ready in time is pending, and its answer comes later", func(t *testing.T) {
		t.Parallel()
		open := make(chan struct{})
		m := everything(newModel())
		ready := m.scripts[memory.StageObserve]
		m.on(memory.StageObserve, func(p memory.Prompt) (string, error) { <-open; return ready(p) })
		s := newStage(t, m)
		s.run()
		s.fill()
		s.quiet()
		wait := memory.Duration(500 * time.Millisecond)
		reply, err := s.service.Writes().Observe(t.Context(), "alice", memory.ObserveRequest{WriteControl: memory.WriteControl{Op: "look", Wait: &wait}})
		if err != nil || !reply.Pending || len(byModel(reply.Observations)) > 0 {
			t.Fatalf("%+v, %v", reply, err)
		}
		close(open)
		s.eventually("it is answered", func() bool {
			out, err := s.db.Outcome(t.Context(), "alice", memory.ModelOp("look"))
			return err == nil && out != nil && len(out.Observations) == 1
		})
		again := s.observed(memory.ObserveRequest{WriteControl: memory.WriteControl{Op: "look"}})
		equal(t, "the same op", fmt.Sprint(again.Pending, len(byModel(again.Observations))), "false 1")
	})
	t.Run("answers without sense, or of nothing, leave a request with what the rules found", func(t *testing.T) {
		t.Parallel()
		for _, said := range []string{"Nothing comes to mind.", ""} {
			m := everything(newModel()).on(memory.StageObserve, func(memory.Prompt) (string, error) { return said, nil })
			s := newStage(t, m)
			s.run()
			s.fill()
			s.quiet()
			reply := s.observed(memory.ObserveRequest{})
			equal(t, "by the model", len(byModel(reply.Observations)), 0)
			equal(t, "pending", reply.Pending, false)
			equal(t, "calls", m.count(memory.StageObserve), s.llm.Tries)
		}
	})
	t.Run("enough new facts are observed without a request", func(t *testing.T) {
		t.Parallel()
		m := everything(newModel())
		s := newStage(t, m)
		s.llm.ObserveEvery, s.llm.ObserveBatch, s.llm.ObserveLeast, s.llm.ObserveNew = time.Millisecond, 4, 1, 2
		s.run()
		s.fill()
		s.eventually("a model's observation is there", func() bool { return strings.Contains(s.dump(s.db), "little time to spare") })
	})
}

func TestSummaries(t *testing.T) {
	t.Parallel()
	t.Run("a faithful summary takes the representative's place, an unfaithful one is not asked for again", func(t *testing.T) {
		t.Parallel()
		for _, faithful := range []bool{true, false} {
			m := everything(newModel())
			if !faithful {
				m.on(memory.StageSummarise, func(p memory.Prompt) (string, error) {
					var items []any
					for _, l := range lines(p) {
						items = append(items, map[string]any{"n": l["n"], "text": "Mallory did it."})
					}
					return answer("summaries", items...), nil
				})
			}
			s := newStage(t, m)
			s.llm.SummariseBatch, s.llm.DecideBatch = 1, 1000
			s.run()
			s.tell("m1", "Alice mends old clocks in Dover.")
			s.tell("m2", "Alice mends old radios in Dover.")
			s.quiet()
			s.eventually("no composite waits", func() bool { return m.count(memory.StageSummarise) > 0 && s.waiting(memory.PendingSummarise) == 0 })
			d := s.dump(s.db)
			equal(t, "marked as a model's", strings.Contains(d, `\"summarise/`), faithful)
			equal(t, "both are in the text", strings.Contains(d, "clocks in Dover. Alice mends old radios") || strings.Contains(d, "radios in Dover. Alice mends old clocks"), faithful)
			if strings.Contains(d, "Mallory") {
				t.Error("what no member says is in the store")
			}
			s.tell("m3", "Carol sails.")
			s.quiet()
			equal(t, "calls", m.count(memory.StageSummarise), 1)
		}
	})
	t.Run("a composite that grew has its representative's text until it has a summary of its own", func(t *testing.T) {
		t.Parallel()
		m := everything(newModel())
		s := newStage(t, m)
		s.llm.SummariseBatch, s.llm.DecideBatch = 1, 1000
		stop := s.run()
		s.tell("m1", "Alice mends old clocks in Dover.")
		s.tell("m2", "Alice mends old radios in Dover.")
		s.eventually("it has a summary", func() bool { return strings.Contains(s.dump(s.db), `\"summarise/`) })
		stop()
		m.on(memory.StageSummarise, func(memory.Prompt) (string, error) { return "", memory.ErrUnavailable })
		s.run()
		s.tell("m3", "Alice mends old boats in Dover.")
		s.quiet()
		if strings.Contains(s.dump(s.db), `\"summarise/`) {
			t.Error("the old summary stands over other members")
		}
		equal(t, "waiting", s.waiting(memory.PendingSummarise) > 0, true)
	})
}
