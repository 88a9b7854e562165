package app

import (
	"time"

	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// budget bounds what extraction takes, where a language model extracts.
func (p *process) budget() (*extract.Budget, error) {
	c := extract.DefaultBudgetConfig()
	c.TokensPerDay, c.Metered = int64(p.config.TokenBudget), p.models.Language(memory.StageExtract) != nil
	b, err := extract.NewBudget(c, extract.BudgetDeps{Conn: p.conn, Log: p.log, Now: time.Now, Profile: p.profile})
	if err != nil {
		return nil, err
	}
	return b, p.metrics.Register(b)
}
