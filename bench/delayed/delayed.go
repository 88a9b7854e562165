// Package delayed puts a PostgreSQL server further away: a socket that forwards what goes to it and comes from it after a time.
package delayed

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Server forwards connections to a PostgreSQL server. Every round trip takes a time more.
type Server struct {
	listener net.Listener
	network  string
	address  string
	oneWay   time.Duration
	dir      string
	stop     context.CancelFunc
	running  sync.WaitGroup
}

// Listen returns a server that forwards to that of a postgres:// DSN, by which a round trip takes roundTrip more, and the DSN to
// reach it by. What the DSN asks for apart from the host and the port stays.
func Listen(ctx context.Context, dsn string, roundTrip time.Duration) (*Server, string, error) {
	u, err := url.Parse(dsn)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil, "", &memory.FieldError{Field: "store", Meaning: memory.ErrInvalid, Message: "is no postgres:// URL; only a server can be put further away"}
	}
	s := &Server{oneWay: roundTrip / 2}
	q := u.Query()
	host, port := u.Hostname(), u.Port()
	if h := q.Get("host"); h != "" {
		host, port = h, q.Get("port")
	}
	if port == "" {
		port = "5432"
	}
	s.network, s.address = "tcp", net.JoinHostPort(host, port)
	if filepath.IsAbs(host) {
		s.network, s.address = "unix", filepath.Join(host, ".s.PGSQL."+port)
	}
	if s.dir, err = os.MkdirTemp("", "pg"); err != nil { // a path of a socket is short
		return nil, "", err
	}
	var listen net.ListenConfig
	if s.listener, err = listen.Listen(ctx, "unix", filepath.Join(s.dir, ".s.PGSQL.5432")); err != nil {
		return nil, "", fmt.Errorf("listen in front of %s: %w", s.address, err)
	}
	ctx, s.stop = context.WithCancel(ctx)
	s.running.Go(func() { s.accept(ctx) })
	u.Host = ""
	q.Set("host", s.dir)
	q.Set("port", "5432")
	u.RawQuery = q.Encode()
	return s, u.String(), nil
}

// Close ends all connections.
func (s *Server) Close() error {
	s.stop()
	err := s.listener.Close()
	s.running.Wait()
	if err == nil {
		err = os.RemoveAll(s.dir)
	}
	return err
}

func (s *Server) accept(ctx context.Context) {
	for {
		client, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.running.Go(func() { s.forward(ctx, client) })
	}
}

func (s *Server) forward(ctx context.Context, client net.Conn) {
	defer client.Close() //nolint:errcheck // the other end is closed too
	server, err := (&net.Dialer{}).DialContext(ctx, s.network, s.address)
	if err != nil {
		return // the client sees that its connection ends
	}
	defer server.Close() //nolint:errcheck // as above
	end := context.AfterFunc(ctx, func() {
		_ = client.Close()
		_ = server.Close()
	})
	defer end()
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{client, server}, {server, client}} {
		both.Go(func() {
			s.copy(way[1], way[0])
			_ = way[1].Close()
			_ = way[0].Close()
		})
	}
	both.Wait()
}

// copy forwards what comes, in the order and the distance in time in which it came.
func (s *Server) copy(to, from net.Conn) {
	type part struct {
		bytes []byte
		at    time.Time
	}
	parts := make(chan part, 1024)
	var writing sync.WaitGroup
	writing.Go(func() {
		var err error
		for p := range parts {
			if err == nil {
				sleep(time.Until(p.at))
				_, err = to.Write(p.bytes)
			}
		}
	})
	for {
		b := make([]byte, 64<<10)
		n, err := from.Read(b)
		if n > 0 {
			parts <- part{b[:n], time.Now().Add(s.oneWay)}
		}
		if err != nil {
			break
		}
	}
	close(parts)
	writing.Wait()
}
