package consolidate

import (
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Redactor replaces secrets in a text.
type Redactor interface {
	Redact(text string) string
}

// MessageBatch is a run of events of MEM_MESSAGES and what of it the store keeps.
type MessageBatch struct {
	Events []events.Event
	Kept   []MessageEvent
	Last   uint64 // the position moves there
	// End is the last event of the run where it is not among Kept, as a flush: it has a sequence and a time, and no state.
	End *MessageEvent
}

// DecodeMessages decodes a run of message events, which is not empty. Flushes, acknowledgements of a broker and events
// of banks that do not decode are not kept. A malformed message is kept as a dead event.
func DecodeMessages(run []events.Event, redact Redactor) MessageBatch {
	out := MessageBatch{Events: run, Last: run[len(run)-1].Seq}
	for _, e := range run {
		if e.Err != nil || e.Kind != events.KindMessage || memory.IsForeign(e.Data) {
			continue
		}
		kept := MessageEvent{Seq: e.Seq, Bank: e.Bank, Session: e.Session, Stored: memory.At(e.Stored), State: memory.StatePending}
		if m, err := e.Message(); err != nil {
			kept.State = memory.StateDead
			kept.ID, kept.Speaker = memory.ReadableNames(e.Data)
		} else {
			m.Content = strings.ReplaceAll(m.Content, "\x00", "\uFFFD")
			if redacted := redact.Redact(m.Content); redacted != m.Content {
				kept.Indexed = redacted
			}
			kept.Message = &m
		}
		out.Kept = append(out.Kept, kept)
	}
	if end := run[len(run)-1]; len(out.Kept) == 0 || out.Kept[len(out.Kept)-1].Seq != end.Seq {
		out.End = &MessageEvent{Seq: end.Seq, Stored: memory.At(end.Stored)}
	}
	return out
}

// Write is an event of MEM_WRITES. One without a decoded write only moves the position.
type Write struct {
	Event events.Event
	Write *memory.Write // nil = nothing to apply
}

// decodedWrite is a write as it was read, with the error that makes it a dead letter.
type decodedWrite struct {
	Write
	err error
}

func decodeWrites(run []events.Event) []decodedWrite {
	out := make([]decodedWrite, len(run))
	for i, e := range run {
		w, err := e.Write()
		out[i] = decodedWrite{Write: Write{Event: e, Write: &w}, err: err}
	}
	return out
}
