// Package client is Eunoe for Go programs: publish what was said, recall what bears on a question. It needs a NATS
// connection and nothing else, and it builds without cgo.
//
//	c, err := client.Connect(ctx, client.DefaultConfig())
//	if err != nil { … }
//	defer c.Close()
//	seq, err := c.Publish(ctx, "alice", "chat-1", memory.Message{Speaker: "Alice", Content: "I moved to Lisbon in May."})
//	reply, err := c.Recall(ctx, "alice", wire.RecallRequest{Query: "Where does Alice live?", After: seq})
//
// The methods of a Client are the endpoints of a bank, those of Admin the endpoints of operators; package wire has their
// requests and replies, and Call reaches any endpoint by its entry there. Methods that return an iter.Seq2 walk all pages.
//
// Every error carries one of the meanings of package memory: decide on it with errors.Is(err, memory.ErrNotFound) and the
// like. A *memory.FieldError names the field of a request that is wrong. Where nobody answers a request at all, the error
// is memory.ErrUnavailable and says what to start. A write whose outcome is not known in time is an *UnknownOutcome.
package client

import (
	"cmp"
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

// Config says where the broker is and how a program reaches it. Connect takes the default for what is left empty.
type Config struct {
	// URL is the broker's address; several are separated by commas.
	URL string
	// Creds is the path of a NATS credentials file (.creds) or of the seed of an nkey, as `eunoe auth` writes it; "" = none.
	Creds string
	// Prefix is the first token of every subject.
	Prefix string
	// Name is what the broker's monitoring shows this program as.
	Name string
	// InboxPrefix is the subject under which replies come, where permissions ask for one ("_INBOX_alice"); "" = the
	// broker's default.
	InboxPrefix string
	// TLS names the files of an encrypted connection.
	TLS events.TLS
	// Timeout bounds one request whose context has no deadline.
	Timeout time.Duration
	// Wait is how long a write waits for its outcome where the request does not say; 0 = the service decides (2 s). A
	// write that takes longer is an UnknownOutcome.
	Wait time.Duration
	// Tracer begins an OpenTelemetry span for each publish and request; nil = only where the call's context has a span.
	// The trace context of that context is sent in any case. New uses the tracer of the connection.
	Tracer trace.Tracer
	// Options of the connection are applied last: a key that is in no file, for instance.
	Options []nats.Option
}

// DefaultConfig reaches a broker on this machine: nats://127.0.0.1:4222, prefix mem, 30 s a request.
func DefaultConfig() Config {
	return Config{URL: nats.DefaultURL, Prefix: "mem", Name: "eunoe-client", Timeout: 30 * time.Second}
}

// orDefault returns the configuration with DefaultConfig's values for what is left empty.
func (c Config) orDefault() Config {
	d := DefaultConfig()
	c.URL, c.Prefix, c.Name, c.Timeout = cmp.Or(c.URL, d.URL), cmp.Or(c.Prefix, d.Prefix), cmp.Or(c.Name, d.Name), cmp.Or(c.Timeout, d.Timeout)
	return c
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

// check validates what a client on a borrowed connection needs.
func (c Config) check() error {
	var errs []error
	errs = append(errs, events.Naming{Prefix: c.Prefix}.Validate())
	if c.Timeout <= 0 {
		errs = append(errs, memory.Invalid("timeout", "is %s; expected more than 0", c.Timeout))
	}
	return errors.Join(errs...)
}

// Deps holds the collaborators of a client made by New.
type Deps struct {
	// Conn is a connection the caller owns; its Naming is used, not Config.Prefix.
	Conn *events.Conn
}

// Client publishes messages to Eunoe and calls its endpoints. It is safe for concurrent use.
type Client struct {
	conn    *events.Conn
	timeout time.Duration
	wait    time.Duration // default of a write for its outcome; 0 = none
	owned   bool
	refused *refusals // nil on a borrowed connection
}

// New returns a client on a connection that the caller keeps and closes. Of the configuration it uses Timeout and Wait.
func New(cfg Config, deps Deps) (*Client, error) {
	if deps.Conn == nil || deps.Conn.NC == nil {
		return nil, memory.Invalid("conn", "is missing")
	}
	cfg = cfg.orDefault()
	cfg.Prefix = deps.Conn.Naming.Prefix
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("client configuration: %w", err)
	}
	return &Client{conn: deps.Conn, timeout: cfg.Timeout, wait: cfg.Wait}, nil
}

// Connect dials the broker and returns a client that owns the connection, which Close ends. A broker that cannot be
// reached is ErrUnavailable; a lost connection is restored automatically.
func Connect(ctx context.Context, cfg Config) (*Client, error) {
	cfg = cfg.orDefault()
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("client configuration: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("connect to %s: %w", events.RedactURL(cfg.URL), meaning(err))
	}
	refused := &refusals{waiting: map[*waiting]struct{}{}}
	dial := events.ConnConfig{URL: cfg.URL, Creds: cfg.Creds, Prefix: cfg.Prefix, Name: cfg.Name, TLS: cfg.TLS, InboxPrefix: cfg.InboxPrefix,
		Options: append(options(ctx, cfg), append([]nats.Option{nats.ErrorHandler(refused.handle), nats.PermissionErrOnSubscribe(true)}, cfg.Options...)...), Log: zerolog.Nop(), Tracer: cfg.Tracer}
	conn, err := events.Dial(dial)
	if err != nil {
		if errors.Is(err, memory.ErrUnavailable) {
			return nil, fmt.Errorf("no broker answers at %s; `eunoe up` starts one: %w", events.RedactURL(cfg.URL), memory.ErrUnavailable)
		}
		return nil, err
	}
	return &Client{conn: conn, timeout: cfg.Timeout, wait: cfg.Wait, owned: true, refused: refused}, nil
}

// options are what events.Dial has no setting for: the time to connect, at most 5 s.
func options(ctx context.Context, cfg Config) []nats.Option {
	wait := min(5*time.Second, cfg.Timeout)
	if end, ok := ctx.Deadline(); ok {
		wait = max(time.Millisecond, min(wait, time.Until(end)))
	}
	return []nats.Option{nats.Timeout(wait)}
}

// bounded adds the client's timeout to a context without a deadline.
func (c *Client) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, c.timeout)
}

// Conn returns the connection the client works on.
func (c *Client) Conn() *events.Conn { return c.conn }

// Close flushes and ends a connection made by Connect. It does nothing to a connection given to New; a second call does
// nothing.
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
