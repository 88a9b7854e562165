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
	"go.opentelemetry.io/otel/trace"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// PublishMessage stores a message's body and gives its sequence. It sets no
// Nats-Msg-Id; an acknowledgement that calls it a duplicate means it was not
// stored, and it is published again.
func (c *Conn) PublishMessage(ctx context.Context, bank memory.BankID, session memory.SessionID, body []byte) (uint64, error) {
	ctx, span := c.beginPublish(ctx, bank, session)
	seq, err := c.publishPlain(ctx, c.Naming.MessageSubject(bank, session), body)
	span.At(seq).End(err)
	return seq, err
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
		ack, err := c.JS.PublishMsg(ctx, &nats.Msg{Subject: subject, Data: body, Header: telemetry.Inject(ctx, nil)})
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
	m, err := c.windowMsg(ctx, w)
	if err != nil {
		return err
	}
	_, err = c.JS.PublishMsg(ctx, m)
	return meaning(err, "publish window %s", w.ID)
}

// PublishWindows puts windows on the work queue in order and returns when all
// are acknowledged. After an error any of them may be there; calling it again
// adds none twice. traces are their trace contexts, as telemetry.Line gives
// them; a window without one has that of ctx.
func (c *Conn) PublishWindows(ctx context.Context, windows []memory.Window, traces ...string) error {
	msgs := make([]*nats.Msg, len(windows))
	for i, w := range windows {
		m, err := c.windowMsg(ctx, w)
		if err != nil {
			return err
		}
		if i < len(traces) {
			telemetry.Put(traces[i], m.Header)
		}
		msgs[i] = m
	}
	return c.publishAll(ctx, msgs, func(i int) string { return "window " + string(windows[i].ID) })
}

func (c *Conn) windowMsg(ctx context.Context, w memory.Window) (*nats.Msg, error) {
	if len(w.New) == 0 {
		return nil, memory.Invalid("new", "a window names at least one message")
	}
	body, err := json.Marshal(w)
	if err != nil {
		return nil, fmt.Errorf("encode window %s: %w", w.ID, err)
	}
	m := withID(c.Naming.WindowSubject(w.Bank, w.Session), string(w.ID), body)
	telemetry.Inject(ctx, m.Header)
	return m, nil
}

// AppendWrite appends a write to the log and gives its sequence. Within two
// minutes a second append with the same bank and op is not stored and gives the
// first one's sequence; after that the store knows the op. A write that is
// appended anew (its Time is set) is told from the first one by its body.
func (c *Conn) AppendWrite(ctx context.Context, w memory.Write) (uint64, error) {
	seq, _, err := c.AppendNew(ctx, w)
	return seq, err
}

// AppendNew is AppendWrite that also says whether the write is in the log now:
// false means that the first one with its op stands there and this one does not.
func (c *Conn) AppendNew(ctx context.Context, w memory.Write) (seq uint64, stored bool, err error) {
	m, err := c.writeMsg(w)
	if err != nil {
		return 0, false, err
	}
	ctx, span := c.beginAppend(ctx, w, m)
	defer func() { span.At(seq).End(err) }()
	ack, err := c.JS.PublishMsg(ctx, m)
	if err != nil {
		return 0, false, meaning(err, "append write %s", w.Op)
	}
	return ack.Sequence, !ack.Duplicate, nil
}

// writeMsg is the event of a write.
func (c *Conn) writeMsg(w memory.Write) (*nats.Msg, error) {
	if w.Op == "" {
		return nil, memory.Invalid("op", "a write needs an op")
	}
	body, err := json.Marshal(w)
	if err != nil {
		return nil, fmt.Errorf("encode write %s: %w", w.Op, err)
	}
	id := EncodeToken(string(w.Bank)) + ":" + w.Op
	if !w.Time.IsZero() {
		sum := sha256.Sum256(body)
		id += ":" + hex.EncodeToString(sum[:12])
	}
	return withID(c.Naming.WriteSubject(w.Bank, w.Kind), id, body), nil
}

// beginAppend begins the span of a write, whose event goes out in it.
func (c *Conn) beginAppend(ctx context.Context, w memory.Write, m *nats.Msg) (context.Context, telemetry.Span) {
	ctx, span := telemetry.Begin(ctx, c.Tracer, trace.SpanKindProducer, "append write")
	span.Text(telemetry.Bank, string(w.Bank)).Text(telemetry.Kind, string(w.Kind))
	telemetry.Inject(ctx, m.Header)
	return ctx, span
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
