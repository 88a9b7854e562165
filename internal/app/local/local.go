// Package local runs the whole pipeline in one process: an embedded NATS server on a data directory, and all stages.
//
// [Start] is what `eunoe up` and `eunoe demo` run; [OpenLog] opens the streams of a data directory without stages, for
// work on a stopped one.
package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/eunoe-memory/eunoe/internal/app/consolidator"
	"github.com/eunoe-memory/eunoe/internal/app/extractor"
	"github.com/eunoe-memory/eunoe/internal/app/gateway"
	"github.com/eunoe-memory/eunoe/internal/app/ingest"
	"github.com/eunoe-memory/eunoe/internal/app/process"
	"github.com/eunoe-memory/eunoe/internal/app/query"
	"github.com/eunoe-memory/eunoe/internal/app/settings"
)

// Local is the whole pipeline in this process, with a NATS server of its own.
type Local struct {
	*Log
	HTTP string // address of the health checks
	// Gateway is the URL of the HTTP gateway, "" without one.
	Gateway string

	stop context.CancelFunc
	done chan error
}

// Stages returns the four stages in the order of the pipeline.
func Stages() []process.Stage {
	return []process.Stage{ingest.Stage(), extractor.Stage(), consolidator.Stage(), query.Stage()}
}

// Start starts a NATS server in the data directory and every stage, and returns when they run. Logs of the level
// EUNOE_LOG and above go to logs. The caller closes it. A data directory or port that is in use is an error that says so.
// The gateway is no stage of the pipeline: it runs where it is among more.
func Start(ctx context.Context, c settings.Config, logs io.Writer, more ...process.Stage) (_ *Local, err error) {
	log := process.NewLogger(logs, c.Log)
	l := &Local{Log: &Log{Dir: c.Data}, done: make(chan error, 1)}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Release())
		}
	}()
	if err := l.Lock(); err != nil {
		return nil, err
	}
	traces, err := process.NewTracing(ctx, c, "eunoe", log)
	if err != nil {
		return nil, err
	}
	l.onRelease, log = append(l.onRelease, traces.Close), traces.Logger(log)
	if err := l.Serve(ctx, c, log); err != nil {
		return nil, err
	}
	l.Conn.Tracer = traces.Tracer()
	if err := l.Conn.Reconcile(ctx, c.Streams()); err != nil {
		return nil, fmt.Errorf("streams: %w", err)
	}
	if err := l.srv.KeepSettings(); err != nil {
		return nil, err
	}
	p, err := process.New(c, log, l.Conn)
	if err != nil {
		return nil, err
	}
	p.Check("disk", func(context.Context) error { return l.srv.Full() })
	if err := p.Watch(traces); err != nil {
		return nil, err
	}
	p.Callers = l.callers
	p.Callers.Name, p.Callers.Tracer = "eunoe-caller", l.Conn.Tracer
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	l.stop = stop
	started := make(chan string, 1)
	go func() { l.done <- p.Run(run, append(Stages(), more...), func(http string) { started <- http }) }()
	select {
	case l.HTTP = <-started:
		l.Gateway = p.Gateway
		return l, nil
	case err := <-l.done:
		stop()
		return nil, err
	case <-ctx.Done():
		stop()
		return nil, errors.Join(ctx.Err(), <-l.done)
	}
}

// Wait blocks until a stage fails or Close is called from elsewhere.
func (l *Local) Wait() error {
	err := <-l.done
	l.done <- err
	return err
}

// Close stops the stages, then the server, and unlocks the data directory. A second call does nothing.
func (l *Local) Close(ctx context.Context) error {
	if l.stop == nil {
		return nil
	}
	l.stop()
	l.stop = nil
	var err error
	select {
	case err = <-l.done:
	case <-ctx.Done():
		err = fmt.Errorf("stages did not stop in time: %w", ctx.Err())
	}
	return errors.Join(err, l.Release())
}

// Up runs the whole pipeline until ctx ends, with logs on standard error. ready is called when it answers requests.
func Up(ctx context.Context, c settings.Config, ready func(*Local)) error {
	var more []process.Stage
	if c.HTTP != settings.Off {
		more = append(more, gateway.Stage())
	}
	l, err := Start(ctx, c, os.Stderr, more...)
	if err != nil {
		return err
	}
	ready(l)
	failed := make(chan error, 1)
	go func() { failed <- l.Wait() }()
	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*c.Grace)
	defer cancel()
	return errors.Join(err, l.Close(stopping))
}
