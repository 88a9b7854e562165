package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// UnknownOutcome is the error of a write whose deadline passed: it may have
// happened. Repeating the request with this Op changes nothing twice.
type UnknownOutcome struct {
	Op  string
	Err error
}

// Error says what happened and which op to repeat.
func (e *UnknownOutcome) Error() string {
	return fmt.Sprintf("%v (the outcome is unknown; repeat with op %q)", e.Err, e.Op)
}

// Unwrap gives the error underneath, with its meaning.
func (e *UnknownOutcome) Unwrap() error { return e.Err }

// Raw sends a request to a bank and gives the reply's body as it came.
// endpoint is the last token of the subject ("recall"); body is JSON, nil = {}.
// A failure in the reply is an error with its meaning.
func (c *Client) Raw(ctx context.Context, bank memory.BankID, endpoint string, body []byte) ([]byte, error) {
	subject, err := c.subject(bank, endpoint)
	if err != nil {
		return nil, err
	}
	return c.request(ctx, subject, body)
}

func (c *Client) subject(bank memory.BankID, endpoint string) (string, error) {
	if _, err := memory.ParseBankID(string(bank)); err != nil {
		return "", err
	}
	return c.conn.Naming.RequestSubject(bank, endpoint), nil
}

func (c *Client) request(ctx context.Context, subject string, body []byte) ([]byte, error) {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.timeout)
		defer cancel()
	}
	if len(body) == 0 {
		body = []byte("{}")
	}
	ctx, span := c.begin(ctx, subject)
	ctx, reason := c.refused.watch(ctx, subject)
	msg, err := c.conn.NC.RequestMsgWithContext(ctx, &nats.Msg{Subject: subject, Data: body, Header: telemetry.Inject(ctx, nil)})
	if err = reason(err); err != nil {
		span.End(err)
		return nil, fmt.Errorf("request %s: %w", subject, meaning(err))
	}
	err = fault(msg)
	span.End(err)
	return msg.Data, err
}

// fault gives the error a reply carries, nil for a reply that is no failure.
func fault(msg *nats.Msg) error {
	text := msg.Header.Get(micro.ErrorHeader)
	code := msg.Header.Get(micro.ErrorCodeHeader)
	if text == "" && code == "" {
		return nil
	}
	var f memory.Fault
	if json.Unmarshal(msg.Data, &f) != nil || f.Error.Code == 0 {
		n, _ := strconv.Atoi(code)
		f.Error = memory.FaultDetail{Code: n, Message: text}
	}
	err := f.Err()
	if f.Error.Op != "" {
		return &UnknownOutcome{Op: f.Error.Op, Err: err}
	}
	return err
}

// meaning gives an error of the broker's client one of the meanings of memory.
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

// ask sends a request and reads its reply.
func ask[Reply any](ctx context.Context, c *Client, bank memory.BankID, endpoint string, req any) (Reply, error) {
	subject, err := c.subject(bank, endpoint)
	if err != nil {
		var none Reply
		return none, err
	}
	return askSubject[Reply](ctx, c, subject, req)
}

func askSubject[Reply any](ctx context.Context, c *Client, subject string, req any) (Reply, error) {
	var reply Reply
	body, err := json.Marshal(req)
	if err != nil {
		return reply, fmt.Errorf("request %s: %w", subject, err)
	}
	data, err := c.request(ctx, subject, body)
	if err != nil {
		return reply, err
	}
	if err := memory.DecodeEvent(data, &reply); err != nil {
		return reply, fmt.Errorf("reply of %s: %w", subject, err)
	}
	return reply, nil
}
