package query_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/text"
)

func TestReflectWithAModelConformance(t *testing.T) {
	t.Parallel()
	t.Run("done in the first turn answers from the first results, cited by number", func(t *testing.T) {
		t.Parallel()
		m := &told{steps: []step{func(_ context.Context, p memory.Prompt) (memory.Completion, error) {
			n := numberOf(t, p.User, "Alice lives in Lisbon.")
			return calls(call("done", doneArgs("She lives in Lisbon ["+string(rune('0'+n))+"].", n)))(nil, p)
		}}}
		r := mustReflect(t, home(t, m), question("Where does Alice live?"))
		id := string(memory.NewFactID(alice, "Alice lives in Lisbon.", memory.KindWorld))
		if r.Response != "She lives in Lisbon [1]." || r.Mode != "answer" || r.Turns != 1 || len(r.Degraded) != 0 {
			t.Errorf("got %+v", r)
		}
		if len(r.Citations) != 1 || r.Citations[0].ID != id || !slices.Equal(r.FactsUsed, []string{id}) {
			t.Errorf("cites %+v, used %v", r.Citations, r.FactsUsed)
		}
		if p := m.prompt(t, 1); !strings.HasPrefix(p.System, "Task: reflect\n") || len(p.Tools) != 3 {
			t.Errorf("asked with %q and %d tools", p.System[:20], len(p.Tools))
		}
	})

	t.Run("recall then done, with calls of one turn answered in their order and usage summed", func(t *testing.T) {
		t.Parallel()
		m := &told{}
		m.steps = []step{
			calls(call("search_memory", `{"queries":["Clara","sister"]}`), call("search_memory", "{query: 'weather',}")),
			func(_ context.Context, p memory.Prompt) (memory.Completion, error) {
				got := p.Turns[0].Results
				if len(got) != 2 || !strings.Contains(got[0], "Clara lives in Porto.") || !strings.Contains(got[1], "weather") {
					t.Errorf("the results are %q", got)
				}
				return done("Clara lives in Porto.", numberOf(t, results(p), "Clara lives in Porto."))(nil, p)
			},
		}
		r := mustReflect(t, home(t, m), question("Lisbon?"))
		want := memory.Usage{Calls: 2, PromptTokens: 200, CachedTokens: 40, CompletionTokens: 20}
		if r.Turns != 2 || r.Usage != want || len(r.Citations) != 1 || r.Citations[0].Text != "Clara lives in Porto." {
			t.Errorf("got %+v", r)
		}
	})

	t.Run("it stops at max_turns with an answer from evidence, and the last turn has no searches", func(t *testing.T) {
		t.Parallel()
		for _, turns := range []int{1, 2, 16} {
			m := &told{}
			for range turns - 1 {
				m.steps = append(m.steps, calls(call("search_memory", `{"query":"Porto"}`)))
			}
			m.steps = append(m.steps, says("Lisbon [1]."))
			q := question("Where does Alice live?")
			q.MaxTurns = &turns
			r := mustReflect(t, home(t, m), q)
			if m.asked() != turns || r.Turns != turns || r.Response != "Lisbon [1]." || len(r.Citations) != 1 {
				t.Fatalf("%d turns: asked %d times, got %+v", turns, m.asked(), r)
			}
			last := m.prompt(t, turns)
			if len(last.Tools) != 1 || last.Tools[0].Name != "done" || !strings.Contains(last.User+results(last), "No searches are left.") {
				t.Errorf("%d turns: the last has %+v", turns, last.Tools)
			}
		}
	})

	t.Run("searching again in the last turn returns the context, not a search", func(t *testing.T) {
		t.Parallel()
		m := &told{steps: []step{calls(call("search_memory", `{"query":"Porto"}`))}}
		q := question("Where does Alice live?")
		q.MaxTurns = ptr(1)
		r := mustReflect(t, home(t, m), q)
		if r.Mode != "context" || !strings.Contains(r.Response, "Alice lives in Lisbon.") || !hasDegraded(r.Degraded, "answer: the language model gave no answer; the context is given") || r.Turns != 1 {
			t.Errorf("got %+v", r)
		}
	})

	t.Run("an unknown tool, wrong arguments and too many calls are answered, not fatal", func(t *testing.T) {
		t.Parallel()
		many := []memory.ToolCall{call("drop_table", `{}`), call("search_memory", `not json`), call("expand", `{"ids":["x"]}`), call("done", `{"answer":""}`), call("expand", `{"ids":[77]}`)}
		for len(many) < 12 {
			many = append(many, call("search_memory", `{"query":"Porto"}`))
		}
		m := &told{steps: []step{calls(many...), done("Lisbon.", 1)}}
		r := mustReflect(t, home(t, m), question("Where does Alice live?"))
		got := m.prompt(t, 2).Turns[0].Results
		if r.Mode != "answer" || len(got) != 12 {
			t.Fatalf("got %+v with %d results", r, len(got))
		}
		for i, want := range []string{"there is no such tool", "no JSON object", "ids: must name", "answer: must be", "There is no item", "Clara lives in Porto.", "asked before", "asked before", "at most 8 calls"} {
			if !strings.Contains(got[i], want) {
				t.Errorf("call %d was answered %q, want %q", i, got[i], want)
			}
		}
		for i, c := range m.prompt(t, 2).Turns[0].Calls {
			if c.ID == "" {
				t.Errorf("call %d has no id", i)
			}
		}
	})

	t.Run("an answer that memory holds nothing is accepted; a claim without evidence is not", func(t *testing.T) {
		t.Parallel()
		const unfounded = "citations: the answer names nothing that it rests on"
		found := func(answer, value string) step {
			return calls(call("done", `{"answer":"`+answer+`","citations":[],"found":`+value+`}`))
		}
		for name, c := range map[string]struct {
			step     step
			text     string
			degraded bool
		}{
			"done with nothing found":    {found("Memory does not say.", "false"), "Memory does not say.", false},
			"a text with nothing found":  {says("Memory does not say [none]."), "Memory does not say.", false},
			"done that claims to know":   {found("She flies.", "true"), "She flies.", true},
			"done that says neither":     {done("She flies."), "She flies.", true},
			"a text that claims to know": {says("She flies."), "She flies.", true},
			"a claim of an invented one": {says("She flies [88]."), "She flies.", true},
		} {
			r := mustReflect(t, home(t, &told{steps: []step{c.step}}), question("Where does Alice live?"))
			if r.Mode != "answer" || r.Response != c.text || hasDegraded(r.Degraded, unfounded) != c.degraded || len(r.Citations) != 0 {
				t.Errorf("%s: %+v", name, r)
			}
		}
	})

	t.Run("plain text without tools is the answer", func(t *testing.T) {
		t.Parallel()
		m := &told{steps: []step{says("  She lives in Lisbon [1].\n")}}
		if r := mustReflect(t, home(t, m), question("Where does Alice live?")); r.Response != "She lives in Lisbon [1]." || len(r.Citations) != 1 || r.Mode != "answer" {
			t.Errorf("got %+v", r)
		}
	})

	t.Run("an empty memory says so, asks no model and invents nothing", func(t *testing.T) {
		t.Parallel()
		m := &told{steps: []step{says("She lives in Rome.")}}
		w := newFixtureWith(t, query.DefaultConfig(), withModel(m))
		w.apply(alice, memory.Changes{Bank: &memory.Bank{ID: alice, Disposition: memory.DefaultDisposition(), Created: noon}})
		r := mustReflect(t, w, question("Where does Alice live?"))
		if r.Response != "Memory holds nothing that bears on this." || r.Mode != "answer" || r.Turns != 0 || m.asked() != 0 || len(r.Citations) != 0 || r.Citations == nil {
			t.Errorf("got %+v after %d calls", r, m.asked())
		}
	})

	t.Run("where the first search found nothing the model may search, and without any find its answer does not stand", func(t *testing.T) {
		t.Parallel()
		m := &told{steps: []step{calls(call("search_memory", `{"query":"zeppelin"}`)), done("She flies one.")}}
		r := mustReflect(t, home(t, m), question("xylophone quux"))
		if r.Response != "Memory holds nothing that bears on this." || r.Turns != 2 || r.Mode != "answer" {
			t.Errorf("got %+v", r)
		}
		m = &told{steps: []step{calls(call("search_memory", `{"query":"Lisbon"}`)), done("Lisbon.", 1)}}
		if r := mustReflect(t, home(t, m), question("xylophone quux")); r.Response != "Lisbon." || len(r.Citations) != 1 {
			t.Errorf("got %+v", r)
		}
	})

	t.Run("what the model is shown keeps to the budget in whole items, and what it writes is valid UTF-8", func(t *testing.T) {
		t.Parallel()
		for budget := 4; budget < 40; budget += 4 {
			m := &told{steps: []step{done("Lis\xffbon [1].", 1)}}
			q := question("Where does Alice live, in Lisbon?")
			q.MaxTokens = &budget
			r := mustReflect(t, home(t, m), q)
			if !utf8.ValidString(r.Response) {
				t.Fatalf("the response is %q", r.Response)
			}
			if m.asked() == 0 || !strings.Contains(m.prompt(t, 1).User, "[1]") {
				continue
			}
			tokens := 0
			for line := range strings.Lines(m.prompt(t, 1).User) {
				if s, _, ok := strings.Cut(line, `" (`); ok && strings.HasPrefix(line, "[") {
					s = s[strings.Index(s, `"`)+1:]
					tokens += text.CountTokens(s)
					if !strings.HasSuffix(s, ".") {
						t.Errorf("at %d tokens an item is cut: %q", budget, s)
					}
				}
			}
			if tokens == 0 || tokens > budget {
				t.Errorf("at %d tokens the items shown have %d", budget, tokens)
			}
		}
	})

	t.Run("citations are what was shown: an invented one is dropped and named, none at all is named", func(t *testing.T) {
		t.Parallel()
		m := &told{steps: []step{calls(call("done", `{"answer":"Lisbon [1], or Rome [55].","citations":[1,"f_made_up",44]}`))}}
		r := mustReflect(t, home(t, m), question("Where does Alice live?"))
		if r.Response != "Lisbon [1], or Rome." || len(r.Citations) != 1 || !hasDegraded(r.Degraded, `citations: [55], [44], "f_made_up" dropped`) {
			t.Errorf("got %+v", r)
		}
		m = &told{steps: []step{done("Rome, I think.")}}
		if r := mustReflect(t, home(t, m), question("Where does Alice live?")); r.Response != "Rome, I think." || !hasDegraded(r.Degraded, "citations: the answer names nothing") {
			t.Errorf("got %+v", r)
		}
	})
}

func TestReflectFallsBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		step step
		why  string
	}{
		"fails":         {fails(errDown), "answer: the language model failed; the context is given"},
		"is refused":    {fails(memory.Invalid("prompt", "is not allowed")), "answer: the language model failed; the context is given"},
		"says nothing":  {says(" \n"), "answer: the language model gave no answer; the context is given"},
		"is too slow":   {hangs, "answer: the language model did not answer in time; the context is given"},
		"cites nothing": {done("[99]", 99), "answer: the language model gave no answer; the context is given"},
	} {
		t.Run("a model that "+name+" returns the context by rules and says so", func(t *testing.T) {
			t.Parallel()
			m := &told{steps: []step{c.step}}
			q := question("Where does Alice live?")
			if name == "is too slow" {
				q.Deadline = ptr(memory.Duration(2 * time.Second))
			}
			r := mustReflect(t, home(t, m), q)
			if r.Mode != "context" || !strings.Contains(r.Response, "## Facts") || !hasDegraded(r.Degraded, c.why) || r.Usage.Calls != 1 || r.Turns > 1 {
				t.Errorf("got %+v", r)
			}
		})
	}
	t.Run("the configured time applies where the request has none", func(t *testing.T) {
		t.Parallel()
		cfg := query.DefaultConfig()
		cfg.ReflectTimeout = 100 * time.Millisecond
		m := &told{steps: []step{hangs}}
		r := mustReflect(t, furnish(newFixtureWith(t, cfg, withModel(m))), question("Where does Alice live?"))
		if r.Mode != "context" || !hasDegraded(r.Degraded, "did not answer in time") || r.Usage.Failed != 1 {
			t.Errorf("got %+v", r)
		}
	})
	t.Run("style context asks no model", func(t *testing.T) {
		t.Parallel()
		m := &told{}
		r := mustReflect(t, home(t, m), ask("Where does Alice live?"))
		if m.asked() != 0 || r.Mode != "context" || hasDegraded(r.Degraded, "answer:") || r.Usage != (memory.Usage{}) {
			t.Errorf("got %+v", r)
		}
	})
	t.Run("a truncated answer is kept and marked as such", func(t *testing.T) {
		t.Parallel()
		m := &told{steps: []step{func(context.Context, memory.Prompt) (memory.Completion, error) {
			return memory.Completion{Calls: []memory.ToolCall{call("done", `{"answer":"She lives in Lis`)}, Truncated: true}, nil
		}}}
		if r := mustReflect(t, home(t, m), question("Where does Alice live?")); r.Response != "She lives in Lis" || !hasDegraded(r.Degraded, "answer: it was cut off") {
			t.Errorf("got %+v", r)
		}
	})
}
