package client

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel/trace"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Config says where the broker is and how a program reaches it.
type Config struct {
	// URL is the broker's address; several may be given, separated by commas.
	URL string
	// Creds is the path of a NATS credentials file (.creds) or of the seed of
	// an nkey, as `eunoe auth` writes it; "" = none.
	Creds string
	// Prefix is the first token of every subject.
	Prefix string
	// Name is what the broker's monitoring shows this program as.
	Name string
	// InboxPrefix is the subject under which replies come, as permissions may
	// ask for ("_INBOX_alice"); "" = the broker's default.
	InboxPrefix string
	// TLS names the files of an encrypted connection.
	TLS events.TLS
	// Timeout bounds one request whose context has no deadline.
	Timeout time.Duration
	// Wait is how long a write waits for its outcome where the request does not
	// say; 0 = the service decides (2 s). What takes longer is an UnknownOutcome.
	Wait time.Duration
	// Tracer, of OpenTelemetry, begins a span for each publish and request; nil =
	// none begins, save under a span in the call's context. The trace context of a
	// call's context goes along in any case. New takes that of the connection.
	Tracer trace.Tracer
}

// DefaultConfig reaches a broker on this machine: nats://127.0.0.1:4222,
// prefix mem, 30 s a request.
func DefaultConfig() Config {
	return Config{URL: nats.DefaultURL, Prefix: "mem", Name: "eunoe-client", Timeout: 30 * time.Second}
}

// Validate reports everything that is wrong with the configuration at once.
func (c Config) Validate() error {
	var errs []error
	if strings.TrimSpace(c.URL) == "" {
		errs = append(errs, memory.Invalid("url", "must not be empty; expected an address like %s", nats.DefaultURL))
	}
	for _, u := range strings.Split(c.URL, ",") {
		if _, err := url.Parse(strings.TrimSpace(u)); err != nil {
			errs = append(errs, memory.Invalid("url", "%q is not an address; expected one like %s", u, nats.DefaultURL))
		}
	}
	if c.Creds != "" {
		if _, err := os.Stat(c.Creds); err != nil {
			errs = append(errs, memory.Invalid("creds", "cannot be read: %v", err))
		}
	}
	errs = append(errs, c.check())
	return errors.Join(errs...)
}

// check looks at what a client on somebody else's connection needs.
func (c Config) check() error {
	var errs []error
	errs = append(errs, events.Naming{Prefix: c.Prefix}.Validate())
	if c.Timeout <= 0 {
		errs = append(errs, memory.Invalid("timeout", "is %s; expected more than 0", c.Timeout))
	}
	return errors.Join(errs...)
}

// Deps is what a client made by New works with.
type Deps struct {
	// Conn is a connection the caller owns; its Naming is used, not Config.Prefix.
	Conn *events.Conn
}

// Client speaks to Eunoe. It is safe for concurrent use.
type Client struct {
	conn    *events.Conn
	timeout time.Duration
	wait    time.Duration // of a write for its outcome, where the request does not say
	owned   bool
	refused *refusals // nil on a connection that is not the client's
}

// New makes a client on a connection that the caller keeps and closes. Of the
// configuration only Timeout and Wait are used.
func New(cfg Config, deps Deps) (*Client, error) {
	if deps.Conn == nil || deps.Conn.NC == nil {
		return nil, memory.Invalid("conn", "is missing")
	}
	cfg.Prefix = deps.Conn.Naming.Prefix
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("client configuration: %w", err)
	}
	return &Client{conn: deps.Conn, timeout: cfg.Timeout, wait: cfg.Wait}, nil
}

// Connect dials the broker and makes a client that owns the connection: Close
// ends it. A broker that cannot be reached is ErrUnavailable; a lost
// connection comes back by itself.
func Connect(ctx context.Context, cfg Config) (*Client, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("client configuration: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("connect to %s: %w", events.RedactURL(cfg.URL), meaning(err))
	}
	refused := &refusals{waiting: map[*waiting]struct{}{}}
	dial := events.ConnConfig{URL: cfg.URL, Creds: cfg.Creds, Prefix: cfg.Prefix, Name: cfg.Name, TLS: cfg.TLS, InboxPrefix: cfg.InboxPrefix,
		Options: append(options(ctx, cfg), nats.ErrorHandler(refused.handle), nats.PermissionErrOnSubscribe(true)), Log: zerolog.Nop(), Tracer: cfg.Tracer}
	conn, err := events.Dial(dial)
	if err != nil {
		if errors.Is(err, memory.ErrUnavailable) {
			return nil, fmt.Errorf("no broker answers at %s; `eunoe up` starts one: %w", events.RedactURL(cfg.URL), memory.ErrUnavailable)
		}
		return nil, err
	}
	return &Client{conn: conn, timeout: cfg.Timeout, wait: cfg.Wait, owned: true, refused: refused}, nil
}

// options are what events.Dial does not know of; the time to connect is at most 5 s.
func options(ctx context.Context, cfg Config) []nats.Option {
	wait := min(5*time.Second, cfg.Timeout)
	if end, ok := ctx.Deadline(); ok {
		wait = max(time.Millisecond, min(wait, time.Until(end)))
	}
	return []nats.Option{nats.Timeout(wait)}
}

// Conn is the connection the client works on.
func (c *Client) Conn() *events.Conn { return c.conn }

// Close ends a connection made by Connect, sending first what is still to be
// sent. It does nothing to a connection given to New; a second call does nothing.
func (c *Client) Close() error {
	if !c.owned || c.conn.NC.IsClosed() {
		return nil
	}
	err := c.conn.NC.FlushTimeout(min(c.timeout, 5*time.Second))
	c.conn.NC.Close()
	if err != nil && !errors.Is(err, nats.ErrConnectionClosed) {
		return fmt.Errorf("close connection: %w", err)
	}
	return nil
}
