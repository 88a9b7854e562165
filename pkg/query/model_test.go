package query_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// step is the behavior of a scripted model in one call.
type step func(ctx context.Context, p memory.Prompt) (memory.Completion, error)

// told is a language model that follows a script. It reports usage like a provider: 100 input tokens per call, 20 of
// them cached, and 10 output tokens.
type told struct {
	stage string
	steps []step

	mu      sync.Mutex
	prompts []memory.Prompt
}

func (m *told) Name() string { return "test:scripted" }

func (m *told) Complete(ctx context.Context, p memory.Prompt) (memory.Completion, error) {
	m.mu.Lock()
	n := len(m.prompts)
	m.prompts = append(m.prompts, p)
	m.mu.Unlock()
	used := memory.StageUsage{Stage: m.stage, Model: m.Name(), Usage: memory.Usage{Calls: 1, PromptTokens: 100, CachedTokens: 20, CompletionTokens: 10}}
	if n >= len(m.steps) {
		memory.MeterOf(ctx).Add(used)
		return memory.Completion{}, fmt.Errorf("call %d is not in the script: %w", n+1, memory.ErrUnavailable)
	}
	c, err := m.steps[n](ctx, p)
	if err != nil {
		used.Usage = memory.Usage{Calls: 1, Failed: 1, PromptTokens: 100}
	}
	memory.MeterOf(ctx).Add(used)
	return c, err
}

// prompt returns the prompt of the nth call, counted from 1.
func (m *told) prompt(t testing.TB, n int) memory.Prompt {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.prompts) < n {
		t.Fatalf("the model was asked %d times, not %d", len(m.prompts), n)
	}
	return m.prompts[n-1]
}

func (m *told) asked() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.prompts)
}

func says(text string) step {
	return func(context.Context, memory.Prompt) (memory.Completion, error) {
		return memory.Completion{Text: text}, nil
	}
}

func fails(err error) step {
	return func(context.Context, memory.Prompt) (memory.Completion, error) {
		return memory.Completion{}, err
	}
}

// hangs returns only when the context ends.
func hangs(ctx context.Context, _ memory.Prompt) (memory.Completion, error) {
	<-ctx.Done()
	return memory.Completion{}, fmt.Errorf("%w: %w", ctx.Err(), memory.ErrDeadline)
}

// call returns a tool call; args is JSON, or malformed text.
func call(name, args string) memory.ToolCall {
	return memory.ToolCall{ID: name, Name: name, Arguments: args}
}

func calls(list ...memory.ToolCall) step {
	return func(context.Context, memory.Prompt) (memory.Completion, error) {
		return memory.Completion{Calls: list}, nil
	}
}

func done(text string, cited ...int) step {
	return calls(call("done", doneArgs(text, cited...)))
}

func doneArgs(text string, cited ...int) string {
	if cited == nil {
		cited = []int{}
	}
	b, err := json.Marshal(map[string]any{"answer": text, "citations": cited})
	if err != nil {
		panic(err)
	}
	return string(b)
}

// withModel returns a change of Deps that makes the script the model for answers and judgements.
func withModel(m *told) func(*query.Deps) {
	m.stage = memory.StageReflect
	return func(d *query.Deps) { d.Answerer = m }
}

func withJudge(m *told) func(*query.Deps) {
	m.stage = memory.StageJudge
	return func(d *query.Deps) { d.Judge = m }
}

// home returns a fixture with facts about Alice's home, and about Bob in a second bank.
func home(t *testing.T, m *told) *fixture {
	t.Helper()
	w := newFixtureWith(t, query.DefaultConfig(), withModel(m))
	return furnish(w)
}

func furnish(w *fixture) *fixture {
	w.say(memory.Message{ID: "a", Content: "I moved to Lisbon in May."}, memory.Message{ID: "b", Content: "The weather was fine."},
		memory.Message{ID: "c", Content: "My sister Clara lives in Porto.", Session: "s2"},
		memory.Message{ID: "x", Bank: "bob", Content: "Bob's safe opens with the code of Lisbon."})
	w.know(alice, memory.Fact{Text: "Alice lives in Lisbon.", Sources: w.from(alice, "a"), Entities: []memory.EntityID{"person:alice"}, Confidence: .9},
		memory.Fact{Text: "Clara lives in Porto.", Sources: w.from(alice, "c"), Entities: []memory.EntityID{"person:clara"}, Session: "s2", Confidence: .9})
	w.know("bob", memory.Fact{Text: "Bob's safe code is 4711.", Entities: []memory.EntityID{"person:bob"}})
	return w
}

func question(text string) wire.ReflectRequest {
	return wire.ReflectRequest{RecallRequest: wire.RecallRequest{Query: text}}
}

// numberOf returns the number of a text in a prompt.
func numberOf(t testing.TB, shown, text string) int {
	t.Helper()
	for line := range strings.Lines(shown) {
		var n int
		if strings.Contains(line, text) {
			if _, err := fmt.Sscanf(strings.TrimSpace(line), "[%d]", &n); err == nil {
				return n
			}
		}
	}
	t.Fatalf("%q is not shown in\n%s", text, shown)
	return 0
}

// results joins the tool results that the model has received so far.
func results(p memory.Prompt) string {
	var out strings.Builder
	for _, turn := range p.Turns {
		out.WriteString(strings.Join(turn.Results, "\n") + "\n")
	}
	return out.String()
}

var errDown = fmt.Errorf("down: %w", memory.ErrUnavailable)

func hasDegraded(list []string, part string) bool {
	return strings.Contains(strings.Join(list, "\n"), part)
}

func mustReflect(t testing.TB, w *fixture, r wire.ReflectRequest) wire.ReflectReply {
	t.Helper()
	reply, err := w.service.Reflect(context.Background(), alice, r)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

func itoa(n int) string { return fmt.Sprint(n) }
