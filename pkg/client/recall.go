package client

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// Recall finds what bears on a query. It writes nothing. A bank that does not exist is ErrNotFound, unless After or
// AfterWrite asks for something not reached yet: then the reply is empty and not fresh.
func (c *Client) Recall(ctx context.Context, bank memory.BankID, req wire.RecallRequest) (wire.RecallReply, error) {
	return Call(ctx, c, wire.Recall, bank, req)
}

// Reflect answers from memory. Where no model is configured, or Style asks for it, it returns the packed context for a
// model of the caller's own. A request without a Deadline gets one shortly before the call's own deadline, so that an
// answer that takes too long becomes a context and not an error. Stream is ignored: see ReflectStream.
func (c *Client) Reflect(ctx context.Context, bank memory.BankID, req wire.ReflectRequest) (wire.ReflectReply, error) {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	req.Stream, req.Deadline = false, deadlineWithin(ctx, req.Deadline)
	return Call(ctx, c, wire.Reflect, bank, req)
}

// maxDeadline is the longest deadline that a request may name.
const maxDeadline = 5 * time.Minute

// deadlineWithin returns the deadline of a request: the given one, else one that ends before ctx does.
func deadlineWithin(ctx context.Context, given *memory.Duration) *memory.Duration {
	end, ok := ctx.Deadline()
	if given != nil || !ok {
		return given
	}
	left := time.Until(end)
	left = min(left-min(left/10, time.Second), maxDeadline)
	if left <= 0 {
		return nil
	}
	d := memory.Duration(left)
	return &d
}

// ReflectStream is Reflect that hands over the response as it grows: each piece in order to delta, which may be nil,
// and then the whole as the result. A piece with Reset begins the response anew; the pieces since then, joined, are the
// response.
func (c *Client) ReflectStream(ctx context.Context, bank memory.BankID, req wire.ReflectRequest, delta func(wire.Delta)) (_ wire.ReflectReply, err error) {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	req.Stream, req.Deadline = true, deadlineWithin(ctx, req.Deadline)
	subject, err := c.subject(bank, wire.Reflect.Name)
	if err != nil {
		return wire.ReflectReply{}, err
	}
	body, err := memory.Encode(req)
	if err != nil {
		return wire.ReflectReply{}, fmt.Errorf("request %s: %w", subject, err)
	}
	ctx, span := c.begin(ctx, subject)
	defer func() { span.End(err) }()
	var reply wire.ReflectReply
	err = c.stream(ctx, subject, body, func(msg *nats.Msg) (done bool, err error) {
		reply, done, err = readPiece(msg, delta)
		return done, err
	})
	return reply, err
}

// stream sends a request and hands over each message that answers it, until take is done or fails or ctx ends.
func (c *Client) stream(ctx context.Context, subject string, body []byte, take func(*nats.Msg) (done bool, err error)) error {
	inbox := c.conn.NC.NewInbox()
	sub, err := c.conn.NC.SubscribeSync(inbox)
	if err != nil {
		return fmt.Errorf("request %s: %w", subject, meaning(err))
	}
	defer sub.Unsubscribe() //nolint:errcheck // the connection cleans up after itself
	ctx, reason := c.refused.watch(ctx, subject)
	defer reason(nil) //nolint:errcheck // it ends the watch
	if err := c.conn.NC.PublishMsg(&nats.Msg{Subject: subject, Reply: inbox, Data: body, Header: telemetry.Inject(ctx, nil)}); err != nil {
		return fmt.Errorf("request %s: %w", subject, meaning(err))
	}
	for {
		msg, err := sub.NextMsgWithContext(ctx)
		if err != nil {
			return fmt.Errorf("request %s: %w", subject, meaning(reason(err)))
		}
		if done, err := take(msg); done || err != nil {
			return err
		}
	}
}

// readPiece reads one message of a stream; done is true for the whole reply. A piece is told from it by its delta.
func readPiece(msg *nats.Msg, delta func(wire.Delta)) (reply wire.ReflectReply, done bool, err error) {
	if err := fault(msg); err != nil {
		return reply, true, err
	}
	var piece struct {
		Delta *string `json:"delta"`
		Reset bool    `json:"reset"`
	}
	if err := memory.DecodeEvent(msg.Data, &piece); err != nil {
		return reply, true, fmt.Errorf("reply of reflect: %w", err)
	}
	if piece.Delta != nil {
		if delta != nil {
			delta(wire.Delta{Delta: *piece.Delta, Reset: piece.Reset})
		}
		return reply, false, nil
	}
	if err := memory.DecodeEvent(msg.Data, &reply); err != nil {
		return reply, true, fmt.Errorf("reply of reflect: %w", err)
	}
	return reply, true, nil
}
