package events

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.opentelemetry.io/otel/trace"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// PublishMessage stores the body of a message and returns its sequence. It sets no Nats-Msg-Id: ids are unique per
// bank, and the store sees to that.
func (c *Conn) PublishMessage(ctx context.Context, bank memory.BankID, session memory.SessionID, body []byte) (uint64, error) {
	ctx, span := c.beginPublish(ctx, bank, session)
	seq, err := c.PublishPlain(ctx, c.Naming.MessageSubject(bank, session), body)
	span.At(seq).End(err)
	return seq, err
}

// PublishIdentified is PublishMessage of a message that has an id. Until ctx ends it is published again whenever no
// acknowledgement comes, as from a server that is lost; what is stored twice by that counts as a duplicate.
func (c *Conn) PublishIdentified(ctx context.Context, bank memory.BankID, session memory.SessionID, body []byte) (uint64, error) {
	ctx, span := c.beginPublish(ctx, bank, session)
	seq, err := c.publishAgain(ctx, c.Naming.MessageSubject(bank, session), body)
	span.At(seq).End(err)
	return seq, err
}

// PublishFlush stores a flush of a session and returns its sequence. One that is not acknowledged is published again, as by
// PublishIdentified: a second flush harms nothing.
func (c *Conn) PublishFlush(ctx context.Context, bank memory.BankID, session memory.SessionID, f memory.Flush) (uint64, error) {
	body, err := memory.Encode(f)
	if err != nil {
		return 0, fmt.Errorf("encode flush: %w", err)
	}
	return c.publishAgain(ctx, c.Naming.FlushSubject(bank, session), body)
}

// PublishPlain publishes without a Nats-Msg-Id and returns the sequence. An acknowledgement that reports a duplicate
// means that the event was not stored; it is then published again, up to five times.
func (c *Conn) PublishPlain(ctx context.Context, subject string, body []byte) (uint64, error) {
	for range 5 {
		ack, err := c.JS.PublishMsg(ctx, &nats.Msg{Subject: subject, Data: body, Header: telemetry.Inject(ctx, nil)})
		if err != nil {
			return 0, Classify(err, "publish to %s", subject)
		}
		if !ack.Duplicate {
			c.saw(ack.Stream, ack.Sequence)
			return ack.Sequence, nil
		}
	}
	return 0, fmt.Errorf("publish to %s: the broker called it a duplicate each time: %w", subject, memory.ErrUnavailable)
}

// publishAgain is PublishPlain of what is harmless to repeat: it waits for one acknowledgement as long as for an answer
// (askWithin), and then publishes again until ctx ends. Without a deadline it ends after publishWithin.
func (c *Conn) publishAgain(ctx context.Context, subject string, body []byte) (uint64, error) {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, publishWithin)
		defer cancel()
	}
	for {
		try, stop := bounded(ctx)
		seq, err := c.PublishPlain(try, subject, body)
		late := err != nil && try.Err() != nil && ctx.Err() == nil
		stop()
		if !late {
			return seq, err
		}
	}
}

// PublishWindow queues a window. Its id is the Nats-Msg-Id, so that a repeat within two minutes is dropped.
func (c *Conn) PublishWindow(ctx context.Context, w memory.Window) error {
	m, err := c.windowMsg(ctx, w)
	if err != nil {
		return err
	}
	_, err = c.JS.PublishMsg(ctx, m)
	return Classify(err, "publish window %s", w.ID)
}

// PublishWindows queues windows in order and returns when all are acknowledged. After an error any of them may be
// queued; repeating the call queues none twice. traces are their trace contexts, as telemetry.Line returns them; a
// window without one has that of ctx.
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
	together := func(ctx context.Context, msgs []*nats.Msg) (uint64, error) {
		return c.publishBatch(ctx, msgs, batchAgain)
	}
	return c.publishAll(ctx, msgs, together, func(i int) string { return "window " + string(windows[i].ID) })
}

func (c *Conn) windowMsg(ctx context.Context, w memory.Window) (*nats.Msg, error) {
	if len(w.New) == 0 {
		return nil, memory.Invalid("new", "a window names at least one message")
	}
	body, err := memory.Encode(w)
	if err != nil {
		return nil, fmt.Errorf("encode window %s: %w", w.ID, err)
	}
	m := NewMsg(c.Naming.WindowSubject(w.Bank, w.Session), string(w.ID), body)
	telemetry.Inject(ctx, m.Header)
	return m, nil
}

// AppendWrite appends a write to the log and returns its sequence. A second append with the same bank and op within two
// minutes is dropped and returns the sequence of the first; after that the store recognizes the op. A write that has a
// Time was appended before, and is distinguished from the first one by its body.
func (c *Conn) AppendWrite(ctx context.Context, w memory.Write) (uint64, error) {
	seq, _, err := c.AppendNew(ctx, w)
	return seq, err
}

// AppendNew is AppendWrite that also reports whether this write was stored; false means that the log holds an earlier
// one with the same op.
func (c *Conn) AppendNew(ctx context.Context, w memory.Write) (seq uint64, stored bool, err error) {
	m, err := c.writeMsg(w)
	if err != nil {
		return 0, false, err
	}
	ctx, span := c.beginAppend(ctx, w, m)
	defer func() { span.At(seq).End(err) }()
	ack, err := c.JS.PublishMsg(ctx, m)
	if err != nil {
		return 0, false, Classify(err, "append write %s", w.Op)
	}
	c.saw(ack.Stream, ack.Sequence)
	return ack.Sequence, !ack.Duplicate, nil
}

// writeMsg encodes a write.
func (c *Conn) writeMsg(w memory.Write) (*nats.Msg, error) {
	if w.Op == "" {
		return nil, memory.Invalid("op", "a write needs an op")
	}
	body, err := c.encodeWrite(w)
	if err != nil {
		return nil, fmt.Errorf("encode write %s: %w", w.Op, err)
	}
	id := EncodeToken(string(w.Bank)) + ":" + w.Op
	if !w.Time.IsZero() {
		sum := sha256.Sum256(body)
		id += ":" + hex.EncodeToString(sum[:12])
	}
	kind := w.Kind
	if w.RestOf != nil {
		kind = memory.WriteRest
	}
	return NewMsg(c.Naming.WriteSubject(w.Bank, kind), id, body), nil
}

// writeMargin is what the headers of a write may take of the payload that the broker allows.
const writeMargin = 8 << 10

// encodeWrite encodes a write. Where it is larger than the broker allows, the last facts with a vector go without: they
// get it later, as what was stored while the embedder was away. A write cannot be cut in two, for it is applied as one.
func (c *Conn) encodeWrite(w memory.Write) ([]byte, error) {
	body, err := memory.Encode(w)
	limit := int(c.NC.MaxPayload()) - writeMargin
	over := len(body) - limit
	if err != nil || limit <= 0 || over <= 0 {
		return body, err
	}
	w.Facts = slices.Clone(w.Facts)
	for i := len(w.Facts) - 1; i >= 0 && over > 0; i-- {
		over -= len(w.Facts[i].Vector.Bytes()) * 4 / 3 // as base64
		w.Facts[i].Vector, w.Facts[i].Model = nil, ""
	}
	return memory.Encode(w)
}

// beginAppend begins the span of a write and writes its trace context into the event.
func (c *Conn) beginAppend(ctx context.Context, w memory.Write, m *nats.Msg) (context.Context, telemetry.Span) {
	ctx, span := telemetry.Begin(ctx, c.Tracer, trace.SpanKindProducer, "append write")
	span.Text(telemetry.Bank, string(w.Bank)).Text(telemetry.Kind, string(w.Kind))
	telemetry.Inject(ctx, m.Header)
	return ctx, span
}

// NewMsg returns a message with a Nats-Msg-Id, by which the broker recognizes a repeat.
func NewMsg(subject, id string, body []byte) *nats.Msg {
	return &nats.Msg{Subject: subject, Data: body, Header: nats.Header{jetstream.MsgIDHeader: []string{id}}}
}

// publishWithin is how long a publish may take that has no deadline of its own.
const publishWithin = 10 * time.Second

// StallWait is how long an asynchronous publish waits while too many others are not acknowledged.
const StallWait = 5 * time.Second

// BankChange is a change of a bank.
type BankChange struct {
	Bank   memory.BankID
	Change memory.Change
	Trace  string // trace context, as telemetry.Line returns it; "" = none
}

// PublishChanges announces changes in order, perhaps together with those of concurrent calls, and returns when all are acknowledged. Their ids are the Nats-Msg-Ids:
// repeating a call that failed in part announces none twice.
func (c *Conn) PublishChanges(ctx context.Context, changes []BankChange) error {
	msgs := make([]*nats.Msg, len(changes))
	for i, ch := range changes {
		body, err := memory.Encode(ch.Change)
		if err != nil {
			return fmt.Errorf("encode change %s: %w", ch.Change.ID, err)
		}
		msgs[i] = NewMsg(c.Naming.ChangeSubject(ch.Bank, ch.Change.What), ch.Change.ID, body)
		telemetry.Put(ch.Trace, msgs[i].Header)
	}
	together := func(ctx context.Context, msgs []*nats.Msg) (uint64, error) { return c.grouped(ctx, &c.changes, msgs) }
	return c.publishAll(ctx, msgs, together, func(i int) string { return "change " + changes[i].Change.ID })
}
