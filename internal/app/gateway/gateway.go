// Package gateway puts the HTTP gateway together from its settings. It links neither a store nor cgo.
package gateway

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/klauspost/compress/gzhttp"
	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"github.com/eunoe-memory/eunoe/internal/app/process"
	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/internal/certificate"
	"github.com/eunoe-memory/eunoe/pkg/chatproxy"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/gateway"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// The limits of a connection. A body and an answer have limits of their own.
const (
	headersWithin = 5 * time.Second
	idleWithin    = 2 * time.Minute
	maxHeader     = 32 << 10
	// greetWithin is how long the gateway waits for the broker before it opens beyond this machine.
	greetWithin = time.Minute
	// chatTokens is about how much memory the chat proxy adds to a request: room for some 30 facts, and a small part of the
	// context of every model (8192 tokens and more).
	chatTokens = 1000
)

// Stage answers HTTP over NATS.
func Stage() process.Stage {
	return process.Stage{Name: "gateway", Does: "answers HTTP over NATS", Guest: true, Build: build}
}

func build(p *process.Process) (process.Runner, error) {
	c := p.Settings
	if c.HTTP == settings.Off {
		return process.Runner{}, fmt.Errorf("%sHTTP is off; expected an address like 127.0.0.1:8420", settings.Prefix)
	}
	g, err := gateway.New(config(c, p.Callers), gateway.Deps{Log: p.Log, Tracer: p.Callers.Tracer})
	if err != nil {
		return process.Runner{}, err
	}
	if err := p.Metrics.Register(g); err != nil {
		return process.Runner{}, err
	}
	listener, err := listen(c, p.Log)
	if err != nil {
		return process.Runner{}, err
	}
	p.Check("gateway", g.Ready)
	scheme := "http"
	if c.HTTPCert != "" {
		scheme = "https"
	}
	p.Gateway = scheme + "://" + listener.Addr().String()
	ready := make(chan struct{})
	return process.Runner{Ready: ready, Run: func(ctx context.Context) error {
		if err := allowed(ctx, c, g); err != nil {
			return errors.Join(err, listener.Close())
		}
		close(ready)
		return serve(ctx, listener, g, c.Grace, p.Log)
	}}, nil
}

// Config returns the configuration of the gateway. Its callers connect as broker says, with their own keys.
func config(c settings.Config, broker events.ConnConfig) gateway.Config {
	out := gateway.DefaultConfig()
	out.Broker.URL, out.Broker.Prefix, out.Broker.Name, out.Broker.TLS, out.Broker.InboxPrefix = broker.URL, broker.Prefix, broker.Name, broker.TLS, broker.InboxPrefix
	if broker.InProcess != nil {
		out.Broker.URL = nats.DefaultURL // it is not used
		out.Broker.Options = []nats.Option{nats.InProcessServer(broker.InProcess)}
	}
	out.Chat = chatproxy.Config{Upstream: c.ChatUpstream, Key: c.ChatKey, Patience: c.ChatPatience, Tokens: chatTokens}
	out.Open, out.Origins, out.Rate, out.Version = isOpen(c), c.HTTPOrigins, c.HTTPRate, process.Version
	return out
}

// isOpen reports whether requests need no key of the gateway: where only this machine can reach it, the broker decides.
func isOpen(c settings.Config) bool {
	host, _, _ := net.SplitHostPort(c.HTTP) //nolint:errcheck // the settings are valid
	ip := net.ParseIP(host)
	return !c.HTTPProxied && (host == "localhost" || ip != nil && ip.IsLoopback())
}

// allowed refuses a gateway that others can reach and that protects nothing.
func allowed(ctx context.Context, c settings.Config, g *gateway.Gateway) error {
	if isOpen(c) {
		return nil
	}
	if c.HTTPCert == "" && !c.HTTPProxied {
		return fmt.Errorf("%[1]sHTTP is %[2]s, which others can reach, and what they send would not be encrypted: set %[1]sHTTP_CERT and %[1]sHTTP_KEY, say with %[1]sHTTP_PROXIED=true that a proxy ends TLS, or listen on 127.0.0.1",
			settings.Prefix, c.HTTP)
	}
	var users bool
	waiting, cancel := context.WithTimeout(ctx, greetWithin)
	defer cancel()
	err := events.Retry(waiting, events.Backoff{Max: 2 * time.Second}, func() (err error) {
		users, err = g.HasUsers(waiting)
		return err
	}, nil)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return err
	case !users:
		return fmt.Errorf("%sHTTP is %s, which others can reach, and the broker has no users: run `eunoe auth init` first, or listen on 127.0.0.1: %w", settings.Prefix, c.HTTP, memory.ErrInvalid)
	}
	return nil
}

func listen(c settings.Config, log zerolog.Logger) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(context.Background(), "tcp", c.HTTP)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("the HTTP gateway cannot listen on %s, which another program uses: choose another address with --http (%sHTTP), port 0 for a free one, or off for none", c.HTTP, settings.Prefix)
	case err != nil:
		return nil, fmt.Errorf("the HTTP gateway cannot listen on %s (%sHTTP): %w", c.HTTP, settings.Prefix, err)
	case c.HTTPCert == "":
		return jsonRefusals{l}, nil
	}
	own, err := certificate.Read(c.HTTPCert, c.HTTPKey, log)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%sHTTP_CERT: %w", settings.Prefix, err), l.Close())
	}
	return tls.NewListener(l, &tls.Config{GetCertificate: own.Get, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}), nil
}

func newServer(h http.Handler, log zerolog.Logger) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: headersWithin, IdleTimeout: idleWithin, MaxHeaderBytes: maxHeader, ErrorLog: failures(log)}
}

// serve answers until ctx ends, and then finishes what is under way within grace.
func serve(ctx context.Context, l net.Listener, g *gateway.Gateway, grace time.Duration, log zerolog.Logger) error {
	pack, err := gzhttp.NewWrapper(gzhttp.MinSize(1024), gzhttp.ContentTypes([]string{"application/json", "text/html"}))
	if err != nil {
		return err
	}
	server := newServer(pack(g), log)
	group, run := errgroup.WithContext(ctx)
	group.Go(func() error { return g.Run(run, grace) })
	group.Go(func() error {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("the HTTP gateway: %w", err)
		}
		return nil
	})
	group.Go(func() error {
		<-run.Done()
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
		if err := server.Shutdown(stopping); err != nil {
			log.Warn().Err(err).Msg("requests were cut off")
			return server.Close()
		}
		return nil
	})
	return group.Wait()
}
