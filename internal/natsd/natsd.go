// Package natsd runs a NATS server with JetStream inside the process: for the
// all-in-one program and for tests. A deployment of its own uses nats-server.
package natsd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/rs/zerolog"
)

// RandomPort asks for a free port.
const RandomPort = -1

// Config says where the server listens and where it keeps its streams.
type Config struct {
	Dir        string // of the streams; made if missing, required
	Host       string // "" = 127.0.0.1
	Port       int    // 0 = 4222; RandomPort = a free one
	DontListen bool   // no port at all: in-process connections only
	// SyncAlways flushes every stored message to disk before it is
	// acknowledged: power loss loses nothing, at a tenth of the throughput.
	// Off, a message is written at once and flushed within two minutes.
	SyncAlways bool
	Name       string // of the server, "" = "eunoe"
	// MaxPayload is the largest message in bytes, 0 = 1 MiB.
	MaxPayload int32
	// ReadyWithin bounds the start, 0 = 30 s; recovering large streams takes time.
	ReadyWithin time.Duration
	// Rules say who may connect; nil = anybody, who may do anything.
	Rules *Rules
	TLS   TLS
	Log   zerolog.Logger // warnings and errors of the server
}

// TLS names the files of the server's certificate; the zero value is a plain
// connection. With CA a client must show a certificate that it signed.
type TLS struct{ Cert, Key, CA string }

// DefaultConfig listens on 127.0.0.1:4222 and keeps its streams in ./data/nats.
func DefaultConfig() Config {
	return Config{Dir: filepath.Join("data", "nats"), Host: "127.0.0.1", Port: 4222, Log: zerolog.Nop()}
}

// Validate reports every setting that cannot work, joined.
func (c Config) Validate() error {
	var errs []error
	if c.Dir == "" {
		errs = append(errs, errors.New("nats: no directory is set"))
	}
	if c.Port < RandomPort || c.Port > 65535 {
		errs = append(errs, fmt.Errorf("nats: port %d is outside 1 to 65535", c.Port))
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
	guard *guard // nil = open to all
	once  sync.Once
}

// Start runs a server and returns when it takes connections. The error names
// the port when another program has it.
func Start(cfg Config) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.Host == "" {
		cfg.Host = "127.0.0.1"
	}
	if cfg.Port == 0 {
		cfg.Port = server.DEFAULT_PORT
	}
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
	s := &Server{}
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
	if s.guard == nil {
		return s, nil
	}
	// Not before: a server with accounts of others at its start would not give
	// the streams to the one they have always been in. Nobody gets in until then.
	if err := s.SetRules(*cfg.Rules); err != nil {
		s.Shutdown()
		return nil, err
	}
	return s, nil
}

// SetRules changes who may connect, while the server runs. Whoever may no
// longer do what it could is cut off at once; others do not notice. A server
// that was started without rules keeps none: that is an error.
func (s *Server) SetRules(r Rules) error {
	if s.guard == nil {
		return errors.New("nats: the server was started open to all; start it anew")
	}
	if err := r.Validate(); err != nil {
		return err
	}
	cut, err := s.guard.install(r)
	for _, id := range cut {
		_ = s.srv.DisconnectClientByID(id) // gone already is as good
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
		// The whole disk and memory are this server's to use; the streams have limits of their own.
		JetStreamMaxMemory: 1 << 30,
		JetStreamMaxStore:  1 << 40,
	}
	if o.ServerName == "" {
		o.ServerName = "eunoe"
	}
	if cfg.TLS.Cert != "" {
		t, err := server.GenTLSConfig(&server.TLSConfigOpts{CertFile: cfg.TLS.Cert, KeyFile: cfg.TLS.Key, CaFile: cfg.TLS.CA, Verify: cfg.TLS.CA != ""})
		if err != nil {
			return nil, fmt.Errorf("nats: certificate %s: %w", cfg.TLS.Cert, err)
		}
		o.TLS, o.TLSConfig, o.TLSVerify, o.TLSTimeout = true, t, cfg.TLS.CA != "", 5
	}
	return o, nil
}

// ready waits until the server answers or said why it cannot.
func ready(srv *server.Server, cfg Config, log *logger) error {
	deadline := time.Now().Add(cfg.ReadyWithin)
	for time.Now().Before(deadline) {
		if err := log.fatal(); err != nil {
			return fmt.Errorf("nats: start on %s: %w", address(cfg), err)
		}
		if !srv.ReadyForConnections(20 * time.Millisecond) {
			continue
		}
		if srv.JetStreamEnabled() {
			return nil
		}
		time.Sleep(time.Millisecond)
	}
	return fmt.Errorf("nats: the server on %s was not ready within %s", address(cfg), cfg.ReadyWithin)
}

// portFree says plainly that a port is taken; the server's own words come late and are hard to read.
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

// ClientURL is where clients of this machine connect, as nats://127.0.0.1:4222;
// tls:// when the server has a certificate.
func (s *Server) ClientURL() string {
	return strings.NewReplacer("//0.0.0.0:", "//127.0.0.1:", "//[::]:", "//[::1]:").Replace(s.srv.ClientURL())
}

// InProcessConn is a connection without a socket; it makes *Server a
// nats.InProcessConnProvider.
func (s *Server) InProcessConn() (net.Conn, error) { return s.srv.InProcessConn() }

// Shutdown stops the server and returns when its streams are on disk. A second
// call does nothing.
func (s *Server) Shutdown() {
	s.once.Do(func() {
		s.srv.Shutdown()
		s.srv.WaitForShutdown()
	})
}

// Port is the port the server listens on, 0 when it listens on none.
func (s *Server) Port() int {
	if a, ok := s.srv.Addr().(*net.TCPAddr); ok {
		return a.Port
	}
	return 0
}
