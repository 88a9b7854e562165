package query

import (
	"context"
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// exhausted says why language models do no more for a bank on this UTC day; ""
// = they do. What they took is what the store has been told of it, so that a
// bank may pass its bound by what is under way when it is reached.
func (s *Service) exhausted(ctx context.Context, bank memory.BankID) (string, error) {
	day := s.now().UTC().Format(time.DateOnly)
	spent, bound, err := s.store.Spent(ctx, bank, day)
	if err != nil {
		return "", fmt.Errorf("token budget of bank %q: %w", string(bank), err)
	}
	if bound == 0 {
		bound = s.cfg.TokensPerDay
	}
	if bound == 0 || spent < bound {
		return "", nil
	}
	return fmt.Sprintf("the bank took %d of the %d tokens it may take on %s (tokens_per_day)", spent, bound, day), nil
}

// affordable takes from a request what asks a language model that the bank has
// no tokens for, and gives what degraded says of it.
func (s *Service) affordable(ctx context.Context, bank memory.BankID, a ask) (ask, []string, error) {
	if s.judge == nil || a.judge == nil && a.adequacy == 0 {
		return a, nil, nil
	}
	why, err := s.exhausted(ctx, bank)
	if why == "" || err != nil {
		return a, nil, err
	}
	var degraded []string
	if a.adequacy > 0 {
		degraded = append(degraded, "adequacy: "+why+"; the result stands as it is")
	}
	if a.judge != nil {
		degraded = append(degraded, "judge: "+why+"; nothing is dropped")
	}
	a.adequacy, a.judge = 0, nil
	return a, degraded, nil
}
