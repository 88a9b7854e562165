package query

import (
	"context"
	"slices"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// modelOutcome waits until a moment for what a language model makes of the
// request of an op. Without a model there is nothing to wait for; pending says
// that the model has not answered in time.
func (s *Service) modelOutcome(ctx context.Context, bank memory.BankID, op string, until time.Time) (out memory.WriteOutcome, pending bool, err error) {
	if !s.cfg.Observer {
		return out, false, nil
	}
	var found *memory.WriteOutcome
	done, err := pollUntil(ctx, max(0, time.Until(until)), func(ctx context.Context) (bool, error) {
		found, err = s.store.Outcome(ctx, bank, memory.ModelOp(op))
		return found != nil, err
	})
	if err != nil || !done {
		return out, err == nil, err
	}
	return *found, false, nil
}

// union gives both lists, each id once, in order.
func union(a, b []memory.ObservationID) []memory.ObservationID {
	out := slices.Clone(a)
	for _, id := range b {
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}
