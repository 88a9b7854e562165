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
)

// step is what a told model does when it is asked once.
type step func(ctx context.Context, p memory.Prompt) (memory.Completion, error)

// told is a language model that follows a script; it counts as a provider
// does: each call 100 tokens in, of which 20 cached, and 10 out.
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

// prompt gives what the model was asked the nth time, from 1.
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

// hangs answers when its time is over.
func hangs(ctx context.Context, _ memory.Prompt) (memory.Completion, error) {
	<-ctx.Done()
	return memory.Completion{}, fmt.Errorf("%w: %w", ctx.Err(), memory.ErrDeadline)
}

// call is a tool call; args is JSON, or text as a model may write it.
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

// withModel is a change of Deps: the script answers and judges.
func withModel(m *told) func(*query.Deps) {
	m.stage = memory.StageReflect
	return func(d *query.Deps) { d.Answerer = m }
}

func withJudge(m *told) func(*query.Deps) {
	m.stage = memory.StageJudge
	return func(d *query.Deps) { d.Judge = m }
}

// home is a world that knows where Alice lives, and of Bob in a bank of his own.
func home(t *testing.T, m *told) *world {
	t.Helper()
	w := newWorldWith(t, query.DefaultConfig(), withModel(m))
	return furnish(w)
}

func furnish(w *world) *world {
	w.say(memory.Message{ID: "a", Content: "I moved to Lisbon in May."}, memory.Message{ID: "b", Content: "The weather was fine."},
		memory.Message{ID: "c", Content: "My sister Clara lives in Porto.", Session: "s2"},
		memory.Message{ID: "x", Bank: "bob", Content: "Bob's safe opens with the code of Lisbon."})
	w.know(alice, memory.Fact{Text: "Alice lives in Lisbon.", Sources: w.from(alice, "a"), Entities: []memory.EntityID{"person:alice"}, Confidence: .9},
		memory.Fact{Text: "Clara lives in Porto.", Sources: w.from(alice, "c"), Entities: []memory.EntityID{"person:clara"}, Session: "s2", Confidence: .9})
	w.know("bob", memory.Fact{Text: "Bob's safe code is 4711.", Entities: []memory.EntityID{"person:bob"}})
	return w
}

func question(text string) memory.ReflectRequest {
	return memory.ReflectRequest{RecallRequest: memory.RecallRequest{Query: text}}
}

// numberOf gives the number under which a text is shown in what a model reads.
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

// results joins what a model was given back so far.
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

func mustReflect(t testing.TB, w *world, r memory.ReflectRequest) memory.ReflectReply {
	t.Helper()
	reply, err := w.service.Reflect(context.Background(), alice, r)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

func itoa(n int) string { return fmt.Sprint(n) }
