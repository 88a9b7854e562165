package events

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel/trace"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// ConnConfig says how to reach the broker.
type ConnConfig struct {
	URL    string // "" = nats://127.0.0.1:4222; several with commas
	Creds  string // path of a credentials file (.creds) or of an nkey's seed, "" = none
	Prefix string // "" = DefaultPrefix
	Name   string // of the connection, as an operator sees it; "" = "eunoe"
	TLS    TLS
	// InboxPrefix is where replies come ("_INBOX_alice"), for permissions that
	// ask for it; "" = the broker's usual one.
	InboxPrefix string
	// InProcess connects to a server in this process; URL is then not used.
	InProcess nats.InProcessConnProvider
	// Wait bounds how long Connect keeps trying; 0 = as long as its context lives.
	Wait time.Duration
	// Options are added last, for TLS, tokens or an inbox prefix.
	Options []nats.Option
	Log     zerolog.Logger
	Tracer  trace.Tracer // begins spans; nil = none begins, save under a caller's own
}

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

// Conn is the connection every stage is given.
type Conn struct {
	NC     *nats.Conn
	JS     jetstream.JetStream
	Naming Naming
	Log    zerolog.Logger
	// Tracer begins spans; nil = none begins, save under a caller's own. The
	// trace context of a call's context goes along in any case.
	Tracer trace.Tracer

	renewals *renewals // nil = not counted
}

// Connect connects to the broker. A broker that is not up yet is tried again,
// with waits of at most 2 s, until ctx ends or Wait has passed; refused
// credentials are not tried again. Once connected, the connection re-connects
// by itself for ever.
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
	err := untilDone(ctx, Backoff{Min: 50 * time.Millisecond, Max: 2 * time.Second}, func() (err error) {
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

// Dial connects once. The error is memory.ErrUnavailable when the broker
// cannot be reached and memory.ErrInvalid when it refuses the credentials.
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
		return nil, meaning(cfg.refused(err), "connect to NATS at %s", RedactURL(url))
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
	if url == "" {
		url = nats.DefaultURL
	}
	if name == "" {
		name = "eunoe"
	}
	opts := []nats.Option{
		nats.Name(name), nats.MaxReconnects(-1), nats.ReconnectWait(250 * time.Millisecond),
		nats.Timeout(2 * time.Second), nats.PingInterval(20 * time.Second), nats.MaxPingsOutstanding(3),
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

// NewConn makes a Conn of a connection the caller has, and closes.
func NewConn(nc *nats.Conn, prefix string) (*Conn, error) {
	n := Naming{prefix}
	if err := n.Validate(); err != nil {
		return nil, err
	}
	n.Prefix = n.prefix()
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(5*time.Second), jetstream.WithPublishAsyncMaxPending(4096),
		jetstream.WithPublishAsyncTimeout(10*time.Second))
	if err != nil {
		return nil, fmt.Errorf("use JetStream: %w", err)
	}
	return &Conn{NC: nc, JS: js, Naming: n, Log: zerolog.Nop(), renewals: newRenewals(n)}, nil
}

// Close sends what is buffered and closes the connection. It returns within five seconds.
func (c *Conn) Close() {
	_ = c.NC.FlushTimeout(5 * time.Second)
	c.NC.Close()
}
