package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/pkg/events"
)

// Stage is one stage of the pipeline, ready to be built.
type Stage struct {
	Name   string // as in logs, metrics and traces: "ingest"
	Does   string // what it does, in a few words, for people
	Embeds bool   // needs the embedding model and its dimension before it is built
	Serves bool   // registers its own micro service with the broker
	Guest  bool   // has no rights of its own: alone in a process it has no connection either
	Build  func(*Process) (Runner, error)
}

// Runner is a stage that was built.
type Runner struct {
	Run   func(context.Context) error // blocks until the context ends or the stage fails
	Ready <-chan struct{}             // closed when the stage answers; nil = at once
}

// Main runs one stage as a process: settings from EUNOE_*, JSON logs on standard error, a graceful stop on SIGINT and
// SIGTERM. It exits with 2 for invalid settings and with 1 when the stage fails.
func Main(s Stage) {
	TuneRuntime()
	if len(os.Args) > 1 {
		fmt.Fprintf(os.Stderr, "%s %s; it takes no arguments: its settings are the variables EUNOE_* (`eunoe config` lists them).\n", s.Name, s.Does)
		os.Exit(2)
	}
	c, _, err := settings.Load(os.Environ(), nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := Run(ctx, c, s); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", s.Name, err)
		os.Exit(1)
	}
}

// Run runs one stage against a NATS server until ctx ends.
func Run(ctx context.Context, c settings.Config, s Stage) (err error) {
	log := NewLogger(os.Stderr, c.Log)
	traces, err := NewTracing(ctx, c, "eunoe-"+s.Name, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, traces.Close()) }()
	log = traces.Logger(log)
	if s.Guest {
		p, err := New(c, log, nil)
		if err != nil {
			return err
		}
		p.Callers.Tracer = traces.Tracer()
		return unlessCancelled(ctx, p.Run(ctx, []Stage{s}, nil))
	}
	conn, err := events.Connect(ctx, c.Conn("eunoe-"+s.Name, log))
	if err != nil {
		return unlessCancelled(ctx, err)
	}
	defer conn.NC.Close()
	conn.Tracer = traces.Tracer()
	if err := conn.Reconcile(ctx, c.Streams()); err != nil {
		return unlessCancelled(ctx, fmt.Errorf("streams: %w", err))
	}
	p, err := New(c, log, conn)
	if err != nil {
		return err
	}
	if err := p.Watch(traces); err != nil {
		return err
	}
	return p.Run(ctx, []Stage{s}, nil)
}

// unlessCancelled returns err, or nil where the process was told to stop while it started.
func unlessCancelled(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil
	}
	return err
}
