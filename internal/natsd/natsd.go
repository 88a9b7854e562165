// Package natsd embeds a NATS server with JetStream in a process, for the all-in-one program and for tests; other
// deployments run nats-server. Start returns a Server. Rules separate tenants into accounts and can be replaced while
// it runs (SetRules).
package natsd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/rs/zerolog"
)

// RandomPort lets the system choose a free port.
const RandomPort = -1

// Config configures a server.
type Config struct {
	Dir        string // of the streams, created if missing; required
	Host       string // "" = 127.0.0.1
	Port       int    // 0 = 4222; RandomPort = a free one
	DontListen bool   // no port: in-process connections only
	// SyncAlways syncs every message to disk before it is acknowledged: a power failure loses nothing, at a tenth of
	// the throughput. Otherwise a message is written at once and synced within two minutes.
	SyncAlways bool
	Name       string // of the server, "" = "eunoe"
	// MaxPayload is the largest message in bytes, 0 = 1 MiB.
	MaxPayload int32
	// MinFree is the number of bytes that must be free on the disk of Dir. With less, publishes are refused by an error of
	// the acknowledgement. 0 = never.
	MinFree int64
	// ReadyWithin bounds the start, 0 = 30 s; recovering large streams takes time.
	ReadyWithin time.Duration
	// Rules say who may connect; nil = everybody, with all permissions.
	Rules *Rules
	TLS   TLS
	Log   zerolog.Logger // warnings and errors of the server
}

// Validate returns every setting that is not valid, joined.
func (c Config) Validate() error {
	var errs []error
	if c.Dir == "" {
		errs = append(errs, errors.New("nats: no directory is set"))
	}
	if c.Port < RandomPort || c.Port > 65535 {
		errs = append(errs, fmt.Errorf("nats: port %d is outside 1 to 65535", c.Port))
	}
	if c.MinFree < 0 {
		errs = append(errs, fmt.Errorf("nats: %d bytes must be free; it must not be negative", c.MinFree))
	}
	if c.MaxPayload < 0 {
		errs = append(errs, fmt.Errorf("nats: the largest payload is %d bytes; it must not be negative", c.MaxPayload))
	}
	if (c.TLS.Cert == "") != (c.TLS.Key == "") || c.TLS.CA != "" && c.TLS.Cert == "" {
		errs = append(errs, errors.New("nats: an encrypted connection needs both a certificate and its key"))
	}
	if c.Rules != nil {
		errs = append(errs, c.Rules.Validate())
	}
	return errors.Join(errs...)
}

// Server is a running server.
type Server struct {
	srv   *server.Server
	dir   string // of the streams
	sync  bool   // whatever is written is synced
	guard *guard // nil = open to everybody
	space *space // nil = the free space is not watched
	once  sync.Once
	end   []func() // called by Shutdown before the server ends
}

// Start runs a server and returns when it accepts connections. If another program uses the port, the error names it.
// Settings of streams that a power cut damaged are made whole before, and it is logged.
func Start(cfg Config) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg.Host = cmp.Or(cfg.Host, "127.0.0.1")
	cfg.Port = cmp.Or(cfg.Port, server.DEFAULT_PORT)
	if cfg.ReadyWithin <= 0 {
		cfg.ReadyWithin = 30 * time.Second
	}
	if err := os.MkdirAll(cfg.Dir, 0o750); err != nil {
		return nil, fmt.Errorf("nats: make the directory %s: %w", cfg.Dir, err)
	}
	if err := portFree(cfg); err != nil {
		return nil, err
	}
	o, err := options(cfg)
	if err != nil {
		return nil, err
	}
	if err := eachStream(cfg.Dir, cfg.SyncAlways, func(f streamFiles) error { return errors.Join(f.mend(cfg.Log), f.keep(), f.finishErasures(cfg.Log)) }); err != nil {
		return nil, err
	}
	s := &Server{dir: cfg.Dir, sync: cfg.SyncAlways}
	if cfg.Rules != nil {
		s.guard = newGuard()
		o.CustomClientAuthentication, o.AlwaysEnableNonce = s.guard, true
	}
	srv, err := server.NewServer(o)
	if err != nil {
		return nil, fmt.Errorf("nats: %w", err)
	}
	s.srv = srv
	if s.guard != nil {
		s.guard.srv = srv
	}
	logger := &logger{log: cfg.Log}
	srv.SetLoggerV2(logger, false, false, false)
	go srv.Start()
	if err := ready(srv, cfg, logger); err != nil {
		srv.Shutdown()
		srv.WaitForShutdown()
		return nil, err
	}
	if cfg.MinFree > 0 {
		s.watchSpace(cfg, logger)
	}
	if s.guard == nil {
		return s, nil
	}
	// Not earlier: a server that starts with several accounts would not assign the streams to the account they have
	// always been in. Nobody is admitted until then.
	if err := s.SetRules(*cfg.Rules); err != nil {
		s.Shutdown()
		return nil, err
	}
	return s, nil
}

// SetRules replaces the rules of a running server. It disconnects the users whose permissions changed; others are not
// affected. It is an error for a server that was started without rules.
func (s *Server) SetRules(r Rules) error {
	if s.guard == nil {
		return errors.New("nats: the server was started open to all; start it anew")
	}
	if err := r.Validate(); err != nil {
		return err
	}
	cut, err := s.guard.install(r)
	for _, id := range cut {
		_ = s.srv.DisconnectClientByID(id) // it may be closed already
	}
	return err
}

func options(cfg Config) (*server.Options, error) {
	o := &server.Options{
		ServerName: cfg.Name,
		Host:       cfg.Host,
		Port:       cfg.Port,
		DontListen: cfg.DontListen,
		JetStream:  true,
		StoreDir:   cfg.Dir,
		SyncAlways: cfg.SyncAlways,
		MaxPayload: cfg.MaxPayload,
		NoSigs:     true,
		// The streams have limits of their own.
		JetStreamMaxMemory: maxMemory,
		JetStreamMaxStore:  maxStore,
	}
	o.ServerName = cmp.Or(o.ServerName, "eunoe")
	if err := cfg.TLS.apply(o, cfg.Log); err != nil {
		return nil, err
	}
	return o, nil
}

// ready waits until the server answers or has reported a fatal error.
func ready(srv *server.Server, cfg Config, log *logger) error {
	deadline := time.Now().Add(cfg.ReadyWithin)
	for time.Now().Before(deadline) {
		if err := log.fatal(); err != nil {
			return fmt.Errorf("nats: start on %s: %w", address(cfg), err)
		}
		// Up to 25 ms the server does not pause between its own looks: it is asked briefly, and the pause is here.
		if srv.ReadyForConnections(50*time.Microsecond) && srv.JetStreamEnabled() {
			return nil
		}
		time.Sleep(time.Millisecond)
	}
	return fmt.Errorf("nats: the server on %s was not ready within %s", address(cfg), cfg.ReadyWithin)
}

// portFree returns an error if the port is in use. The server's own error comes late and is hard to read.
func portFree(cfg Config) error {
	if cfg.DontListen || cfg.Port == RandomPort {
		return nil
	}
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", address(cfg))
	if err != nil {
		return fmt.Errorf("nats: port %d on %s cannot be used (is another NATS server running there?): %w", cfg.Port, cfg.Host, err)
	}
	return l.Close()
}

func address(cfg Config) string { return net.JoinHostPort(cfg.Host, strconv.Itoa(cfg.Port)) }

// ClientURL returns the URL for clients on this machine, as nats://127.0.0.1:4222, or tls:// if the server has a
// certificate.
func (s *Server) ClientURL() string {
	return strings.NewReplacer("//0.0.0.0:", "//127.0.0.1:", "//[::]:", "//[::1]:").Replace(s.srv.ClientURL())
}

// InProcessConn returns a connection without a socket. It makes *Server a nats.InProcessConnProvider.
func (s *Server) InProcessConn() (net.Conn, error) { return s.srv.InProcessConn() }

// Shutdown stops the server and returns when its streams are on disk. A second call does nothing.
func (s *Server) Shutdown() {
	s.once.Do(func() {
		for _, f := range s.end {
			f()
		}
		s.drain()
		s.srv.Shutdown()
		s.srv.WaitForShutdown()
	})
}

// drainFor bounds drain: clients that go on publishing do not keep the server from stopping.
const drainFor = 5 * time.Second

// drain waits until the streams have stored what they received. A stream that is stopped in the middle of its queue
// goes on with the queue, and what it opens for a batch then is never closed (nats-server 2.15).
func (s *Server) drain() {
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	for until := time.Now().Add(drainFor); time.Now().Before(until) && len(*s.srv.Ipqueuesz(&server.IpqueueszOptions{Filter: "messages"})) > 0; {
		<-look.C
	}
}

// Port returns the port that the server listens on, 0 if it does not listen.
func (s *Server) Port() int {
	if a, ok := s.srv.Addr().(*net.TCPAddr); ok {
		return a.Port
	}
	return 0
}

// logger passes the warnings and errors of the server on, and its notices at debug level. It keeps fatal errors for
// Start to return.
type logger struct {
	log zerolog.Logger

	mu  sync.Mutex
	err error
}

func (l *logger) fatal() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Fatalf keeps the first error. It does not end the process.
func (l *logger) Fatalf(format string, v ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = fmt.Errorf(format, v...)
	}
}

// Errorf logs an error of the server.
func (l *logger) Errorf(format string, v ...any) {
	l.log.Error().Str("stage", "nats").Msgf(format, v...)
}

// Warnf logs a warning of the server.
func (l *logger) Warnf(format string, v ...any) {
	l.log.Warn().Str("stage", "nats").Msgf(format, v...)
}

// Noticef logs a notice at debug level.
func (l *logger) Noticef(format string, v ...any) {
	l.log.Debug().Str("stage", "nats").Msgf(format, v...)
}

// Debugf drops debug lines.
func (*logger) Debugf(string, ...any) {}

// Tracef drops trace lines.
func (*logger) Tracef(string, ...any) {}
