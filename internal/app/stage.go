package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/extract/rules"
	"github.com/eunoe-memory/eunoe/pkg/ingest"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/secret"
)

// Stage is one of the four stages of the pipeline, ready to be built.
type Stage struct {
	name  string
	does  string
	build func(*process) (runner, error)
}

// runner is a stage that was built.
type runner struct {
	run   func(context.Context) error
	ready <-chan struct{} // closed when the stage answers; nil = at once
}

// Ingest cuts the messages of every session into windows.
func Ingest() Stage {
	return Stage{"ingest", "cuts messages into windows", func(p *process) (runner, error) {
		s, err := ingest.New(p.config.ingest(), ingest.Deps{Conn: p.conn, Log: p.log, Now: time.Now})
		if err != nil {
			return runner{}, err
		}
		return runner{run: s.Run}, p.metrics.Register(s.Metrics())
	}}
}

// Extractor turns windows into facts.
func Extractor() Stage {
	return Stage{"extractor", "turns windows into facts", func(p *process) (runner, error) {
		redact, err := secret.NewRedactor(p.config.Redact)
		if err != nil {
			return runner{}, err
		}
		s, err := extract.NewWorker(p.config.extract(), extract.Deps{
			Conn: p.conn, Log: p.log, Embedder: p.embedder, Extractor: rules.New(), Redactor: redact, Profile: p.profile,
		})
		if err != nil {
			return runner{}, err
		}
		return runner{run: s.Run}, p.metrics.Register(s.Metrics())
	}}
}

// Consolidator folds what the log says into the store.
func Consolidator() Stage {
	return Stage{"consolidator", "folds the log into the store", func(p *process) (runner, error) {
		st, err := p.openStore()
		if err != nil {
			return runner{}, err
		}
		redact, err := secret.NewRedactor(p.config.Redact)
		if err != nil {
			return runner{}, err
		}
		s, err := consolidate.New(p.config.consolidate(p.embedder), consolidate.Deps{
			Conn: p.conn, Log: p.log, Now: time.Now, Store: st, Redactor: redact, Profile: p.storedProfile,
		})
		if err != nil {
			return runner{}, err
		}
		return runner{run: s.Run}, p.metrics.Register(s.Metrics())
	}}
}

// Query answers requests from the store.
func Query() Stage {
	return Stage{"query", "answers requests from the store", func(p *process) (runner, error) {
		st, err := p.openStore()
		if err != nil {
			return runner{}, err
		}
		cfg := p.config.query()
		cfg.Metadata = metadata("query", p.http)
		s, err := query.New(cfg, query.Deps{Conn: p.conn, Log: p.log, Now: time.Now, Store: st, Embedder: p.embedder})
		if err != nil {
			return runner{}, err
		}
		return runner{run: s.Run, ready: s.Ready()}, p.metrics.Register(s.Metrics())
	}}
}

// Main runs one stage as a process: settings from EUNOE_*, JSON logs on
// standard error, a graceful stop on SIGINT and SIGTERM. It exits with 2 for
// wrong settings and with 1 when the stage fails.
func Main(s Stage) {
	if len(os.Args) > 1 {
		fmt.Fprintf(os.Stderr, "%s %s; it takes no arguments: its settings are the variables EUNOE_* (`eunoe config` lists them).\n", s.name, s.does)
		os.Exit(2)
	}
	c, _, err := LoadConfig(os.Environ(), nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := Run(ctx, c, s); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", s.name, err)
		os.Exit(1)
	}
}

// Run runs one stage against a NATS server until ctx ends.
func Run(ctx context.Context, c Config, s Stage) error {
	log := newLogger(os.Stderr, c.Log)
	conn, err := events.Connect(ctx, c.conn("eunoe-"+s.name, log))
	if err != nil {
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil
		}
		return err
	}
	defer conn.NC.Close()
	if err := conn.Reconcile(ctx, events.StreamOptions{}); err != nil {
		return fmt.Errorf("streams: %w", err)
	}
	return newProcess(c, log, conn).run(ctx, []Stage{s}, nil)
}
