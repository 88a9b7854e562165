package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
	"go.opentelemetry.io/otel/trace"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// UnknownOutcome is the error of a write whose deadline passed: it may have happened. Repeating the request with this Op
// changes nothing twice.
type UnknownOutcome struct {
	Op  string
	Err error
}

// Error says what happened and which op to repeat.
func (e *UnknownOutcome) Error() string {
	return fmt.Sprintf("%v (the outcome is unknown; repeat with op %q)", e.Err, e.Op)
}

// Unwrap returns the underlying error, which has one of the meanings of package memory.
func (e *UnknownOutcome) Unwrap() error { return e.Err }

// Call sends a request to an endpoint and returns its reply; the client's methods are calls of the endpoints in package
// wire. An operator's endpoint ignores bank, and any other needs a valid one. Without a deadline in ctx the client's
// Timeout bounds the call. A write whose request does not say how long to wait for its outcome waits for Config.Wait.
func Call[Request, Reply any](ctx context.Context, c *Client, e wire.Endpoint[Request, Reply], bank memory.BankID, req Request) (Reply, error) {
	var reply Reply
	subject, err := c.subjectOf(e.Name, e.Role, bank)
	if err != nil {
		return reply, err
	}
	if e.Role == wire.Bot {
		if w, ok := any(&req).(interface{ DefaultWait(memory.Duration) }); ok && c.wait > 0 {
			w.DefaultWait(memory.Duration(c.wait))
		}
	}
	body, err := memory.Encode(req)
	if err != nil {
		return reply, fmt.Errorf("request %s: %w", subject, err)
	}
	data, err := c.request(ctx, e.Describe(), subject, body)
	if err != nil {
		return reply, err
	}
	if err := memory.DecodeEvent(data, &reply); err != nil {
		return reply, fmt.Errorf("reply of %s: %w", subject, err)
	}
	return reply, nil
}

// Ask is Call with the body of the request as it is, for programs that pass requests on. It returns the body of the reply.
func (c *Client) Ask(ctx context.Context, e wire.Description, bank memory.BankID, body []byte) ([]byte, error) {
	subject, err := c.subjectOf(e.Name, e.Role, bank)
	if err != nil {
		return nil, err
	}
	return c.request(ctx, e, subject, body)
}

// AskStream is Ask for an endpoint that streams: piece gets the body of each message that answers, the whole reply last.
// The end of ctx ends it, and so does an error of piece.
func (c *Client) AskStream(ctx context.Context, e wire.Description, bank memory.BankID, body []byte, piece func(data []byte, last bool) error) (err error) {
	subject, err := c.subjectOf(e.Name, e.Role, bank)
	if err != nil {
		return err
	}
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	ctx, span := c.begin(ctx, subject)
	defer func() { span.End(err) }()
	return c.stream(ctx, subject, body, func(msg *nats.Msg) (bool, error) {
		if err := fault(msg); err != nil {
			return true, err
		}
		var d struct {
			Delta *string `json:"delta"`
		}
		if err := json.Unmarshal(msg.Data, &d); err != nil {
			return true, fmt.Errorf("reply of %s: %w", subject, err)
		}
		return d.Delta == nil, piece(msg.Data, d.Delta == nil)
	})
}

func (c *Client) subjectOf(endpoint string, role wire.Role, bank memory.BankID) (string, error) {
	if role == wire.Operator {
		return c.conn.Naming.AdminSubject(endpoint), nil
	}
	return c.subject(bank, endpoint)
}

func (c *Client) subject(bank memory.BankID, endpoint string) (string, error) {
	if _, err := memory.ParseBankID(string(bank)); err != nil {
		return "", err
	}
	return c.conn.Naming.RequestSubject(bank, endpoint), nil
}

func (c *Client) request(ctx context.Context, e wire.Description, subject string, body []byte) ([]byte, error) {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	ctx, span := c.begin(ctx, subject)
	ctx, reason := c.refused.watch(ctx, subject)
	send := c.conn.NC.RequestMsgWithContext
	if e.Role == wire.Bot && !e.Writes() {
		send = c.sendAgain
	}
	msg, err := send(ctx, &nats.Msg{Subject: subject, Data: body, Header: telemetry.Inject(ctx, nil)})
	if err = reason(err); err != nil {
		span.End(err)
		return nil, fmt.Errorf("request %s: %w", subject, meaning(err))
	}
	err = fault(msg)
	span.End(err)
	return msg.Data, err
}

// sendAgain sends a request that changes nothing, and once more whenever the connection is re-established before it is answered:
// what went over one that broke may be lost. The first answer counts.
func (c *Client) sendAgain(ctx context.Context, m *nats.Msg) (*nats.Msg, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type answer struct {
		msg *nats.Msg
		err error
	}
	answers := make(chan answer, 1)
	send := func(again bool) {
		msg, err := c.conn.NC.RequestMsgWithContext(ctx, m)
		for again && errors.Is(err, nats.ErrNoResponders) && events.Sleep(ctx, returning) { // who answers connects again too
			msg, err = c.conn.NC.RequestMsgWithContext(ctx, m)
		}
		select {
		case answers <- answer{msg, err}:
		default: // another one was first
		}
	}
	connected := c.conn.NC.StatusChanged(nats.CONNECTED)
	defer c.conn.NC.RemoveStatusListener(connected)
	go send(false)
	for {
		select {
		case a := <-answers:
			return a.msg, a.err
		case _, open := <-connected:
			if open {
				go send(true)
			} else {
				connected = nil // the connection was closed, and the request has its error
			}
		}
	}
}

// returning is the pause before a request that found nobody after a reconnect is sent once more: those who answer connect again
// too.
const returning = 100 * time.Millisecond

// begin begins the span of a request, named after its endpoint.
func (c *Client) begin(ctx context.Context, subject string) (context.Context, telemetry.Span) {
	if c.conn.Tracer == nil && !trace.SpanFromContext(ctx).IsRecording() {
		return ctx, telemetry.Span{}
	}
	return telemetry.Begin(ctx, c.conn.Tracer, trace.SpanKindClient, "request "+subject[strings.LastIndexByte(subject, '.')+1:])
}

// fault returns the error a reply carries, nil for a reply that is no failure.
func fault(msg *nats.Msg) error {
	text := msg.Header.Get(micro.ErrorHeader)
	code := msg.Header.Get(micro.ErrorCodeHeader)
	if text == "" && code == "" {
		return nil
	}
	var f wire.Fault
	if json.Unmarshal(msg.Data, &f) != nil || f.Error.Code == 0 {
		n, _ := strconv.Atoi(code)
		f.Error = wire.FaultDetail{Code: n, Message: text}
	}
	err := f.Err()
	if f.Error.Op != "" {
		return &UnknownOutcome{Op: f.Error.Op, Err: err}
	}
	return err
}

// meaning maps an error of the broker's client to one of the errors of package memory.
func meaning(err error) error {
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return fmt.Errorf("nobody answers: is a query process running on this prefix? `eunoe up` starts everything: %w", memory.ErrUnavailable)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, nats.ErrTimeout):
		return fmt.Errorf("no answer in time: %w: %w", err, memory.ErrDeadline)
	case errors.Is(err, nats.ErrMaxPayload):
		return fmt.Errorf("the broker takes no message of this size: %w", memory.ErrTooLarge)
	case errors.Is(err, nats.ErrConnectionClosed), errors.Is(err, nats.ErrDisconnected), errors.Is(err, nats.ErrConnectionReconnecting),
		errors.Is(err, nats.ErrNoServers), errors.Is(err, nats.ErrReconnectBufExceeded):
		return fmt.Errorf("the broker is not connected: %w: %w", err, memory.ErrUnavailable)
	}
	return err
}

// refusals ends the calls whose subject the broker's permissions refuse. The broker reports a refusal to the connection
// and not to the call, which would otherwise wait until its deadline.
type refusals struct {
	mu      sync.Mutex
	waiting map[*waiting]struct{}
	inbox   error // set once replies themselves are refused
}

type waiting struct {
	subject string
	cancel  context.CancelCauseFunc
}

// notAllowed is the error of a refused subject; it says what to do about it.
func notAllowed(what, subject string) error {
	return fmt.Errorf("the broker does not allow these credentials to %s %s: those of a bot reach its own bank alone, mem.admin is for operators (`eunoe auth list` shows who may what): %w",
		what, subject, memory.ErrForbidden)
}

// handle is the connection's error handler.
func (r *refusals) handle(nc *nats.Conn, _ *nats.Subscription, err error) {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return
	}
	text := err.Error()
	r.mu.Lock()
	defer r.mu.Unlock()
	prefix := cmp.Or(nc.Opts.InboxPrefix, strings.TrimSuffix(nats.InboxPrefix, "."))
	if strings.Contains(text, `Subscription to "`+prefix+".") {
		r.inbox = fmt.Errorf("the broker does not allow these credentials to receive replies under %s: name the inbox prefix they have in EUNOE_INBOX, as _INBOX_alice: %w", prefix, memory.ErrForbidden)
	}
	for w := range r.waiting {
		switch {
		case r.inbox != nil:
			w.cancel(r.inbox)
		case strings.Contains(text, `Publish to "`+w.subject+`"`):
			w.cancel(notAllowed("publish to", w.subject))
		}
	}
}

// watch returns a context that ends when the broker refuses the subject, and a function that ends the watch and replaces
// an error caused by the refusal with the reason. A nil receiver watches nothing.
func (r *refusals) watch(ctx context.Context, subject string) (context.Context, func(error) error) {
	if r == nil {
		return ctx, func(err error) error { return err }
	}
	ctx, cancel := context.WithCancelCause(ctx)
	w := &waiting{subject: subject, cancel: cancel}
	r.mu.Lock()
	if r.inbox != nil {
		cancel(r.inbox)
	}
	r.waiting[w] = struct{}{}
	r.mu.Unlock()
	return ctx, func(err error) error {
		r.mu.Lock()
		delete(r.waiting, w)
		r.mu.Unlock()
		cause := context.Cause(ctx)
		cancel(nil)
		if err != nil && cause != nil && errors.Is(cause, memory.ErrForbidden) {
			return cause
		}
		return err
	}
}
