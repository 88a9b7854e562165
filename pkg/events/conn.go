// Package events is Eunoe's access to NATS JetStream: the connection, the names of subjects, streams and buckets, and
// publishing.
//
// A bot needs Connect and a Publisher. A stage is given a Conn, from which it also publishes windows, writes and
// changes, reads single events (EventAt, Messages) and erases them (Erase). Reconcile creates the streams and buckets
// of a deployment; Naming knows their names and the subjects mem.<bank>.<kind>.<what>, in which names of banks and
// sessions are encoded by EncodeToken.
//
// The ways to consume are packages of their own: ordered reads streams from a position, work shares a queue among
// processes, kv keeps records, lease decides who owns what, and deadletter keeps what failed. natstest runs a server
// for tests.
//
// Errors have the sentinels of package memory: memory.ErrUnavailable for a broker that cannot be reached,
// memory.ErrConflict for a write that expected another revision, memory.ErrNotFound and memory.ErrInvalid.
package events

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel/trace"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// ConnConfig says how to connect to the broker.
type ConnConfig struct {
	URL    string // "" = nats://127.0.0.1:4222; several with commas
	Creds  string // path of a credentials file (.creds) or of an nkey seed; "" = none
	Prefix string // "" = DefaultPrefix
	Name   string // name of the connection in the broker's monitoring; "" = "eunoe"
	TLS    TLS
	// InboxPrefix is the subject prefix of replies ("_INBOX_alice"), for permissions that require it; "" = "_INBOX".
	InboxPrefix string
	// InProcess connects to a server in this process instead of to URL.
	InProcess nats.InProcessConnProvider
	// Wait bounds how long Connect retries; 0 = until its context ends.
	Wait time.Duration
	// Options are applied last.
	Options []nats.Option
	Log     zerolog.Logger
	Tracer  trace.Tracer // nil = spans only under a span of the caller
}

// A server that answers nothing is left after unansweredPings + 1 pings: within 6 s another one of a cluster is tried.
const (
	pingEvery       = 2 * time.Second
	unansweredPings = 2
)

// Validate reports every setting that cannot work, joined.
func (c ConnConfig) Validate() error {
	var errs []error
	if err := (Naming{c.Prefix}).Validate(); err != nil {
		errs = append(errs, err)
	}
	if c.Wait < 0 {
		errs = append(errs, memory.Invalid("wait", "is %s; it must not be negative", c.Wait))
	}
	return errors.Join(errs...)
}

// Conn is a connection to the broker with the names of a deployment. It is safe for concurrent use.
type Conn struct {
	NC     *nats.Conn
	JS     jetstream.JetStream
	Naming Naming
	Log    zerolog.Logger
	// Tracer begins spans; nil = only under a span of the caller. The trace context of a call's context is passed on in
	// any case.
	Tracer trace.Tracer

	resubscriptions *resubscriptions // nil = not counted
	ends            *streamEnds      // nil = nothing is noted
	batchesRefused  atomic.Bool      // no batches of messages are accepted from this connection
	grouping        grouping         // of batches of messages
	changes         grouping         // of batches of changes
}

// Connect connects to the broker. It retries a broker that is not up yet, with waits of at most 2 s, until ctx ends or
// Wait has passed; it does not retry refused credentials. A connection that is lost later is re-established for ever.
func Connect(ctx context.Context, cfg ConnConfig) (*Conn, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.Wait > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, cfg.Wait)
		defer cancel()
	}
	var c *Conn
	tried := false
	err := Retry(ctx, Backoff{Min: 50 * time.Millisecond, Max: 2 * time.Second}, func() (err error) {
		c, err = Dial(cfg)
		return err
	}, func(err error) {
		if !tried {
			cfg.Log.Warn().Err(err).Msg("waiting for NATS")
		}
		tried = true
	})
	return c, err
}

// Dial tries to connect once. The error is memory.ErrUnavailable if the broker cannot be reached and memory.ErrInvalid
// if it refuses the credentials.
func Dial(cfg ConnConfig) (*Conn, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	url, opts, err := cfg.dialOptions()
	if err != nil {
		return nil, err
	}
	nc, err := nats.Connect(url, opts...)
	if err != nil {
		return nil, Classify(cfg.refused(err), "connect to NATS at %s", RedactURL(url))
	}
	c, err := NewConn(nc, cfg.Prefix)
	if err != nil {
		nc.Close()
		return nil, err
	}
	c.Log, c.Tracer = cfg.Log, cfg.Tracer
	return c, nil
}

func (c ConnConfig) dialOptions() (string, []nats.Option, error) {
	url, name := c.URL, c.Name
	url = cmp.Or(url, nats.DefaultURL)
	name = cmp.Or(name, "eunoe")
	opts := []nats.Option{
		nats.Name(name), nats.MaxReconnects(-1), nats.ReconnectWait(250 * time.Millisecond),
		nats.Timeout(2 * time.Second), nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(unansweredPings),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				c.Log.Warn().Err(err).Msg("lost the connection to NATS")
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) { c.Log.Info().Msg("connected to NATS again") }),
		nats.ErrorHandler(func(_ *nats.Conn, sub *nats.Subscription, err error) {
			l := c.Log.Warn().Err(err)
			if sub != nil {
				l = l.Str("subject", sub.Subject)
			}
			l.Msg("NATS reported an error")
		}),
	}
	if c.Creds != "" {
		who, err := credentials(c.Creds)
		if err != nil {
			return "", nil, err
		}
		opts = append(opts, who)
	}
	secure, err := c.TLS.options()
	if err != nil {
		return "", nil, err
	}
	opts = append(opts, secure...)
	if c.InboxPrefix != "" {
		opts = append(opts, nats.CustomInboxPrefix(c.InboxPrefix))
	}
	if c.InProcess != nil {
		opts = append(opts, nats.InProcessServer(c.InProcess))
	}
	return url, append(opts, c.Options...), nil
}

// NewConn wraps a connection of the caller, who closes it by Close.
func NewConn(nc *nats.Conn, prefix string) (*Conn, error) {
	n := Naming{prefix}
	if err := n.Validate(); err != nil {
		return nil, err
	}
	n.Prefix = n.prefix()
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(5*time.Second), jetstream.WithPublishAsyncMaxPending(4096),
		jetstream.WithPublishAsyncTimeout(publishWithin))
	if err != nil {
		return nil, fmt.Errorf("use JetStream: %w", err)
	}
	return &Conn{NC: nc, JS: js, Naming: n, Log: zerolog.Nop(), resubscriptions: newResubscriptions(n), ends: newStreamEnds(),
		changes: grouping{within: batchAgain}}, nil
}

// Close flushes and closes the connection. It returns within five seconds.
func (c *Conn) Close() {
	_ = c.NC.FlushTimeout(5 * time.Second)
	c.NC.Close()
}

// Trace returns the trace context that an event carries, as telemetry.Line writes it.
func (e Event) Trace() string { return telemetry.LineOf(e.Header) }

// Traced returns ctx with the trace context that an event carries. Without a Tracer it returns ctx.
func (c *Conn) Traced(ctx context.Context, e Event) context.Context {
	if c.Tracer == nil {
		return ctx
	}
	return telemetry.Extract(ctx, e.Header)
}

// beginPublish begins the span of a message's publish.
func (c *Conn) beginPublish(ctx context.Context, bank memory.BankID, session memory.SessionID) (context.Context, telemetry.Span) {
	ctx, span := telemetry.Begin(ctx, c.Tracer, trace.SpanKindProducer, "publish message")
	return ctx, span.Text(telemetry.Bank, string(bank)).Text(telemetry.Session, string(session))
}
