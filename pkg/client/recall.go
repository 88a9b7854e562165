package client

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Recall finds what bears on a query. It writes nothing. A bank nobody has
// written to is ErrNotFound, unless After or AfterWrite asks for something not
// yet reached: then the reply is empty and not fresh.
func (c *Client) Recall(ctx context.Context, bank memory.BankID, req memory.RecallRequest) (memory.RecallReply, error) {
	return ask[memory.RecallReply](ctx, c, bank, "recall", req)
}

// Reflect answers from memory, or gives the packed context for a caller's own
// model where there is none or Style asks for it. Stream is ignored: see ReflectStream.
func (c *Client) Reflect(ctx context.Context, bank memory.BankID, req memory.ReflectRequest) (memory.ReflectReply, error) {
	req.Stream = false
	return ask[memory.ReflectReply](ctx, c, bank, "reflect", req)
}

// ReflectStream is Reflect that hands over the response as it grows: each
// piece in order to delta, then the whole as the result.
func (c *Client) ReflectStream(ctx context.Context, bank memory.BankID, req memory.ReflectRequest, delta func(string)) (memory.ReflectReply, error) {
	req.Stream = true
	subject, err := c.subject(bank, "reflect")
	if err != nil {
		return memory.ReflectReply{}, err
	}
	body, err := json.Marshal(req)
	if err != nil {
		return memory.ReflectReply{}, fmt.Errorf("request %s: %w", subject, err)
	}
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	inbox := c.conn.NC.NewInbox()
	sub, err := c.conn.NC.SubscribeSync(inbox)
	if err != nil {
		return memory.ReflectReply{}, fmt.Errorf("request %s: %w", subject, meaning(err))
	}
	defer sub.Unsubscribe() //nolint:errcheck // the connection cleans up after itself
	if err := c.conn.NC.PublishRequest(subject, inbox, body); err != nil {
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
func readDelta(msg *nats.Msg, delta func(string)) (reply memory.ReflectReply, done bool, err error) {
	if err := fault(msg); err != nil {
		return reply, true, err
	}
	var piece struct {
		Delta *string `json:"delta"`
	}
	if err := memory.DecodeEvent(msg.Data, &piece); err != nil {
		return reply, true, fmt.Errorf("reply of reflect: %w", err)
	}
	if piece.Delta != nil {
		if delta != nil {
			delta(*piece.Delta)
		}
		return reply, false, nil
	}
	if err := memory.DecodeEvent(msg.Data, &reply); err != nil {
		return reply, true, fmt.Errorf("reply of reflect: %w", err)
	}
	return reply, true, nil
}
