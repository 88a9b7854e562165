package events

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// RetryDead sends the payload of a dead letter to its subject again, gives the
// sequence it has there and removes the letter. However often it is repeated,
// the event counts once: the broker knows the letter's id for two minutes, and
// after that the store knows the window, the op, or the message, which is given
// an id and the time it was stored where it came without. A letter that is too
// long to hold its payload is memory.ErrConflict where the event is gone.
func (c *Conn) RetryDead(ctx context.Context, id uint64) (uint64, error) {
	d, err := c.DeadLetter(ctx, id)
	if err != nil {
		return 0, err
	}
	ctx = telemetry.Resume(ctx, d.trace)
	names, err := c.Naming.Parse(d.Subject)
	if err != nil {
		return 0, fmt.Errorf("dead letter %d has nowhere to go: %w", id, err)
	}
	if err := c.complete(ctx, &d); err != nil {
		return 0, err
	}
	var seq uint64
	switch names.Kind {
	case KindMessage:
		seq, err = c.publishPlain(ctx, d.Subject, d.again())
	case KindFlush:
		seq, err = c.publishPlain(ctx, d.Subject, d.Payload)
	default:
		seq, err = c.publishAgain(ctx, d)
	}
	if err != nil {
		return 0, err
	}
	return seq, c.DropDead(ctx, id)
}

// complete reads the payload that a letter could not hold from its stream.
func (c *Conn) complete(ctx context.Context, d *DeadLetter) error {
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

// again is the body of a message as it is published again: with an id of the
// event's own and the time at which it was stored, where it has none. What is
// no object goes as it is.
func (d DeadLetter) again() []byte {
	var fields map[string]json.RawMessage
	if json.Unmarshal(d.Payload, &fields) != nil || fields == nil {
		return d.Payload
	}
	give := func(name, value string) {
		if have, ok := fields[name]; ok && string(have) != `""` && string(have) != "null" {
			return
		}
		fields[name], _ = json.Marshal(value) //nolint:errcheck // a string has a JSON form
	}
	give("id", fmt.Sprintf("retry:%d", d.Seq))
	give("time", d.First.Format(time.RFC3339Nano))
	body, err := json.Marshal(fields)
	if err != nil {
		return d.Payload
	}
	return body
}

// publishAgain uses an id of the letter's own, for the event's first id may
// still be remembered by the stream.
func (c *Conn) publishAgain(ctx context.Context, d DeadLetter) (uint64, error) {
	m := withID(d.Subject, fmt.Sprintf("retry:%d", d.ID), d.Payload)
	telemetry.Put(d.trace, m.Header)
	ack, err := c.JS.PublishMsg(ctx, m)
	if err != nil {
		return 0, meaning(err, "send dead letter %d again", d.ID)
	}
	return ack.Sequence, nil
}
