// Package deadletter keeps events that could not be handled, in the stream MEM_DEAD.
//
// A stage publishes a letter (New, Publish) before it moves on from an event. An operator lists letters (List, Get),
// removes them (Drop) or sends their payload to its subject again (Retry). Handlers return Permanent for an event that
// no retry can cure.
package deadletter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// PermanentError is a failure that a retry cannot cure. A handler that returns it gives the event up.
type PermanentError struct {
	Reason string // no message text
	Output string // answer of a model, kept with the letter; "" = none
}

// Error returns the reason.
func (e *PermanentError) Error() string { return e.Reason }

// Permanent returns a PermanentError. The reason must not contain message text.
func Permanent(reason string) error { return &PermanentError{Reason: reason} }

// New returns the dead letter of an event that stage gives up at now. It keeps the output of a PermanentError or
// OutputError in cause.
func New(stage string, e events.Event, cause error, now time.Time) memory.DeadLetter {
	d := memory.DeadLetter{
		Stage: stage, Bank: e.BankToken, Session: e.Session, Reason: cause.Error(), Attempts: max(1, e.Attempt),
		Stream: e.Stream, Seq: e.Seq, Subject: e.Subject, Payload: e.Data, First: memory.At(e.Stored), Last: memory.At(now),
		Trace: e.Trace(),
	}
	var dead *PermanentError
	if errors.As(cause, &dead) {
		d.Output = dead.Output
	}
	var answer *OutputError
	if errors.As(cause, &answer) {
		d.Output, d.Prompt = answer.Output, answer.Prompt
	}
	return d
}

// Publish stores a dead letter. A repeat within a day is dropped by its MsgID. If a letter is too large for the broker,
// its output and then its payload are truncated.
//
// A forget may erase what the letter is about, and then the letters that it finds, before this one is stored. It is
// therefore looked at afterwards: of a window that lost a message the letter loses the output of the model, and any
// other is erased again.
func Publish(ctx context.Context, c *events.Conn, d memory.DeadLetter) error {
	seq, err := publish(ctx, c, d, d.MsgID())
	if err != nil {
		return err
	}
	if lost, err := lostMessages(ctx, c, d); err != nil || !lost {
		return err
	}
	if d.Stream != c.Naming.Windows() {
		return c.Erase(ctx, c.Naming.Dead(), seq)
	}
	if d.Output == "" {
		return nil
	}
	d.Output = ""
	if _, err := publish(ctx, c, d, d.MsgID()+":bare"); err != nil {
		return err
	}
	return c.Erase(ctx, c.Naming.Dead(), seq)
}

// lostMessages reports whether a message whose text a letter may hold was erased.
func lostMessages(ctx context.Context, c *events.Conn, d memory.DeadLetter) (bool, error) {
	messages := c.Naming.Messages()
	for _, seq := range d.Messages(messages) {
		_, err := c.ReadLeader(ctx, messages, map[string]any{"seq": seq})
		if err == nil {
			continue
		}
		if !errors.Is(err, memory.ErrNotFound) {
			return false, fmt.Errorf("look up message %d of dead letter %s: %w", seq, d.MsgID(), err)
		}
		last, err := c.LastSeq(ctx, messages)
		if err != nil || seq <= last {
			return err == nil, err
		}
	}
	return false, nil
}

// publish stores a letter under a message id and returns its sequence.
func publish(ctx context.Context, c *events.Conn, d memory.DeadLetter, id string) (uint64, error) {
	d.ID = 0
	body, err := memory.Encode(d)
	if err != nil {
		return 0, fmt.Errorf("encode dead letter %s: %w", d.MsgID(), err)
	}
	limit := int(c.NC.MaxPayload()) - 4096
	if limit > 0 && len(body) > limit && len(d.Output) > 4096 {
		d.Output = memory.Truncate(d.Output, 4096) // before the payload, which identifies what failed
		if body, err = memory.Encode(d); err != nil {
			return 0, fmt.Errorf("encode dead letter %s: %w", d.MsgID(), err)
		}
	}
	if limit > 0 && len(body) > limit {
		d.Reason = memory.Truncate(d.Reason, 4096)
		d.Payload, d.Cut = d.Payload[:max(0, min(len(d.Payload), limit/2-16384))], true
		d.Reason += " (the payload is cut; the event itself is in " + d.Stream + ")"
		if body, err = memory.Encode(d); err != nil {
			return 0, fmt.Errorf("encode dead letter %s: %w", d.MsgID(), err)
		}
	}
	m := events.NewMsg(c.Naming.DeadSubject(d.Bank, d.Stage), id, body)
	telemetry.Put(d.Trace, m.Header)
	ack, err := c.JS.PublishMsg(ctx, m)
	if err != nil {
		return 0, events.Classify(err, "publish dead letter %s", d.MsgID())
	}
	return ack.Sequence, nil
}

// OutputError is an error together with the answer of a model that caused it. A dead letter keeps both.
type OutputError struct {
	Err    error
	Output string // raw
	Prompt string // name and version of the prompt, as "extract/1"
}

// Error returns the cause without the output.
func (e *OutputError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *OutputError) Unwrap() error { return e.Err }

// Retry publishes the payload of a dead letter to its subject again, returns its new sequence and erases the letter.
// However often it is repeated, the event takes effect once: the broker recognizes the letter's id for two minutes, and
// later the store recognizes the window, the op or the message; a message without id or time is given an id of its own
// and the time at which it was stored. The payload of a truncated letter is read from its stream; if it is gone, that
// is memory.ErrConflict.
func Retry(ctx context.Context, c *events.Conn, id uint64) (uint64, error) {
	d, err := Get(ctx, c, id)
	if err != nil {
		return 0, err
	}
	ctx = telemetry.Resume(ctx, d.Trace)
	names, err := c.Naming.Parse(d.Subject)
	if err != nil {
		return 0, fmt.Errorf("dead letter %d has nowhere to go: %w", id, err)
	}
	if err := complete(ctx, c, &d); err != nil {
		return 0, err
	}
	var seq uint64
	switch names.Kind {
	case events.KindMessage:
		seq, err = c.PublishPlain(ctx, d.Subject, retryBody(d))
	case events.KindFlush:
		seq, err = c.PublishPlain(ctx, d.Subject, d.Payload)
	default:
		seq, err = publishAgain(ctx, c, d)
	}
	if err != nil {
		return 0, err
	}
	return seq, Drop(ctx, c, id)
}

// complete replaces the truncated payload of a letter by the event in its stream.
func complete(ctx context.Context, c *events.Conn, d *memory.DeadLetter) error {
	if !d.Cut {
		return nil
	}
	e, err := c.EventAt(ctx, d.Stream, d.Seq)
	if errors.Is(err, memory.ErrNotFound) {
		return fmt.Errorf("dead letter %d holds a part of its event alone, and the event is no longer in %s: %w", d.ID, d.Stream, memory.ErrConflict)
	}
	if err != nil {
		return err
	}
	d.Payload = e.Data
	return nil
}

// retryBody returns the payload of a message with an id derived from its sequence and the time at which it was stored,
// if it lacks them. A payload that is not a JSON object is returned unchanged.
func retryBody(d memory.DeadLetter) []byte {
	var fields map[string]json.RawMessage
	if json.Unmarshal(d.Payload, &fields) != nil || fields == nil {
		return d.Payload
	}
	set := func(name, value string) {
		if have, ok := fields[name]; ok && string(have) != `""` && string(have) != "null" {
			return
		}
		fields[name], _ = json.Marshal(value) //nolint:errcheck // a string has a JSON form
	}
	set("id", fmt.Sprintf("retry:%d", d.Seq))
	set("time", d.First.Format(time.RFC3339Nano))
	body, err := memory.Encode(fields)
	if err != nil {
		return d.Payload
	}
	return body
}

// publishAgain publishes with an id of the letter, because the stream may still remember the first id of the event.
func publishAgain(ctx context.Context, c *events.Conn, d memory.DeadLetter) (uint64, error) {
	m := events.NewMsg(d.Subject, fmt.Sprintf("retry:%d", d.ID), d.Payload)
	telemetry.Put(d.Trace, m.Header)
	ack, err := c.JS.PublishMsg(ctx, m)
	if err != nil {
		return 0, events.Classify(err, "send dead letter %d again", d.ID)
	}
	return ack.Sequence, nil
}
