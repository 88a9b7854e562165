package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/internal/natsd"
	"github.com/eunoe-memory/eunoe/pkg/events"
)

// Local is the whole pipeline in this process, with a NATS server of its own.
type Local struct {
	URL  string // where clients connect
	HTTP string // address of the health checks
	Dir  string // the data directory
	Conn *events.Conn

	stop context.CancelFunc
	done chan error
	end  []func() error
}

// Stages lists the four stages in the order of the pipeline.
func Stages() []Stage { return []Stage{Ingest(), Extractor(), Consolidator(), Query()} }

// StartLocal starts a NATS server in the data directory and every stage, and
// returns when they run. Logs go to standard error from the level EUNOE_LOG on.
// The caller closes it. A data directory or port that is taken is an error
// that says so.
func StartLocal(ctx context.Context, c Config) (*Local, error) {
	return startLocal(ctx, c, os.Stderr)
}

func startLocal(ctx context.Context, c Config, logs io.Writer) (_ *Local, err error) {
	log := newLogger(logs, c.Log)
	l := &Local{Dir: c.Data, done: make(chan error, 1)}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.release())
		}
	}()
	if err := l.lock(c.Data); err != nil {
		return nil, err
	}
	traces, err := newTracing(ctx, c, "eunoe", log)
	if err != nil {
		return nil, err
	}
	l.end, log = append(l.end, traces.close), traces.logger(log)
	if err := l.serve(ctx, c, log); err != nil {
		return nil, err
	}
	l.Conn.Tracer = traces.tracer()
	if err := l.Conn.Reconcile(ctx, events.StreamOptions{}); err != nil {
		return nil, fmt.Errorf("streams: %w", err)
	}
	p, err := newProcess(c, log, l.Conn)
	if err != nil {
		return nil, err
	}
	if err := p.watch(traces); err != nil {
		return nil, err
	}
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	l.stop = stop
	started := make(chan string, 1)
	go func() { l.done <- p.run(run, Stages(), func(http string) { started <- http }) }()
	select {
	case l.HTTP = <-started:
		return l, nil
	case err := <-l.done:
		stop()
		return nil, err
	case <-ctx.Done():
		stop()
		return nil, errors.Join(ctx.Err(), <-l.done)
	}
}

// lock makes the data directory and takes it for this process.
func (l *Local) lock(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return errors.Join(fmt.Errorf("the data directory %s is in use by another eunoe; stop it, or name another with --data", dir), f.Close())
	}
	l.end = append(l.end, f.Close)
	return nil
}

// serve starts the embedded server and connects to it.
// Where there are users it asks everybody for credentials, and takes over
// changes of them while it runs.
func (l *Local) serve(ctx context.Context, c Config, log zerolog.Logger) error {
	in, err := newInsider()
	if err != nil {
		return err
	}
	rules, err := c.guarded(in)
	if err != nil {
		return err
	}
	srv, err := natsd.Start(natsd.Config{
		Dir: filepath.Join(c.Data, "streams"), Host: c.Listen, Port: c.Port, SyncAlways: c.Sync, Log: log,
		Rules: rules, TLS: natsd.TLS{Cert: c.TLSCert, Key: c.TLSKey, CA: c.TLSCA},
	})
	if err != nil {
		return fmt.Errorf("%w; choose another port with --port (EUNOE_PORT), or -1 for a free one", err)
	}
	l.end = append(l.end, func() error { srv.Shutdown(); return nil })
	l.URL = srv.ClientURL()
	cc := c.conn("eunoe", log)
	cc.URL, cc.Creds, cc.InboxPrefix, cc.TLS = l.URL, "", "", events.TLS{}
	if c.TLSCert != "" {
		// What stays in the process needs no certificate. The broker's pipe has
		// no buffer, which costs time under load: a socket is used otherwise.
		cc.URL, cc.InProcess = "", srv
	}
	if rules != nil {
		cc.Options = append(cc.Options, in.option())
		watch, stop := context.WithCancel(context.WithoutCancel(ctx))
		done := make(chan struct{})
		go func() { defer close(done); followUsers(watch, c, srv, in, log) }()
		l.end = append(l.end, func() error { stop(); <-done; return nil })
	}
	if l.Conn, err = events.Connect(ctx, cc); err != nil {
		return err
	}
	l.end = append(l.end, func() error { l.Conn.NC.Close(); return nil })
	if !onlyHere(c.Listen) && c.TLSCert == "" {
		log.Warn().Str("listen", c.Listen).Msg("others can reach the server, and what they send is not encrypted: set EUNOE_TLS_CERT and EUNOE_TLS_KEY")
	}
	return nil
}

// Wait blocks until a stage fails or Close is called from elsewhere.
func (l *Local) Wait() error {
	err := <-l.done
	l.done <- err
	return err
}

// Close stops the stages, then the server, and gives up the data directory.
// A second call does nothing.
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
	return errors.Join(err, l.release())
}

// release undoes what start did, last first.
func (l *Local) release() error {
	var err error
	for i := len(l.end) - 1; i >= 0; i-- {
		err = errors.Join(err, l.end[i]())
	}
	l.end = nil
	return err
}

// Up runs Local until ctx ends; ready is called with it when it answers.
func Up(ctx context.Context, c Config, ready func(*Local)) error {
	l, err := StartLocal(ctx, c)
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
