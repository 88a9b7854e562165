package llm

import (
	"context"
	"errors"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// errSpent means that the bank has no tokens left on this day. Its questions stay pending.
var errSpent = errors.New("the bank has used up its tokens of the day")

// exhausted reports whether a bank has used up its tokens of this UTC day, and logs it once a day. A bound that cannot
// be read does not apply.
func (w *Worker) exhausted(ctx context.Context, bank memory.BankID) bool {
	day := w.deps.Now().UTC().Format(time.DateOnly)
	tokens, bound, err := w.deps.Store.Spent(ctx, bank, day)
	if err != nil {
		w.warn(ctx, bank, "", err, "what the bank spent cannot be read")
		return false
	}
	if bound == 0 {
		bound = w.cfg.TokensPerDay
	}
	if bound == 0 || tokens < bound {
		return false
	}
	if w.spent[bank] != day {
		w.spent[bank] = day
		w.deps.Logger.Info().Str("stage", consolidate.Stage).Str("bank", string(bank)).Int64("tokens", tokens).Int64("bound", bound).
			Msg("what waits for a language model waits for the next day: the bank has used up its tokens")
	}
	return true
}
