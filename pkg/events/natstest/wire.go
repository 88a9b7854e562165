package natstest

import (
	"bytes"
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/events"
)

// Wire is a connection to a server that can lose what is sent over it, either way.
type Wire struct {
	dialer net.Dialer

	mu     sync.Mutex
	conn   net.Conn
	mute   bool         // the server hears nothing
	deaf   bool         // the client hears nothing
	unsaid bytes.Buffer // what the server did not hear
}

// ConnectWire returns a connection to a server, which is closed with the test, and its wire.
func ConnectWire(t testing.TB, url string) (*events.Conn, *Wire) {
	t.Helper()
	w := &Wire{dialer: net.Dialer{Timeout: 10 * time.Second}}
	c, err := events.Connect(context.Background(), events.ConnConfig{URL: url, Name: t.Name(), Wait: 10 * time.Second, Log: zerolog.Nop(),
		Options: []nats.Option{nats.SetCustomDialer(w)}})
	if err != nil {
		t.Fatalf("connect to NATS: %v", err)
	}
	t.Cleanup(c.Close)
	return c, w
}

// Dial connects; the wire is whole then.
func (w *Wire) Dial(network, address string) (net.Conn, error) {
	conn, err := w.dialer.DialContext(context.Background(), network, address)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conn, w.mute, w.deaf = conn, false, false
	return &end{conn, w}, nil
}

// Lose loses from now on what the client says, or what it is told, until it is called again.
func (w *Wire) Lose(said, told bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mute, w.deaf = said, told
}

// Lost reports whether the client said something that was lost.
func (w *Wire) Lost(what string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return bytes.Contains(w.unsaid.Bytes(), []byte(what))
}

// Break ends the connection; the client connects again, over a wire that is whole.
func (w *Wire) Break() {
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = w.conn.Close() // the client sees that
}

// end is the client's end of the wire.
type end struct {
	net.Conn
	wire *Wire
}

func (e *end) Read(p []byte) (int, error) {
	for {
		n, err := e.Conn.Read(p)
		e.wire.mu.Lock()
		deaf := e.wire.deaf
		e.wire.mu.Unlock()
		if err != nil || !deaf {
			return n, err
		}
	}
}

func (e *end) Write(p []byte) (int, error) {
	e.wire.mu.Lock()
	if e.wire.mute {
		defer e.wire.mu.Unlock()
		return e.wire.unsaid.Write(p)
	}
	e.wire.mu.Unlock()
	return e.Conn.Write(p)
}
