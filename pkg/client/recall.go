package client

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Recall finds what bears on a query. It writes nothing. A bank nobody has
// written to is ErrNotFound, unless After or AfterWrite asks for something not
// yet reached: then the reply is empty and not fresh.
func (c *Client) Recall(ctx context.Context, bank memory.BankID, req memory.RecallRequest) (memory.RecallReply, error) {
	return ask[memory.RecallReply](ctx, c, bank, "recall", req)
}

// Reflect answers from memory, or gives the packed context for a caller's own
// model where there is none or Style asks for it. Without a Deadline the request
// gets one shortly before the client's own time is over, so that an answer that
// takes too long becomes a context and not an error. Stream is ignored: see
// ReflectStream.
func (c *Client) Reflect(ctx context.Context, bank memory.BankID, req memory.ReflectRequest) (memory.ReflectReply, error) {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	req.Stream, req.Deadline = false, inTime(ctx, req.Deadline)
	return ask[memory.ReflectReply](ctx, c, bank, "reflect", req)
}

// maxDeadline is the longest deadline that a request may name.
const maxDeadline = 5 * time.Minute

// inTime gives a request without a deadline one that ends before ctx does.
func inTime(ctx context.Context, given *memory.Duration) *memory.Duration {
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

// ReflectStream is Reflect that hands over the response as it grows: each piece
// in order to delta, which may be nil, then the whole as the result. A piece with
// Reset begins the response anew. The pieces since then, joined, are the response.
func (c *Client) ReflectStream(ctx context.Context, bank memory.BankID, req memory.ReflectRequest, delta func(memory.Delta)) (_ memory.ReflectReply, err error) {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	req.Stream, req.Deadline = true, inTime(ctx, req.Deadline)
	subject, err := c.subject(bank, "reflect")
	if err != nil {
		return memory.ReflectReply{}, err
	}
	body, err := json.Marshal(req)
	if err != nil {
		return memory.ReflectReply{}, fmt.Errorf("request %s: %w", subject, err)
	}
	ctx, span := c.begin(ctx, subject)
	defer func() { span.End(err) }()
	inbox := c.conn.NC.NewInbox()
	sub, err := c.conn.NC.SubscribeSync(inbox)
	if err != nil {
		return memory.ReflectReply{}, fmt.Errorf("request %s: %w", subject, meaning(err))
	}
	defer sub.Unsubscribe() //nolint:errcheck // the connection cleans up after itself
	if err := c.conn.NC.PublishMsg(&nats.Msg{Subject: subject, Reply: inbox, Data: body, Header: telemetry.Inject(ctx, nil)}); err != nil {
		return memory.ReflectReply{}, fmt.Errorf("request %s: %w", subject, meaning(err))
	}
	for {
		msg, err := sub.NextMsgWithContext(ctx)
		if err != nil {
			return memory.ReflectReply{}, fmt.Errorf("request %s: %w", subject, meaning(err))
		}
		reply, done, err := readDelta(msg, delta)
		if done || err != nil {
			return reply, err
		}
	}
}

// readDelta reads one message of a stream; done is true for the whole reply.
func readDelta(msg *nats.Msg, delta func(memory.Delta)) (reply memory.ReflectReply, done bool, err error) {
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
			delta(memory.Delta{Delta: *piece.Delta, Reset: piece.Reset})
		}
		return reply, false, nil
	}
	if err := memory.DecodeEvent(msg.Data, &reply); err != nil {
		return reply, true, fmt.Errorf("reply of reflect: %w", err)
	}
	return reply, true, nil
}
