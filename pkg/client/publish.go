package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Publish stores one chat message in the bank's log and gives its sequence,
// which RecallRequest.After takes. When it returns nil the message is kept for
// good, whatever is down behind the broker. A message without ID gets the id
// memory.SequenceID(seq); one whose ID the bank has seen counts as a duplicate
// and the first body stands. The error is ErrInvalid, naming the field, before
// anything is sent.
func (c *Client) Publish(ctx context.Context, bank memory.BankID, session memory.SessionID, m memory.Message) (uint64, error) {
	if err := checkNames(bank, session); err != nil {
		return 0, err
	}
	if err := m.Validate(); err != nil {
		return 0, fmt.Errorf("publish to session %s: %w", session, err)
	}
	body, err := json.Marshal(m)
	if err != nil {
		return 0, fmt.Errorf("publish to session %s: %w", session, err)
	}
	return c.publish(ctx, bank, session, body)
}

// Flush says that a conversation paused or ended: what is left of it is
// extracted now. It gives the sequence of the flush in the log.
func (c *Client) Flush(ctx context.Context, bank memory.BankID, session memory.SessionID) (uint64, error) {
	if err := checkNames(bank, session); err != nil {
		return 0, err
	}
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	ctx, reason := c.refused.watch(ctx, c.conn.Naming.FlushSubject(bank, session))
	seq, err := c.conn.PublishFlush(ctx, bank, session, memory.Flush{})
	if err = reason(err); err != nil {
		return 0, fmt.Errorf("flush session %s: %w", session, published(err))
	}
	return seq, nil
}

func checkNames(bank memory.BankID, session memory.SessionID) error {
	if _, err := memory.ParseBankID(string(bank)); err != nil {
		return err
	}
	_, err := memory.ParseSessionID(string(session))
	return err
}

// bounded gives a context without a deadline the client's timeout.
func (c *Client) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, c.timeout)
}

// published says more of a publish that failed, where more is known.
func published(err error) error {
	switch {
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, jetstream.ErrNoStreamResponse):
		return fmt.Errorf("no stream takes messages on this prefix; `eunoe up` makes it: %w", memory.ErrUnavailable)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, nats.ErrTimeout):
		return fmt.Errorf("no acknowledgement in time: %w", memory.ErrDeadline)
	case memory.Code(err) != 500:
		return err
	}
	return meaning(err)
}

// PublishBody is Publish with the event's body as it is to stand in the log:
// fields this version does not know are kept.
func (c *Client) PublishBody(ctx context.Context, bank memory.BankID, session memory.SessionID, body []byte) (uint64, error) {
	if err := checkNames(bank, session); err != nil {
		return 0, err
	}
	var m memory.Message
	if err := memory.DecodeEvent(body, &m); err != nil {
		return 0, fmt.Errorf("publish to session %s: %w", session, err)
	}
	if err := m.Validate(); err != nil {
		return 0, fmt.Errorf("publish to session %s: %w", session, err)
	}
	return c.publish(ctx, bank, session, body)
}

func (c *Client) publish(ctx context.Context, bank memory.BankID, session memory.SessionID, body []byte) (uint64, error) {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	ctx, reason := c.refused.watch(ctx, c.conn.Naming.MessageSubject(bank, session))
	seq, err := c.conn.PublishMessage(ctx, bank, session, body)
	if err = reason(err); err != nil {
		return 0, fmt.Errorf("publish to session %s: %w", session, published(err))
	}
	return seq, nil
}
