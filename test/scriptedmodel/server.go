package scriptedmodel

import (
	"context"
	"net"
	"net/http"
	"time"
)

// Test is what Start needs of a testing.TB, which a program that serves a script does not link.
type Test interface {
	Helper()
	Context() context.Context
	Fatalf(format string, args ...any)
	Cleanup(fn func())
}

// Server is a model's server on a free port of 127.0.0.1.
type Server struct {
	*Handler
	URL string // http://127.0.0.1:<port>/v1

	http   *http.Server
	served chan struct{}
}

// Start runs a server for a test; nil is a script that follows the rules. It
// ends with the test, and so does whatever hangs in it.
func Start(t Test, s *Script) *Server {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("start the model: %v", err)
	}
	srv := Serve(l, s)
	t.Cleanup(srv.Close)
	return srv
}

// Serve runs a server on a listener, which it closes, until Close.
func Serve(l net.Listener, s *Script) *Server {
	h := New(s)
	srv := &Server{
		Handler: h, URL: "http://" + l.Addr().String() + "/v1", served: make(chan struct{}),
		http: &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second},
	}
	go func() {
		defer close(srv.served)
		srv.http.Serve(l) //nolint:errcheck // Close ends it
	}()
	return srv
}

// Close stops the server: calls under way lose their connection. A second call does nothing.
func (s *Server) Close() {
	s.stop()
	s.http.Close() //nolint:errcheck // nothing is left to send
	<-s.served
	s.Handler.Close()
}
