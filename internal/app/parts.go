package app

import (
	"fmt"

	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/ingest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/store"
)

// The settings of each part, from the deployment's.

func (c Config) conn(name string, log zerolog.Logger) events.ConnConfig {
	return events.ConnConfig{URL: c.URL, Creds: c.Creds, Prefix: c.Prefix, Name: name, TLS: c.tls(), InboxPrefix: c.Inbox, Log: log}
}

func (c Config) ingest() ingest.Config {
	out := ingest.DefaultConfig()
	out.TriggerEvery, out.WindowTokens, out.WindowSize = c.TriggerEvery, c.WindowTokens, c.WindowSize
	out.IdleAfter = memory.Duration(c.IdleAfter)
	for _, r := range c.RoleFilter {
		out.RoleFilter = append(out.RoleFilter, memory.Role(r))
	}
	return out
}

func (c Config) extract() extract.Config {
	out := extract.DefaultConfig()
	out.Concurrency, out.MaxAttempts, out.AckWait, out.Grace = c.Extractors, c.MaxAttempts, c.AckWait, c.Grace
	return out
}

func (c Config) consolidate(e memory.Embedder) consolidate.Config {
	out := consolidate.DefaultConfig()
	out.Thresholds, out.Model, out.Dimension = e.Thresholds(), e.Name(), e.Dimension()
	out.Batch = c.Batch
	for _, own := range []struct {
		to   *float64
		from float64
	}{{&out.Thresholds.Dedup, c.Dedup}, {&out.Thresholds.Cluster, c.Cluster}, {&out.Thresholds.Diameter, c.Diameter}} {
		if own.from > 0 {
			*own.to = own.from
		}
	}
	if c.Cluster > 0 {
		out.SharedEase = 0 // what is set is what holds
	}
	return out
}

func (c Config) query() query.Config {
	out := query.DefaultConfig()
	out.Requests, out.IdleAfter, out.RedactExtra, out.Version = c.Slots, c.IdleAfter, c.Redact, Version
	out.ReflectTimeout, out.TokensPerDay = c.ReflectTimeout, int64(c.TokenBudget)
	return out
}

func openStore(c Config, path string, e memory.Embedder, log zerolog.Logger) (store.Store, error) {
	st, err := store.Open(store.Config{DSN: path, Limit: c.StoreLimit, Embedder: e.Name(), Dimension: e.Dimension(), Log: log})
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", path, err)
	}
	return st, nil
}
