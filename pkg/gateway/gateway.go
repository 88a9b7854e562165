// Package gateway lets programs that do not speak NATS use Eunoe: every endpoint of package wire by HTTP, messages in
// batches, and change events as a stream (SSE).
//
// A Gateway keeps nothing and has no rights of its own. The key of a request, the seed of a NATS user, opens a
// connection to the broker, which decides what it may do; the gateway keeps that connection while it is used. Routes are
// made from the table of endpoints, so that an endpoint that is added there is served here.
package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel/trace"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/chatproxy"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Config holds the settings of a Gateway.
type Config struct {
	// Broker configures the connection of each caller. Creds is ignored: a caller has a key, or connects without one.
	Broker client.Config
	// Open answers requests without a key too, if their Host is a name of this machine: for a gateway that only this
	// machine can reach. Otherwise every request needs a key.
	Open bool
	// Origins are the pages that may call the gateway from a browser, as "https://app.example.org"; none but its own
	// where it is empty.
	Origins []string
	// Rate is how many requests a second one key may make, with bursts of as many; 0 = any number.
	Rate int
	// Chat configures the chat proxy. Without an upstream its paths are not found.
	Chat chatproxy.Config
	// Version is returned by GET /v1/self.
	Version string
}

// DefaultConfig returns the settings of a gateway for this machine.
func DefaultConfig() Config { return Config{Broker: client.DefaultConfig(), Open: true, Rate: 1000} }

// Validate reports everything that is wrong with the configuration at once.
func (c Config) Validate() error {
	errs := []error{c.Broker.Validate()}
	if c.Rate < 0 {
		errs = append(errs, memory.Invalid("rate", "is %d; it must not be negative", c.Rate))
	}
	for _, o := range c.Origins {
		errs = append(errs, http.NewCrossOriginProtection().AddTrustedOrigin(o))
	}
	if c.Chat.Upstream != "" {
		errs = append(errs, c.Chat.Validate())
	}
	return errors.Join(errs...)
}

// Deps holds the collaborators of a Gateway.
type Deps struct {
	Log    zerolog.Logger
	Tracer trace.Tracer // nil = no spans
}

// Gateway answers HTTP requests. It is safe for concurrent use, and is a prometheus.Collector of its requests.
type Gateway struct {
	cfg      Config
	log      zerolog.Logger
	tracer   trace.Tracer
	routes   []Route
	mux      *http.ServeMux
	guard    guard
	keys     *keys
	room     room
	metrics  *metrics
	chat     *chatproxy.Proxy // nil = off
	imports  places           // of files that are being imported
	page     []byte           // the reference
	stopping chan struct{}
}

// New returns a Gateway. Idle connections are closed only while Run runs.
func New(cfg Config, deps Deps) (*Gateway, error) {
	cfg.Broker.Creds = ""
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("gateway configuration: %w", err)
	}
	g := &Gateway{cfg: cfg, log: deps.Log, tracer: deps.Tracer, routes: Routes(), mux: http.NewServeMux(),
		stopping: make(chan struct{}), room: room{of: map[string]int64{}}, imports: places{of: map[string]int{}}}
	g.cfg.Broker.Tracer = deps.Tracer
	var err error
	if g.page, err = referencePage(g.routes); err != nil {
		return nil, fmt.Errorf("the reference: %w", err)
	}
	g.guard = newGuard(cfg)
	g.keys = newKeys(g.cfg)
	if cfg.Chat.Upstream != "" {
		if g.chat, err = chatproxy.New(cfg.Chat, chatproxy.Deps{Log: deps.Log}); err != nil {
			return nil, err
		}
	}
	g.metrics = newMetrics(g.routes, g.keys)
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} { // not part of the OpenAPI document
		g.routes = append(g.routes, Route{Method: method, Path: "/mcp/{bank}", Name: "mcp", serve: (*Gateway).agents})
	}
	g.routes = append(append(g.routes, chatRoutes()...), importRoute())
	for i := range g.routes {
		r := &g.routes[i]
		g.mux.HandleFunc(r.Method+" "+r.Path, func(w http.ResponseWriter, req *http.Request) {
			if err := g.serve(w, req, r); err != nil {
				g.fail(w, req, err)
			}
		})
	}
	return g, nil
}

// Run closes connections that were idle for some minutes, until ctx ends. It then ends open streams, and closes every
// connection when its requests have ended, or after grace.
func (g *Gateway) Run(ctx context.Context, grace time.Duration) error {
	tick := time.NewTicker(idleAfter / 4)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			close(g.stopping)
			g.keys.close(grace)
			if g.chat != nil {
				g.chat.Close()
			}
			return nil
		case now := <-tick.C:
			g.keys.closeIdle(now)
		}
	}
}

// Ready returns nil if the broker answers.
func (g *Gateway) Ready(ctx context.Context) error {
	_, err := g.HasUsers(ctx)
	return err
}

// ServeHTTP answers a request.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	ctx, span := telemetry.Begin(telemetry.Extract(r.Context(), r.Header), g.tracer, trace.SpanKindServer, "http")
	r = r.WithContext(ctx)
	a := &answer{ResponseWriter: w, status: http.StatusOK, in: receive(w, r), room: &g.room}
	defer a.release()
	name := "none"
	if done, err := g.guard.admit(a, r); err != nil {
		g.fail(a, r, err)
	} else if !done {
		if err := g.known(r); err != nil {
			g.fail(a, r, err)
		} else {
			_, name = g.mux.Handler(r)
			g.mux.ServeHTTP(a, r)
		}
	}
	span.Text(telemetry.Kind, name).Number(telemetry.Code, a.status).End(nil)
	g.metrics.answered(name, a.status, time.Since(began))
}

// serve runs a route as the caller that the request's key names.
func (g *Gateway) serve(w http.ResponseWriter, r *http.Request, route *Route) error {
	if route.public != nil {
		return route.public(g, w, r)
	}
	kind := mediaType
	if route.file {
		kind = fileType
	}
	if err := kind(r); err != nil {
		return err
	}
	key, err := keyOf(r)
	if err != nil {
		return err
	}
	if key == "" && !g.cfg.Open {
		return missingKey()
	}
	c, err := g.keys.get(r.Context(), key)
	if err != nil {
		return err
	}
	defer g.keys.put(c)
	if err := c.admit(1); err != nil {
		return err
	}
	owned(w, c.key)
	return route.serve(g, w, r, c)
}

// Describe implements prometheus.Collector.
func (g *Gateway) Describe(ch chan<- *prometheus.Desc) { g.metrics.describe(ch) }

// Collect implements prometheus.Collector.
func (g *Gateway) Collect(ch chan<- prometheus.Metric) { g.metrics.collect(ch) }
