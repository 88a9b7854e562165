package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// Publish stores one chat message in the bank's log and returns its sequence, which RecallRequest.After takes. When the
// error is nil the message is kept for good, whatever is down behind the broker. A message without ID gets the id
// memory.SequenceID(seq); one whose ID the bank has seen counts as a duplicate, and the first body stands. A message with
// an ID is published again when its acknowledgement is lost with a server, until ctx ends. A wrong message is ErrInvalid,
// naming the field, before anything is sent.
func (c *Client) Publish(ctx context.Context, bank memory.BankID, session memory.SessionID, m memory.Message) (uint64, error) {
	if err := checkNames(bank, session); err != nil {
		return 0, err
	}
	if err := m.Validate(); err != nil {
		return 0, fmt.Errorf("publish to session %s: %w", session, err)
	}
	body, err := memory.Encode(m)
	if err != nil {
		return 0, fmt.Errorf("publish to session %s: %w", session, err)
	}
	return c.publish(ctx, bank, session, m, body)
}

// PublishBody is Publish with the event's body as it is to stand in the log: fields this version does not know are kept.
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
	return c.publish(ctx, bank, session, m, body)
}

func (c *Client) publish(ctx context.Context, bank memory.BankID, session memory.SessionID, m memory.Message, body []byte) (uint64, error) {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	ctx, reason := c.refused.watch(ctx, c.conn.Naming.MessageSubject(bank, session))
	publish := c.conn.PublishMessage
	if m.ID != "" {
		publish = c.conn.PublishIdentified
	}
	seq, err := publish(ctx, bank, session, body)
	if err = reason(err); err != nil {
		return 0, fmt.Errorf("publish to session %s: %w", session, published(err))
	}
	return seq, nil
}

// PublishAll stores many messages of one session and returns their sequences in the order of the messages. It is for
// imports, and many times as fast as Publish where the broker syncs before it acknowledges: it sends batches where they
// are accepted, else some hundreds of messages in flight at a time. The messages stand in the log in their order, unless
// one had to be published again. All are checked first: ErrInvalid names the message by its number and the field, before
// anything is sent. Any other error joins what went wrong; a message whose sequence is 0 was then not acknowledged. A
// message without ID is given one.
func (c *Client) PublishAll(ctx context.Context, bank memory.BankID, session memory.SessionID, messages []memory.Message) ([]uint64, error) {
	if err := checkNames(bank, session); err != nil {
		return nil, err
	}
	p, err := events.NewPublisher(events.DefaultPublisherConfig(), c.conn)
	if err != nil {
		return nil, err
	}
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	ctx, reason := c.refused.watch(ctx, c.conn.Naming.MessageSubject(bank, session))
	var mu sync.Mutex
	var failed []error
	seqs := make([]uint64, len(messages))
	err = p.PublishAll(ctx, bank, session, messages, func(i int, seq uint64, err error) {
		mu.Lock()
		defer mu.Unlock()
		seqs[i] = seq
		if err != nil {
			failed = append(failed, fmt.Errorf("publish message %d to session %s: %w", i, session, published(reason(err))))
		}
	})
	if err != nil {
		return nil, err
	}
	return seqs, errors.Join(failed...)
}

// Flush says that a conversation paused or ended, so that what is left of it is extracted now. It returns the sequence
// of the flush in the log. It is repeated when its acknowledgement is lost with a server.
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

// published classifies the error of a failed publish, and adds advice where there is any.
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

// Retain stores facts as they are given, or a text as a message of its own. Partial success is normal: look at the
// outcome of each result.
func (c *Client) Retain(ctx context.Context, bank memory.BankID, req wire.RetainRequest) (wire.RetainReply, error) {
	return Call(ctx, c, wire.Retain, bank, req)
}

// Observe derives observations from the bank's facts, or stores ready-made ones.
func (c *Client) Observe(ctx context.Context, bank memory.BankID, req wire.ObserveRequest) (wire.ObserveReply, error) {
	return Call(ctx, c, wire.Observe, bank, req)
}

// Consolidate runs now what waits for a schedule. With fewer than 3 facts waiting and no Force nothing runs.
func (c *Client) Consolidate(ctx context.Context, bank memory.BankID, req wire.ConsolidateRequest) (wire.ConsolidateReply, error) {
	return Call(ctx, c, wire.Consolidate, bank, req)
}

// Edit makes a new version of a fact; ErrConflict when the fact is at another version than the one named.
func (c *Client) Edit(ctx context.Context, bank memory.BankID, req wire.EditRequest) (wire.EditReply, error) {
	return Call(ctx, c, wire.Edit, bank, req)
}

// Apply makes several changes at once, all of them or none, or with DryRun says what would become of each. A change that
// cannot be made is an error whose field names it.
func (c *Client) Apply(ctx context.Context, bank memory.BankID, req wire.ApplyRequest) (wire.ApplyReply, error) {
	return Call(ctx, c, wire.Apply, bank, req)
}

// Undo takes an apply back, all of it; ErrConflict where what it changed has changed since.
func (c *Client) Undo(ctx context.Context, bank memory.BankID, req wire.UndoRequest) (wire.UndoReply, error) {
	return Call(ctx, c, wire.Undo, bank, req)
}

// Conflicts lists a page of the conflicts in a state, "" = in any, with the facts of each. With an ID it resolves that
// conflict by Winner or dismisses it, which is final.
func (c *Client) Conflicts(ctx context.Context, bank memory.BankID, req wire.ConflictRequest) (wire.ConflictReply, error) {
	return Call(ctx, c, wire.Conflicts, bank, req)
}

// Alias says that several names are one entity or, with Remove, that they are not.
func (c *Client) Alias(ctx context.Context, bank memory.BankID, req wire.AliasRequest) (wire.AliasReply, error) {
	return Call(ctx, c, wire.Alias, bank, req)
}

// Feedback says what a recall was good for. It moves ranking, never content.
func (c *Client) Feedback(ctx context.Context, bank memory.BankID, req wire.FeedbackRequest) (wire.FeedbackReply, error) {
	return Call(ctx, c, wire.Feedback, bank, req)
}

// Forget erases a record, a session or what a speaker said, for good, and returns the receipt. One that is Pending is
// accepted and counts nothing yet; WaitForgotten waits for it.
func (c *Client) Forget(ctx context.Context, bank memory.BankID, req wire.ForgetRequest) (wire.ForgetReply, error) {
	return Call(ctx, c, wire.Forget, bank, req)
}

// WaitForgotten asks for the receipt of a forget by its op until it is complete, and goes on where the service is
// unavailable. The end of ctx is ErrDeadline, and the last receipt is returned with it.
func (c *Client) WaitForgotten(ctx context.Context, bank memory.BankID, op string) (wire.ForgetReply, error) {
	last := wire.ForgetReply{Pending: true, Receipt: memory.Receipt{Op: op}}
	wait := memory.Duration(min(forgottenWait, c.timeout/5*4))
	for {
		r, err := c.Forget(ctx, bank, wire.ForgetRequest{WriteControl: wire.WriteControl{Op: op, Wait: &wait}})
		switch {
		case err == nil && !r.Pending:
			return r, nil
		case ctx.Err() != nil, errors.Is(err, memory.ErrUnavailable) && !events.Sleep(ctx, time.Second):
			return last, fmt.Errorf("wait for the receipt of forget %s: %w", op, memory.ErrDeadline)
		case err == nil:
			last = r
		case !errors.Is(err, memory.ErrUnavailable):
			return last, err
		}
	}
}

// forgottenWait is how long one request of WaitForgotten waits.
const forgottenWait = 20 * time.Second

// Bank reads the profile of a bank; ErrNotFound where there is none.
func (c *Client) Bank(ctx context.Context, bank memory.BankID) (memory.Bank, error) {
	return c.SetBank(ctx, bank, wire.BankUpdate{})
}

// SetBank sets the fields that the update names and returns the resulting profile. A bank that does not exist is made;
// with Create an existing one is ErrConflict.
func (c *Client) SetBank(ctx context.Context, bank memory.BankID, update wire.BankUpdate) (memory.Bank, error) {
	reply, err := Call(ctx, c, wire.Bank, bank, update)
	return reply.Bank, err
}
