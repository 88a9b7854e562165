package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/internal/natsd"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/rs/zerolog"
)

// Log is the streams of a data directory, with an embedded server on them.
type Log struct {
	Dir  string       // the data directory
	URL  string       // where clients connect
	Conn *events.Conn // of this process

	callers   events.ConnConfig // how others than this process connect
	srv       *natsd.Server
	onRelease []func() error
}

// OpenLog locks the data directory of the settings and, where it holds streams, serves them on a free port. Conn is nil
// where it holds none. The caller releases it, after an error too.
func OpenLog(ctx context.Context, c settings.Config, log zerolog.Logger) (*Log, error) {
	l := &Log{Dir: c.Data}
	if err := l.Lock(); err != nil {
		return l, err
	}
	if _, err := os.Stat(filepath.Join(c.Data, "streams")); err != nil {
		return l, nil
	}
	c.Port = -1
	return l, l.Serve(ctx, c, log)
}

// Lock makes the data directory and locks it for this process. One that another process has locked is an error.
func (l *Log) Lock() error {
	dir := l.Dir
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
	l.onRelease = append(l.onRelease, func() error {
		// A program that another goroutine starts at this moment has the file too until it executes: closing it here would
		// leave it locked.
		return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close())
	})
	return nil
}

// Serve starts the embedded server and connects to it. Where users are registered the server asks everybody for
// credentials, and follows changes of the registry while it runs.
func (l *Log) Serve(ctx context.Context, c settings.Config, log zerolog.Logger) error {
	in, err := newInternalUser()
	if err != nil {
		return err
	}
	guard, err := newRules(c, in)
	if err != nil {
		return err
	}
	srv, err := natsd.Start(natsd.Config{
		Dir: filepath.Join(c.Data, "streams"), Host: c.Listen, Port: c.Port, SyncAlways: c.Sync, MinFree: c.MinFree, Log: log,
		Rules: guard, TLS: natsd.TLS{Cert: c.TLSCert, Key: c.TLSKey, CA: c.TLSCA},
	})
	if err != nil {
		return fmt.Errorf("%w; choose another port with --port (EUNOE_PORT), or -1 for a free one", err)
	}
	l.onRelease = append(l.onRelease, func() error { srv.Shutdown(); return nil })
	l.srv, l.URL = srv, srv.ClientURL()
	cc := c.Conn("eunoe", log)
	cc.URL, cc.Creds, cc.InboxPrefix, cc.TLS = l.URL, "", "", events.TLS{}
	if c.TLSCert != "" {
		// What stays in the process needs no certificate. The broker's pipe has
		// no buffer, which costs time under load: a socket is used otherwise.
		cc.URL, cc.InProcess = "", srv
	}
	l.callers = cc
	if guard != nil {
		cc.Options = append(cc.Options, in.option())
		watch, stop := context.WithCancel(context.WithoutCancel(ctx))
		done := make(chan struct{})
		go func() { defer close(done); followUsers(watch, c, srv, in, log) }()
		l.onRelease = append(l.onRelease, func() error { stop(); <-done; return nil })
	}
	if l.Conn, err = events.Connect(ctx, cc); err != nil {
		return err
	}
	l.onRelease = append(l.onRelease, func() error { l.Conn.NC.Close(); return nil })
	if !isLoopback(c.Listen) && c.TLSCert == "" {
		log.Warn().Str("listen", c.Listen).Msg("others can reach the server, and what they send is not encrypted: set EUNOE_TLS_CERT and EUNOE_TLS_KEY")
	}
	return nil
}

// Release undoes what Lock and Serve did, last first. A second call does nothing.
func (l *Log) Release() error {
	var err error
	for i := len(l.onRelease) - 1; i >= 0; i-- {
		err = errors.Join(err, l.onRelease[i]())
	}
	l.onRelease = nil
	return err
}
