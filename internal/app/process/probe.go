package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// probe serves /livez, /readyz and /metrics of one process.
type probe struct {
	listener net.Listener
	server   *http.Server
	running  atomic.Bool
	checks   func() []check
}

// check is one thing that must hold for the process to be ready.
type check struct {
	name string
	ok   func(context.Context) error
}

// newProbe listens on addr at once, so that a port in use is an error at start.
func newProbe(ctx context.Context, addr string, metrics *prometheus.Registry, checks func() []check) (*probe, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen for health checks on %s (EUNOE_HEALTH): %w", addr, err)
	}
	p := &probe{listener: l, checks: checks}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", p.ready)
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}))
	p.server = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	return p, nil
}

// address returns where the probe listens, as host:port.
func (p *probe) address() string { return p.listener.Addr().String() }

// run serves until ctx ends.
func (p *probe) run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = p.server.Close() })
	defer stop()
	if err := p.server.Serve(p.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("health server: %w", err)
	}
	return nil
}

// ready answers 200 when the stages run and every check holds, else 503 with a line for each failed check.
func (p *probe) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
	defer cancel()
	if !p.running.Load() {
		answer(w, http.StatusServiceUnavailable, "starting")
		return
	}
	var failed []error
	for _, c := range p.checks() {
		if err := c.ok(ctx); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", c.name, err))
		}
	}
	if len(failed) > 0 {
		answer(w, http.StatusServiceUnavailable, errors.Join(failed...).Error())
		return
	}
	answer(w, http.StatusOK, "ok")
}

// answer writes a status and a line. A client that is gone is no error.
func answer(w http.ResponseWriter, status int, line string) {
	w.WriteHeader(status)
	_, _ = io.WriteString(w, line+"\n")
}
