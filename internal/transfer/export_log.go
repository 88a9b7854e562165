package transfer

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// logged is one event of the log.
type logged struct {
	events.Names
	seq  uint64
	meta *jetstream.MsgMetadata
	data []byte
}

// read calls fn with every event of a stream that is there now and matches a filter, in order.
func (e *Exporter) read(ctx context.Context, stream string, filters []string, fn func(logged) error) error {
	conn := e.client.Conn()
	cons, err := conn.JS.OrderedConsumer(ctx, stream, jetstream.OrderedConsumerConfig{FilterSubjects: filters, DeliverPolicy: jetstream.DeliverAllPolicy})
	if err != nil {
		return fmt.Errorf("read the log %s (an operator's credentials are needed): %w: %w", stream, err, memory.ErrUnavailable)
	}
	info, err := cons.Info(ctx)
	if err != nil {
		return fmt.Errorf("read the log %s: %w", stream, err)
	}
	if info.NumPending == 0 {
		return nil
	}
	it, err := cons.Messages()
	if err != nil {
		return fmt.Errorf("read the log %s: %w", stream, err)
	}
	defer it.Stop()
	stop := context.AfterFunc(ctx, it.Stop)
	defer stop()
	for {
		msg, err := it.Next()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("read the log %s: %w", stream, err)
		}
		meta, err := msg.Metadata()
		if err != nil {
			return fmt.Errorf("read the log %s: %w", stream, err)
		}
		names, err := conn.Naming.Parse(msg.Subject())
		if err != nil {
			e.Left++
		} else if err := fn(logged{names, meta.Sequence.Stream, meta, msg.Data()}); err != nil {
			return err
		}
		if meta.NumPending == 0 {
			return nil
		}
	}
}

// messages writes the messages, and the flushes that had an effect, in the order of the log.
func (e *Exporter) messages(ctx context.Context) error {
	n := e.client.Conn().Naming
	last := map[memory.SessionID]uint64{}
	return e.read(ctx, n.Messages(), []string{n.StoredOf(e.bank, events.KindMessage), n.StoredOf(e.bank, events.KindFlush)}, func(ev logged) error {
		if ev.Undecodable != nil || ev.Bank != e.bank {
			e.Left++
			return nil
		}
		if ev.Kind == events.KindFlush {
			f, err := memory.ParseFlush(ev.data)
			if err != nil || f.Upto > 0 && last[ev.Session] > f.Upto {
				return nil // void: a newer message stood before it
			}
			return e.line(Line{Record: lineFlush, Session: ev.Session, Flush: true})
		}
		last[ev.Session] = ev.seq
		return e.message(ev)
	})
}

// message writes a message with all its fields. A message without a time gets the time at which it was stored.
func (e *Exporter) message(ev logged) error {
	m, err := memory.ParseMessage(ev.Bank, ev.Session, ev.seq, ev.meta.Timestamp, ev.data)
	if err != nil {
		e.Left++
		return nil
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(ev.data, &fields); err != nil {
		e.Left++
		return nil
	}
	for name, v := range map[string]any{"record": RecordMessage, "bank": ev.Bank, "session": ev.Session, "seq": ev.seq, "time": m.Time} {
		data, err := json.Marshal(v)
		if err != nil {
			return err
		}
		fields[name] = data
	}
	return e.write(RecordMessage, fields)
}

// writes writes the requests that changed the bank, so that an import can repeat them.
func (e *Exporter) writes(ctx context.Context) error {
	n := e.client.Conn().Naming
	return e.read(ctx, n.Writes(), []string{n.BankKind(e.bank, events.KindWrite)}, func(ev logged) error {
		var w memory.Write
		if memory.DecodeEvent(ev.data, &w) != nil {
			e.Left++
			return nil
		}
		w.Kind = memory.WriteKind(ev.Last)
		if w.RestOf != nil {
			w.Kind = w.RestOf.Kind
		}
		if w.Time.IsZero() {
			w.Time = ev.meta.Timestamp
		}
		endpoint, body := requestOf(w)
		if endpoint == "" {
			return nil
		}
		data, err := json.Marshal(body)
		if err != nil {
			return err
		}
		at := memory.At(w.Time)
		return e.line(Line{Record: RecordWrite, Request: endpoint, Op: w.Op, Time: &at, Body: data})
	})
}

// requestOf returns the request that repeats a write, "" for a write that is not repeated: windows are made from
// messages, the profile has a line of its own, and forgotten records are gone.
func requestOf(w memory.Write) (endpoint string, body any) {
	switch {
	case w.Kind == memory.WriteRetain && len(w.Facts) > 0:
		req := wire.RetainRequest{}
		for _, f := range w.Facts {
			req.Facts = append(req.Facts, asInput(f))
		}
		return "retain", req
	case w.Kind == memory.WriteEdit && w.Edit != nil:
		w.Edit.Version = nil
		return "edit", w.Edit
	case w.Kind == memory.WriteConflict && w.Conflict != nil:
		w.Conflict.Version = nil
		return "conflicts", w.Conflict
	case w.Kind == memory.WriteAlias && w.Alias != nil:
		return "alias", w.Alias
	case w.Kind == memory.WriteApply && len(w.Apply) > 0:
		return "apply", curationOf(w)
	case w.Kind == memory.WriteUndo && w.Undo != "":
		return "undo", wire.UndoRequest{Apply: w.Undo}
	case w.Kind == memory.WriteFeedback && w.Feedback != nil:
		return "feedback", w.Feedback
	case w.Kind == memory.WriteObserve && w.Observe != nil:
		return "observe", w.Observe
	case w.Kind == memory.WriteConsolidate && w.Consolidate != nil:
		return "consolidate", w.Consolidate
	}
	return "", nil
}

// asInput returns a fact of the log in the form in which it was retained.
func asInput(f memory.Fact) memory.FactInput {
	in := memory.FactInput{Key: f.Key, Text: f.Text, Kind: f.Kind, Type: f.Type, Tags: f.Tags, Speaker: f.Speaker,
		Sources: f.MessageIDs(), Vector: f.Vector, Metadata: f.Metadata, Said: &f.Said, Confidence: &f.Confidence}
	for _, e := range f.Entities {
		in.Entities = append(in.Entities, string(e))
	}
	if !f.Occurred.IsZero() {
		in.Occurred = &f.Occurred
	}
	if f.Bounds != nil {
		in.Valid = &memory.Interval{From: f.Bounds.From, To: f.Bounds.To}
	}
	return in
}
