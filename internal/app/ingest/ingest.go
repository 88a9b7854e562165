// Package ingest puts the ingest stage together from its settings.
package ingest

import (
	"time"

	"github.com/eunoe-memory/eunoe/internal/app/process"
	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/pkg/ingest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Stage cuts the messages of every session into windows.
func Stage() process.Stage {
	return process.Stage{Name: "ingest", Does: "cuts messages into windows", Build: func(p *process.Process) (process.Runner, error) {
		s, err := ingest.New(config(p.Settings), ingest.Deps{Conn: p.Conn, Log: p.Log, Now: time.Now})
		if err != nil {
			return process.Runner{}, err
		}
		return process.Runner{Run: s.Run}, p.Metrics.Register(s.Metrics())
	}}
}

func config(c settings.Config) ingest.Config {
	out := ingest.DefaultConfig()
	out.TriggerEvery, out.WindowTokens = c.TriggerEvery, c.WindowTokens
	out.IdleAfter = memory.Duration(c.IdleAfter)
	for _, r := range c.RoleFilter {
		out.RoleFilter = append(out.RoleFilter, memory.Role(r))
	}
	return out
}
