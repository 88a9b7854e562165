package llm_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/extract/llm"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

var day = time.Date(2023, 5, 8, 13, 56, 0, 0, time.UTC) // a Monday

// scripted answers each call by a function and remembers what it was asked.
type scripted struct {
	mu     sync.Mutex
	asked  []memory.Prompt
	answer func(call int, p memory.Prompt) (memory.Completion, error)
}

func (s *scripted) Name() string { return "test:scripted" }

func (s *scripted) Complete(ctx context.Context, p memory.Prompt) (memory.Completion, error) {
	s.mu.Lock()
	s.asked = append(s.asked, p)
	n := len(s.asked)
	s.mu.Unlock()
	c, err := s.answer(n, p)
	u := memory.Usage{Calls: 1, PromptTokens: 100, CompletionTokens: 10}
	if err != nil {
		u = memory.Usage{Calls: 1, Failed: 1}
	}
	memory.MeterOf(ctx).Add(memory.StageUsage{Stage: memory.StageExtract, Model: s.Name(), Usage: u})
	return c, err
}

func (s *scripted) prompts() []memory.Prompt {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]memory.Prompt(nil), s.asked...)
}

// saying answers with these texts in turn, and repeats the last.
func saying(answers ...string) *scripted {
	return &scripted{answer: func(n int, _ memory.Prompt) (memory.Completion, error) {
		return memory.Completion{Text: answers[min(n, len(answers))-1]}, nil
	}}
}

func extractor(t testing.TB, m memory.LanguageModel, change func(*llm.Config, *llm.Deps)) *llm.Extractor {
	t.Helper()
	c, d := llm.DefaultConfig(), llm.Deps{Model: m}
	if change != nil {
		change(&c, &d)
	}
	x, err := llm.New(c, d)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// talk makes messages of "Speaker: words", a minute apart, with ids m1 and on.
func talk(lines ...string) []memory.Message {
	var out []memory.Message
	for i, l := range lines {
		speaker, words, _ := strings.Cut(l, ": ")
		out = append(out, memory.Message{ID: memory.MessageID(fmt.Sprintf("m%d", i+1)), Seq: uint64(i + 1), Role: memory.RoleUser,
			Speaker: speaker, Content: words, Time: day.Add(time.Duration(i) * time.Minute)})
	}
	return out
}

func input(lines ...string) extract.Input {
	return extract.Input{Bank: "alice", Session: "s1", New: talk(lines...)}
}

// shown returns the numbered lines of a prompt's messages.
func shown(p memory.Prompt) []string {
	_, rest, _ := strings.Cut(p.User, "<messages>\n")
	rest, _, _ = strings.Cut(rest, "</messages>")
	var out []string
	for _, l := range strings.Split(strings.TrimSpace(rest), "\n") {
		if !strings.HasPrefix(l, "= ") && !strings.HasPrefix(l, "  ") {
			out = append(out, l)
		}
	}
	return out
}
