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
	Log         zerolog.Logger // warnings and errors of the server
}

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
	return errors.Join(errs...)
}

// Server is a running server.
type Server struct {
	srv  *server.Server
	once sync.Once
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
	srv, err := server.NewServer(options(cfg))
	if err != nil {
		return nil, fmt.Errorf("nats: %w", err)
	}
	logger := &logger{log: cfg.Log}
	srv.SetLoggerV2(logger, false, false, false)
	go srv.Start()
	if err := ready(srv, cfg, logger); err != nil {
		srv.Shutdown()
		srv.WaitForShutdown()
		return nil, err
	}
	return &Server{srv: srv}, nil
}

func options(cfg Config) *server.Options {
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
	return o
}

// ready waits until the server answers or said why it cannot.
func ready(srv *server.Server, cfg Config, log *logger) error {
	deadline := time.Now().Add(cfg.ReadyWithin)
	for time.Now().Before(deadline) {
		if err := log.fatal(); err != nil {
			return fmt.Errorf("nats: start on %s: %w", address(cfg), err)
		}
		if !cfg.DontListen && !srv.ReadyForConnections(20*time.Millisecond) {
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

// ClientURL is where clients connect, as nats://127.0.0.1:4222.
func (s *Server) ClientURL() string { return s.srv.ClientURL() }

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
