package query_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// piano returns a fixture with a record for every section.
func piano(t *testing.T, d memory.Disposition) *fixture {
	t.Helper()
	w := newFixture(t)
	w.say(memory.Message{ID: "q", Content: "Honestly my piano and I are inseparable."}, memory.Message{ID: "r", Content: "The piano shop closes at six."})
	facts := w.complete(alice, []memory.Fact{
		{Text: "Alice owns a piano.", Sources: w.from(alice, "q"), Confidence: .9},
		{Text: "The agent tuned the piano.", Kind: memory.KindExperience, Confidence: .9},
		{Text: "Alice thinks the piano is too loud.", Kind: memory.KindOpinion, Confidence: .6},
		{Text: "Alice is happy when she plays the piano.", Confidence: .9},
		{Text: "The piano is black.", Confidence: .9}, {Text: "The piano is white.", Confidence: .9},
		{Text: "Bob dislikes the piano.", Kind: memory.KindOpinion, Confidence: .4}})
	black, white := facts[4].ID, facts[5].ID
	w.apply(alice, memory.Changes{
		Bank:      &memory.Bank{ID: alice, Disposition: d, Created: noon},
		Facts:     facts,
		Conflicts: []memory.Conflict{{ID: memory.NewConflictID(alice, black, white), A: black, B: white, State: memory.ConflictOpen, Reason: "colour"}},
		Observations: []memory.Observation{{ID: memory.NewObservationID(alice, memory.ObservationPattern, "piano"), Type: memory.ObservationPattern, Subject: "piano",
			Text: "Alice talks about the piano often.", Reasoning: "Four facts name it.", Confidence: .65, Facts: []memory.FactID{facts[0].ID, facts[3].ID}, Said: noon}},
	})
	return w
}

func (w *fixture) reflect(r wire.ReflectRequest) wire.ReflectReply {
	w.t.Helper()
	reply, err := w.service.Reflect(context.Background(), alice, r)
	if err != nil {
		w.t.Fatal(err)
	}
	return reply
}

func ask(query string) wire.ReflectRequest {
	return wire.ReflectRequest{RecallRequest: wire.RecallRequest{Query: query, MaxFacts: ptr(20)}, Style: "context"}
}

// headings returns the section headings of a response, in order.
func headings(response string) []string {
	var out []string
	for line := range strings.SplitSeq(response, "\n") {
		if h, ok := strings.CutPrefix(line, "## "); ok {
			out = append(out, h)
		}
	}
	return out
}

func TestReflectConformance(t *testing.T) {
	t.Parallel()
	t.Run("sections per type, whole items within the budget, valid UTF-8", func(t *testing.T) {
		t.Parallel()
		w := piano(t, memory.DefaultDisposition())
		w.say(memory.Message{Content: "piano 🎹 \xff über — 钢琴"})
		full := w.reflect(ask("What about the piano?"))
		if got, want := headings(full.Response), []string{"Facts", "Experiences", "Opinions", "Observations", "Conflicts", "Messages"}; !slices.Equal(got, want) {
			t.Errorf("sections %v, want %v\n%s", got, want, full.Response)
		}
		if !strings.Contains(full.Response, "(confidence 0.60)") || !strings.Contains(full.Response, "said 2026-05-20") {
			t.Errorf("no confidence or time in\n%s", full.Response)
		}
		lines := strings.Split(full.Response, "\n")
		for budget := 1; budget <= full.Tokens+5; budget += 7 {
			r := ask("What about the piano?")
			r.MaxTokens = &budget
			got := w.reflect(r)
			if !utf8.ValidString(got.Response) {
				t.Fatalf("at %d tokens the response is not UTF-8", budget)
			}
			if len(got.Citations) == 0 {
				continue
			}
			if n := text.CountTokens(got.Response); n > budget || n != got.Tokens {
				t.Errorf("at %d tokens the response has %d and says %d", budget, n, got.Tokens)
			}
			for line := range strings.SplitSeq(got.Response, "\n") {
				text := line
				if _, rest, ok := strings.Cut(line, "] ["); ok {
					text = rest
				}
				if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasSuffix(l, text) }) {
					t.Errorf("at %d tokens the line %q is not one of the whole response", budget, line)
				}
			}
		}
	})

	t.Run("an empty memory says so and invents nothing", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t)
		w.say(memory.Message{Content: "hello there"})
		got := w.reflect(ask("What is Alice allergic to?"))
		if got.Response != "Memory holds nothing that bears on this." || len(got.Citations) != 0 || len(got.FactsUsed) != 0 || got.Mode != "context" {
			t.Errorf("got %+v", got)
		}
		r := ask("What is Alice allergic to?")
		r.Style = ""
		if got := w.reflect(r); got.Mode != "context" || len(got.Degraded) > 0 {
			t.Errorf("the style that fits a deployment without a model is degraded: %+v", got)
		}
		r.Style = "answer"
		if got := w.reflect(r); !slices.ContainsFunc(got.Degraded, func(s string) bool { return strings.Contains(s, "no language model") }) {
			t.Errorf("an answer without a model says %v", got.Degraded)
		}
	})

	t.Run("skepticism hides weak beliefs and moves contradictions", func(t *testing.T) {
		t.Parallel()
		response := map[int]string{}
		for s := 1; s <= 5; s++ {
			response[s] = piano(t, memory.Disposition{Skepticism: s, Literalism: 3, Empathy: 3}).reflect(ask("What about the piano?")).Response
		}
		for s, r := range response {
			if has := strings.Contains(r, "Bob dislikes"); has != (s <= 3) {
				t.Errorf("skepticism %d shows a belief of confidence .4: %t", s, has)
			}
			if has := strings.Contains(r, "Alice thinks"); has != (s <= 4) {
				t.Errorf("skepticism %d shows a belief of confidence .6: %t", s, has)
			}
			if has := strings.Contains(r, "(disputed)"); has != (s >= 3) {
				t.Errorf("skepticism %d marks disputed facts: %t", s, has)
			}
			h := headings(r)
			if first := h[0] == "Conflicts"; first != (s >= 4) {
				t.Errorf("skepticism %d has sections %v", s, h)
			}
			if last := h[len(h)-1] == "Conflicts"; last != (s <= 2) {
				t.Errorf("skepticism %d has sections %v", s, h)
			}
		}
	})

	t.Run("literalism shows what was said, its absence a paraphrase", func(t *testing.T) {
		t.Parallel()
		const said = "Honestly my piano and I are inseparable."
		for l := 1; l <= 5; l++ {
			w := piano(t, memory.Disposition{Skepticism: 3, Literalism: l, Empathy: 3})
			r := ask("Does Alice own a piano?")
			r.Records = []memory.Record{memory.RecordFact}
			if l <= 2 {
				r.Records = nil
			}
			got := w.reflect(r).Response
			if has := strings.Contains(got, said); has != (l >= 4) {
				t.Errorf("literalism %d quotes the message: %t\n%s", l, has, got)
			}
			if has := strings.Contains(got, "Alice owns a piano."); has != (l <= 3) {
				t.Errorf("literalism %d paraphrases: %t", l, has)
			}
		}
	})

	t.Run("empathy moves feelings to the front and opinions to the end", func(t *testing.T) {
		t.Parallel()
		for e := 1; e <= 5; e++ {
			got := piano(t, memory.Disposition{Skepticism: 3, Literalism: 3, Empathy: e}).reflect(ask("What about the piano?")).Response
			h := headings(got)
			if first := h[0] == "Feelings and opinions"; first != (e >= 4) {
				t.Errorf("empathy %d has sections %v", e, h)
			}
			if last := h[len(h)-1] == "Opinions"; last != (e <= 2) {
				t.Errorf("empathy %d has sections %v", e, h)
			}
			section, _, _ := strings.Cut(strings.TrimPrefix(got, "## Feelings and opinions\n"), "##")
			if e >= 4 && !strings.Contains(section, "happy when she plays") {
				t.Errorf("empathy %d leaves a feeling among the facts\n%s", e, got)
			}
		}
	})

	t.Run("a trait out of range is refused", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t)
		for _, d := range []memory.Disposition{{Skepticism: 0, Literalism: 3, Empathy: 3}, {Skepticism: 3, Literalism: 6, Empathy: 3}, {Skepticism: 3, Literalism: 3, Empathy: -1}} {
			_, err := w.service.Writes().Bank(context.Background(), alice, wire.BankUpdate{Disposition: &d})
			if !errors.Is(err, memory.ErrInvalid) {
				t.Errorf("%+v: %v", d, err)
			}
		}
	})
}

func TestValidation(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.say(memory.Message{Content: "I like tea."})
	long := strings.Repeat("x", memory.MaxQuery+1)
	past, future := noon.Add(-time.Hour), noon
	for name, c := range map[string]struct {
		field string
		r     wire.RecallRequest
	}{
		"an empty query":          {"query", wire.RecallRequest{}},
		"white space":             {"query", wire.RecallRequest{Query: " \t\n"}},
		"an over-long query":      {"query", wire.RecallRequest{Query: long}},
		"no facts":                {"max_facts", wire.RecallRequest{Query: "q", MaxFacts: ptr(0)}},
		"a negative limit":        {"max_facts", wire.RecallRequest{Query: "q", MaxFacts: ptr(-1)}},
		"a huge limit":            {"max_facts", wire.RecallRequest{Query: "q", MaxFacts: ptr(1 << 30)}},
		"negative tokens":         {"max_tokens", wire.RecallRequest{Query: "q", MaxTokens: ptr(-5)}},
		"huge tokens":             {"max_tokens", wire.RecallRequest{Query: "q", MaxTokens: ptr(1 << 40)}},
		"an unknown strategy":     {"strategies.magic", wire.RecallRequest{Query: "q", Strategies: map[string]float64{"magic": 1}}},
		"a negative weight":       {"strategies.keyword", wire.RecallRequest{Query: "q", Strategies: map[string]float64{"keyword": -1}}},
		"no weight at all":        {"strategies", wire.RecallRequest{Query: "q", Strategies: map[string]float64{"keyword": 0}}},
		"an unknown record":       {"records.0", wire.RecallRequest{Query: "q", Filter: memory.Filter{Records: []memory.Record{"dream"}}}},
		"an unknown kind":         {"kinds.1", wire.RecallRequest{Query: "q", Filter: memory.Filter{Kinds: []memory.Kind{"world", "dream"}}}},
		"a type of another form":  {"types.0", wire.RecallRequest{Query: "q", Filter: memory.Filter{Types: []memory.Type{"A B"}}}},
		"an empty speaker":        {"speakers.0", wire.RecallRequest{Query: "q", Filter: memory.Filter{Speakers: []string{""}}}},
		"a range that ends early": {"to", wire.RecallRequest{Query: "q", Filter: memory.Filter{From: &future, To: &past}}},
		"a score above one":       {"min_score", wire.RecallRequest{Query: "q", MinScore: 2}},
		"a wait too long":         {"wait", wire.RecallRequest{Query: "q", Wait: ptr(memory.Duration(time.Hour))}},
		"no time at all":          {"deadline", wire.RecallRequest{Query: "q", Deadline: ptr(memory.Duration(0))}},
		"a zero vector":           {"vector", wire.RecallRequest{Query: "q", Vector: memory.Vector{0, 0}}},
		"a vector too long":       {"vector", wire.RecallRequest{Query: "q", Vector: make(memory.Vector, memory.MaxDimension+1)}},
	} {
		t.Run(name+" is refused by its field", func(t *testing.T) {
			t.Parallel()
			_, err := w.service.Recall(context.Background(), alice, c.r)
			var fe *memory.FieldError
			if !errors.Is(err, memory.ErrInvalid) || !errors.As(err, &fe) || fe.Field != c.field {
				t.Errorf("got %v, want an error of %s", err, c.field)
			}
		})
	}
	t.Run("a query of punctuation alone finds nothing", func(t *testing.T) {
		t.Parallel()
		if reply := w.recall(alice, wire.RecallRequest{Query: "?!… — ()"}); reply.Items == nil || len(reply.Items) != 0 {
			t.Errorf("got %+v", reply)
		}
	})
	t.Run("a question of stop words alone returns the latest items", func(t *testing.T) {
		t.Parallel()
		if reply := w.recall(alice, wire.RecallRequest{Query: "What was it?"}); len(reply.Items) != 1 {
			t.Errorf("got %+v", reply.Items)
		}
	})
	t.Run("an unknown bank is not found, unless something awaited has not come", func(t *testing.T) {
		t.Parallel()
		_, err := w.service.Recall(context.Background(), "nobody", wire.RecallRequest{Query: "q"})
		if !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("got %v", err)
		}
		reply := w.recall("nobody", wire.RecallRequest{Query: "q", After: 1000, Wait: ptr(memory.Duration(0))})
		if reply.Fresh || reply.Items == nil || len(reply.Items) != 0 {
			t.Errorf("got %+v", reply)
		}
	})
	t.Run("a deadline that has passed returns what is ready and names what is not", func(t *testing.T) {
		t.Parallel()
		reply := w.recall(alice, wire.RecallRequest{Query: "tea", Deadline: ptr(memory.Duration(1))})
		if len(reply.Degraded) == 0 || !strings.HasPrefix(reply.Degraded[len(reply.Degraded)-1], "deadline: ") {
			t.Errorf("degraded is %v", reply.Degraded)
		}
	})
}
