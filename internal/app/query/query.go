// Package query puts the query stage together from its settings.
package query

import (
	"time"

	"github.com/eunoe-memory/eunoe/internal/app/process"
	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/internal/app/storage"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
)

// Stage answers requests from the store.
func Stage() process.Stage {
	return process.Stage{Name: "query", Does: "answers requests from the store", Embeds: true, Serves: true, Build: func(p *process.Process) (process.Runner, error) {
		st, err := storage.Open(p)
		if err != nil {
			return process.Runner{}, err
		}
		cfg := Config(p.Settings)
		cfg.Metadata = p.ServiceMetadata("query")
		cfg.Observer = p.Models.Language(memory.StageObserve) != nil
		s, err := query.New(cfg, query.Deps{
			Conn: p.Conn, Log: p.Log, Now: time.Now, Store: st.Whole, SameLog: st.SameLog, Preview: storage.Preview(p, st.Whole), Embedder: p.Embedder, Reranker: p.Models.Reranker(),
			Answerer: p.Models.Language(memory.StageReflect), Judge: p.Models.Language(memory.StageJudge),
		})
		if err != nil {
			return process.Runner{}, err
		}
		return process.Runner{Run: s.Run, Ready: s.Ready()}, p.Metrics.Register(s.Metrics())
	}}
}

// Config returns the configuration of the query service.
func Config(c settings.Config) query.Config {
	out := query.DefaultConfig()
	out.IdleAfter, out.RedactExtra, out.Version = c.IdleAfter, c.Redact, process.Version
	out.Recall.TokensPerDay = int64(c.TokenBudget)
	return out
}
