package sqlite

import (
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// countUsage adds what the model calls behind a write took to the sums of its
// bank and day. It counts once for every event: also for one whose op was
// applied before, but not for an earlier one appended anew, which has the same
// op and time. It gives the changes to announce, none where nothing was counted.
func (a *applier) countUsage(bank int64, op string, w memory.Write) ([]memory.Change, error) {
	if len(w.Usage) == 0 || bank == 0 {
		return nil, nil
	}
	const once = `INSERT INTO usage_events (bank, op, time) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`
	first, err := changed(a.tx.ExecContext(a.ctx, once, bank, op, micros(w.Time)))
	if err != nil || !first {
		return nil, err
	}
	const add = `INSERT INTO usage (bank, day, stage, model, calls, failed, prompt, cached, completion) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (bank, day, stage, model) DO UPDATE SET calls = calls + excluded.calls, failed = failed + excluded.failed,
  prompt = prompt + excluded.prompt, cached = cached + excluded.cached, completion = completion + excluded.completion`
	day := w.Time.UTC().Format(time.DateOnly)
	for _, u := range w.Usage {
		err := a.exec("add the usage of "+op, add, bank, day, text(u.Stage), text(u.Model), max(0, u.Calls), max(0, u.Failed),
			max(0, u.PromptTokens), max(0, u.CachedTokens), max(0, u.CompletionTokens))
		if err != nil {
			return nil, err
		}
	}
	return consolidate.UsageChanges(w), nil
}
