package llm_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func TestTokenBudget(t *testing.T) {
	t.Parallel()
	for name, quota := range map[string]*memory.Quotas{"the bank's own budget": {TokensPerDay: 100}, "the deployment's budget": nil} {
		t.Run("over "+name+" what waits for a model waits until the day turns", func(t *testing.T) {
			t.Parallel()
			m := newModel().on(memory.StageDecide, updates)
			s := newStage(t, m)
			if quota == nil {
				s.llm.TokensPerDay = 100
			}
			var days, looks atomic.Int64
			s.now = func() time.Time {
				looks.Add(1)
				return time.Now().AddDate(0, 0, int(days.Load()))
			}
			s.append(memory.Write{Kind: memory.WriteUsage, Op: "used", Usage: []memory.StageUsage{
				{Stage: memory.StageExtract, Model: "m", Usage: memory.Usage{Calls: 1, PromptTokens: 90, CompletionTokens: 10}}}})
			if quota != nil {
				s.append(memory.Write{Kind: memory.WriteBank, Op: "quota", Profile: &memory.BankUpdate{Quotas: quota}})
			}
			s.tell("m1", older)
			s.tell("m2", newer)
			s.run()
			s.eventually("the facts wait", func() bool { return s.waiting(memory.PendingDecide) == 1 })
			before := looks.Load()
			s.eventually("it was looked at many times", func() bool { return looks.Load() > before+200 })
			equal(t, "asked", m.count(memory.StageDecide), 0)
			equal(t, "waiting", s.waiting(memory.PendingDecide), 1)
			days.Store(1)
			s.eventually("it is decided on the next day", func() bool { return s.fact(both).Live() })
		})
	}
	t.Run("what embedding took does not count, and a budget that is not reached bounds nothing", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, newModel().on(memory.StageDecide, updates))
		s.llm.TokensPerDay = 100
		s.append(memory.Write{Kind: memory.WriteUsage, Op: "used", Usage: []memory.StageUsage{
			{Stage: memory.StageEmbed, Model: "m", Usage: memory.Usage{Calls: 1, PromptTokens: 1000}}, {Stage: memory.StageExtract, Model: "m", Usage: memory.Usage{Calls: 1, PromptTokens: 99}}}})
		s.tell("m1", older)
		s.tell("m2", newer)
		s.run()
		s.eventually("it is decided", func() bool { return s.fact(both).Live() })
	})
}
