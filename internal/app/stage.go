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
	"github.com/eunoe-memory/eunoe/pkg/ingest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
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
		budget, err := p.budget()
		if err != nil {
			return runner{}, err
		}
		extractor, entities, err := p.extraction()
		if err != nil {
			return runner{}, err
		}
		c := p.config.extract()
		c.Patience = p.config.ModelPatience
		if p.models.Language(memory.StageExtract) == nil && c.Concurrency == 1 {
			// Rules see one window alone, so only the order of the ends tells whether
			// windows are worked on one after the other; and what ends together is
			// written to disk together.
			c.InTurn, c.Concurrency = true, aheadByRules
		}
		s, err := extract.NewWorker(c, extract.Deps{
			Conn: p.conn, Log: p.log, Embedder: p.embedder, Extractor: extractor, Redactor: redact, Profile: p.profile,
			Entities: entities, Budget: budget,
		})
		if err != nil {
			return runner{}, err
		}
		return runner{run: s.Run}, p.metrics.Register(s.Metrics())
	}}
}

// aheadByRules is how many windows are worked on at a time where their ends
// are appended in order.
const aheadByRules = 32

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
		beside, err := p.asker(st, redact)
		if err != nil {
			return runner{}, err
		}
		s, err := consolidate.New(p.consolidation(), consolidate.Deps{
			Conn: p.conn, Log: p.log, Now: time.Now, Store: st, Redactor: redact, Embedder: p.embedder, Beside: p.tidy(beside), Profile: p.storedProfile,
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
		cfg.Observer = p.consolidation().Observe
		s, err := query.New(cfg, query.Deps{Conn: p.conn, Log: p.log, Now: time.Now, Store: st, Embedder: p.embedder, Reranker: p.models.Reranker(),
			Answerer: p.models.Language(memory.StageReflect), Judge: p.models.Language(memory.StageJudge)})
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
	ShareCores()
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
func Run(ctx context.Context, c Config, s Stage) (err error) {
	log := newLogger(os.Stderr, c.Log)
	traces, err := newTracing(ctx, c, "eunoe-"+s.name, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, traces.close()) }()
	log = traces.logger(log)
	conn, err := events.Connect(ctx, c.conn("eunoe-"+s.name, log))
	if err != nil {
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil
		}
		return err
	}
	defer conn.NC.Close()
	conn.Tracer = traces.tracer()
	if err := conn.Reconcile(ctx, events.StreamOptions{}); err != nil {
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil
		}
		return fmt.Errorf("streams: %w", err)
	}
	p, err := newProcess(c, log, conn)
	if err != nil {
		return err
	}
	if err := p.watch(traces); err != nil {
		return err
	}
	return p.run(ctx, []Stage{s}, nil)
}
