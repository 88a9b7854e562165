package transfer

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// read calls fn with every event of a stream behind a sequence that matches a filter, in order, up to the end that the
// stream has when it begins, or until fn returns an error.
func (e *Exporter) read(ctx context.Context, stream string, filters []string, after uint64, fn func(events.Event) error) error {
	var failed error
	_, err := ordered.Scan(ctx, e.client.Conn(), stream, filters, after, func(ev events.Event) error {
		if ev.Err != nil || ev.Bank != e.bank {
			e.Left++
			return nil
		}
		failed = fn(ev)
		return failed
	})
	switch {
	case failed != nil:
		return failed
	case err != nil && ctx.Err() == nil:
		return fmt.Errorf("read the log %s (an operator's credentials are needed): %w", stream, err)
	}
	return err
}

// messages writes the messages, and the flushes that had an effect, in the order of the log.
func (e *Exporter) messages(ctx context.Context) error {
	n := e.client.Conn().Naming
	last := map[memory.SessionID]uint64{}
	return e.read(ctx, n.Messages(), []string{n.StoredOf(e.bank, events.KindMessage), n.StoredOf(e.bank, events.KindFlush)}, 0, func(ev events.Event) error {
		if ev.Kind == events.KindFlush {
			f, err := memory.ParseFlush(ev.Data)
			if err != nil || f.Upto > 0 && last[ev.Session] > f.Upto {
				return nil // void: a newer message stood before it
			}
			return e.line(Line{Record: lineFlush, Session: ev.Session, Flush: true})
		}
		last[ev.Session] = ev.Seq
		return e.message(ev)
	})
}

// message writes a message with all its fields. A message without a time gets the time at which it was stored. One with
// fields that are named like the line's own has all of them in a field by themselves.
func (e *Exporter) message(ev events.Event) error {
	m, err := memory.ParseMessage(ev.Bank, ev.Session, ev.Seq, ev.Stored, ev.Data)
	if err != nil {
		e.Left++
		return nil
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(ev.Data, &fields); err != nil {
		e.Left++
		return nil
	}
	if fields["time"], err = json.Marshal(m.Time); err != nil {
		return err
	}
	own := map[string]any{"record": RecordMessage, "bank": ev.Bank, "session": ev.Session, "seq": ev.Seq}
	if nested := slices.ContainsFunc(lineFields, func(name string) bool { return fields[name] != nil }); nested {
		own["record"], own["body"] = lineNested, fields
		return e.write(RecordMessage, own)
	}
	for name, v := range own {
		if fields[name], err = json.Marshal(v); err != nil {
			return err
		}
	}
	return e.write(RecordMessage, fields)
}

// writes writes the requests that changed the bank, so that an import can repeat them.
func (e *Exporter) writes(ctx context.Context) error {
	n := e.client.Conn().Naming
	return e.read(ctx, n.Writes(), []string{n.BankKind(e.bank, events.KindWrite)}, 0, func(ev events.Event) error {
		w, err := ev.Write()
		if err != nil {
			e.Left++
			return nil
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
