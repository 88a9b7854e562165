// Package natstest gives a test a real NATS server of its own.
package natstest

import (
	"context"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/internal/natsd"
	"github.com/eunoe-memory/eunoe/pkg/events"
)

// Patience is how long Eventually waits: long, for a state that comes is not waited out.
const Patience = time.Minute

// Start runs a server with JetStream in t.TempDir() and gives a connection to
// it with the prefix "mem" and every stream and bucket made. All of it ends
// with the test.
func Start(t testing.TB) *events.Conn {
	t.Helper()
	s := StartServer(t)
	c := s.Connect(t)
	if err := c.Reconcile(t.Context(), events.DefaultStreamOptions()); err != nil {
		t.Fatalf("make the streams: %v", err)
	}
	return c
}

// Server is a test's NATS server. It can be stopped and started again on the
// same streams and port.
type Server struct {
	*natsd.Server
	cfg natsd.Config
}

// StartServer runs a server on a free port of 127.0.0.1, with no streams.
func StartServer(t testing.TB) *Server {
	t.Helper()
	s := &Server{cfg: natsd.Config{Dir: t.TempDir(), Port: natsd.RandomPort, Log: zerolog.Nop()}}
	s.Restart(t)
	t.Cleanup(func() { s.Server.Shutdown() })
	return s
}

// Restart starts the server again after Shutdown.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	srv, err := natsd.Start(s.cfg)
	if err != nil {
		t.Fatalf("start NATS: %v", err)
	}
	s.Server = srv
	s.cfg.Port = srv.Port()
}

// Dir is where the server keeps its streams.
func (s *Server) Dir() string { return s.cfg.Dir }

// Connect gives another connection to the server, closed with the test.
func (s *Server) Connect(t testing.TB) *events.Conn {
	t.Helper()
	c, err := events.Connect(context.Background(), events.ConnConfig{URL: s.ClientURL(), Name: t.Name(), Wait: 10 * time.Second, Log: zerolog.Nop()})
	if err != nil {
		t.Fatalf("connect to NATS: %v", err)
	}
	t.Cleanup(c.Close)
	return c
}

// Another gives a second connection to the server of c, closed with the test.
func Another(t testing.TB, c *events.Conn) *events.Conn {
	t.Helper()
	o, err := events.Connect(context.Background(), events.ConnConfig{URL: c.NC.ConnectedUrl(), Prefix: c.Naming.Prefix, Name: t.Name(), Wait: 10 * time.Second, Log: zerolog.Nop()})
	if err != nil {
		t.Fatalf("connect to NATS: %v", err)
	}
	t.Cleanup(o.Close)
	return o
}

// Eventually waits until cond holds and fails the test, saying what was awaited, when it does not.
func Eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	deadline := time.Now().Add(Patience)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		if cond() {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("waited %s in vain: %s", Patience, what)
		}
		time.Sleep(pause)
	}
}
