// Package natstest runs a real NATS server for a test. Start returns a connection to a server with all streams;
// StartServer returns a server that can be restarted.
package natstest

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/internal/natsd"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/test/freeport"
)

// Patience is how long Eventually waits before it fails the test. It is no promise of speed: the machine may be busy.
const Patience = 3 * time.Minute

// Start runs a server with JetStream in t.TempDir() and returns a connection to it with the prefix "mem", after
// creating every stream and bucket. It ends with the test.
func Start(t testing.TB) *events.Conn {
	t.Helper()
	s := StartServer(t)
	c := s.Connect(t)
	if err := c.Reconcile(t.Context(), events.DefaultStreamOptions()); err != nil {
		t.Fatalf("make the streams: %v", err)
	}
	return c
}

// StartForExample is Start for an Example, which has no testing.TB: it panics on an error, and stop ends all of it.
func StartForExample(ctx context.Context) (conn *events.Conn, stop func()) {
	dir, err := os.MkdirTemp("", "nats")
	if err != nil {
		panic(err)
	}
	server, err := natsd.Start(natsd.Config{Dir: dir, Port: natsd.RandomPort, Log: zerolog.Nop()})
	if err != nil {
		panic(err)
	}
	if conn, err = events.Connect(ctx, events.ConnConfig{URL: server.ClientURL()}); err != nil {
		panic(err)
	}
	if err := conn.Reconcile(ctx, events.DefaultStreamOptions()); err != nil {
		panic(err)
	}
	return conn, func() { conn.Close(); server.Shutdown(); _ = os.RemoveAll(dir) }
}

// Server is the NATS server of a test. It can be restarted with the same streams and port.
type Server struct {
	*natsd.Server
	cfg natsd.Config
}

// StartServer runs a server on a free port of 127.0.0.1, with no streams.
func StartServer(t testing.TB) *Server {
	t.Helper()
	ports, err := freeport.Take(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{cfg: natsd.Config{Dir: t.TempDir(), Port: ports[0], Log: zerolog.Nop()}}
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
}

// Dir is where the server keeps its streams.
func (s *Server) Dir() string { return s.cfg.Dir }

// Connect returns another connection to the server, which is closed with the test.
func (s *Server) Connect(t testing.TB) *events.Conn {
	t.Helper()
	c, err := events.Connect(context.Background(), events.ConnConfig{URL: s.ClientURL(), Name: t.Name(), Wait: 10 * time.Second, Log: zerolog.Nop()})
	if err != nil {
		t.Fatalf("connect to NATS: %v", err)
	}
	t.Cleanup(c.Close)
	return c
}

// Another returns a second connection to the server of c, which is closed with the test.
func Another(t testing.TB, c *events.Conn) *events.Conn {
	t.Helper()
	o, err := events.Connect(context.Background(), events.ConnConfig{URL: c.NC.ConnectedUrl(), Prefix: c.Naming.Prefix, Name: t.Name(), Wait: 10 * time.Second, Log: zerolog.Nop()})
	if err != nil {
		t.Fatalf("connect to NATS: %v", err)
	}
	t.Cleanup(o.Close)
	return o
}

// Eventually polls cond until it returns true, and fails the test with what was awaited after Patience.
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

// Publish stores a message with the given content and returns its sequence.
func Publish(t testing.TB, c *events.Conn, bank memory.BankID, session memory.SessionID, content string) uint64 {
	t.Helper()
	seq, err := c.PublishMessage(t.Context(), bank, session, fmt.Appendf(nil, `{"content":%q}`, content))
	if err != nil {
		t.Fatal(err)
	}
	return seq
}

// PublishWindow queues a window of the bank "alice" whose only new message is seq.
func PublishWindow(t testing.TB, c *events.Conn, seq uint64) memory.Window {
	t.Helper()
	w := memory.Window{ID: memory.NewWindowID("alice", "s", seq, seq, 0), Bank: "alice", Session: "s",
		New: []memory.WindowMessage{{Seq: seq}}, Trigger: memory.TriggerCount}
	if err := c.PublishWindow(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	return w
}

// Resubscriptions returns how often readers of a stream subscribed again for a cause.
func Resubscriptions(c *events.Conn, stream, cause string) uint64 {
	for _, r := range c.Resubscriptions() {
		if r.Stream == stream && r.Cause == cause {
			return r.Count
		}
	}
	return 0
}

// OnDisk reports whether any file below dir contains word.
func OnDisk(t testing.TB, dir, word string) bool {
	t.Helper()
	found := false
	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // the server may have just replaced the file
		}
		data, err := os.ReadFile(path)
		found = found || err == nil && bytes.Contains(data, []byte(word))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return found
}

// LogBuffer is a log destination that is safe for concurrent use.
type LogBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (l *LogBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

// Contains reports whether text was logged.
func (l *LogBuffer) Contains(text string) bool { return strings.Contains(l.String(), text) }

// String returns everything logged so far.
func (l *LogBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}
