package events

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// PublishMessage stores a message's body and gives its sequence. It sets no
// Nats-Msg-Id; an acknowledgement that calls it a duplicate means it was not
// stored, and it is published again.
func (c *Conn) PublishMessage(ctx context.Context, bank memory.BankID, session memory.SessionID, body []byte) (uint64, error) {
	return c.publishPlain(ctx, c.Naming.MessageSubject(bank, session), body)
}

// PublishFlush stores a flush of a session and gives its sequence.
func (c *Conn) PublishFlush(ctx context.Context, bank memory.BankID, session memory.SessionID, f memory.Flush) (uint64, error) {
	body, err := json.Marshal(f)
	if err != nil {
		return 0, fmt.Errorf("encode flush: %w", err)
	}
	return c.publishPlain(ctx, c.Naming.FlushSubject(bank, session), body)
}

// publishPlain publishes without a Nats-Msg-Id until it is stored.
func (c *Conn) publishPlain(ctx context.Context, subject string, body []byte) (uint64, error) {
	for range 5 {
		ack, err := c.JS.PublishMsg(ctx, &nats.Msg{Subject: subject, Data: body})
		if err != nil {
			return 0, meaning(err, "publish to %s", subject)
		}
		if !ack.Duplicate {
			return ack.Sequence, nil
		}
	}
	return 0, fmt.Errorf("publish to %s: the broker called it a duplicate each time: %w", subject, memory.ErrUnavailable)
}

// PublishWindow puts a window on the work queue, once: its id is the
// Nats-Msg-Id.
func (c *Conn) PublishWindow(ctx context.Context, w memory.Window) error {
	m, err := c.windowMsg(w)
	if err != nil {
		return err
	}
	_, err = c.JS.PublishMsg(ctx, m)
	return meaning(err, "publish window %s", w.ID)
}

// PublishWindows puts windows on the work queue in order and returns when all
// are acknowledged. After an error any of them may be there; calling it again
// adds none twice.
func (c *Conn) PublishWindows(ctx context.Context, windows []memory.Window) error {
	futures := make([]jetstream.PubAckFuture, 0, len(windows))
	for _, w := range windows {
		m, err := c.windowMsg(w)
		if err != nil {
			return err
		}
		f, err := c.JS.PublishMsgAsync(m, jetstream.WithStallWait(stallWait))
		if err != nil {
			return meaning(err, "publish window %s", w.ID)
		}
		futures = append(futures, f)
	}
	for i, f := range futures {
		select {
		case <-f.Ok():
		case err := <-f.Err():
			return meaning(err, "publish window %s", windows[i].ID)
		case <-ctx.Done():
			return meaning(ctx.Err(), "publish window %s", windows[i].ID)
		}
	}
	return nil
}

func (c *Conn) windowMsg(w memory.Window) (*nats.Msg, error) {
	if len(w.New) == 0 {
		return nil, memory.Invalid("new", "a window names at least one message")
	}
	body, err := json.Marshal(w)
	if err != nil {
		return nil, fmt.Errorf("encode window %s: %w", w.ID, err)
	}
	return withID(c.Naming.WindowSubject(w.Bank, w.Session), string(w.ID), body), nil
}

// AppendWrite appends a write to the log and gives its sequence. Within two
// minutes a second append with the same bank and op is not stored and gives the
// first one's sequence; after that the store knows the op. A write that is
// appended anew (its Time is set) is told from the first one by its body.
func (c *Conn) AppendWrite(ctx context.Context, w memory.Write) (uint64, error) {
	if w.Op == "" {
		return 0, memory.Invalid("op", "a write needs an op")
	}
	body, err := json.Marshal(w)
	if err != nil {
		return 0, fmt.Errorf("encode write %s: %w", w.Op, err)
	}
	id := EncodeToken(string(w.Bank)) + ":" + w.Op
	if !w.Time.IsZero() {
		sum := sha256.Sum256(body)
		id += ":" + hex.EncodeToString(sum[:12])
	}
	ack, err := c.JS.PublishMsg(ctx, withID(c.Naming.WriteSubject(w.Bank, w.Kind), id, body))
	if err != nil {
		return 0, meaning(err, "append write %s", w.Op)
	}
	return ack.Sequence, nil
}

// PublishChange announces a change; its id is the Nats-Msg-Id.
func (c *Conn) PublishChange(ctx context.Context, bank memory.BankID, ch memory.Change) error {
	subject := c.Naming.ChangeSubject(bank, ch.What)
	ch.What = "" // the subject says it
	body, err := json.Marshal(ch)
	if err != nil {
		return fmt.Errorf("encode change %s: %w", ch.ID, err)
	}
	_, err = c.JS.PublishMsg(ctx, withID(subject, ch.ID, body))
	return meaning(err, "publish change %s", ch.ID)
}

func withID(subject, id string, body []byte) *nats.Msg {
	return &nats.Msg{Subject: subject, Data: body, Header: nats.Header{jetstream.MsgIDHeader: []string{id}}}
}

// stallWait is how long an asynchronous publish waits while too many others
// are not acknowledged.
const stallWait = 5 * time.Second
