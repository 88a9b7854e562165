package consolidate

import (
	"context"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/eunoe-memory/eunoe/internal/longwork"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Redactor replaces secrets in a text. It is safe for concurrent use.
type Redactor interface {
	Redact(text string) string
}

// MessageBatch is a run of events of MEM_MESSAGES and what of it the store keeps.
type MessageBatch struct {
	Events []events.Event
	Kept   []MessageEvent
	Last   uint64 // the position moves there
	// To is where the position moves, if not to Last: some banks are ahead of others.
	To    *memory.MessagePosition
	taken int  // events of the queue that this batch is
	held  bool // they are of a held bank
	// End is the last event of the run where it is not among Kept, as a flush: it has a sequence and a time, and no state.
	End *MessageEvent
}

// DecodeMessages decodes a run of message events, long ones at once as far as a limit allows; without one, on all cores. The
// error is that of ctx. Flushes, acknowledgements of a broker and events
// of banks that do not decode are not kept. A malformed message is kept as a dead event.
func DecodeMessages(ctx context.Context, run []events.Event, redact Redactor, limit *longwork.Limit) (MessageBatch, error) {
	if len(run) == 0 {
		return MessageBatch{}, nil
	}
	out := MessageBatch{Events: run, Last: run[len(run)-1].Seq}
	decoded := make([]*MessageEvent, len(run))
	decode := func(i int) error {
		done, err := limit.Begin(ctx, len(run[i].Data))
		if err == nil {
			decoded[i] = decodeMessage(run[i], redact)
			done()
		}
		return err
	}
	size := 0
	for _, e := range run {
		size += len(e.Data)
	}
	if size < decodeAtOnce {
		for i := range run {
			if err := decode(i); err != nil {
				return out, err
			}
		}
	} else { // long messages, of which each takes a while
		var group errgroup.Group
		group.SetLimit(runtime.GOMAXPROCS(0))
		for i := range run {
			group.Go(func() error { return decode(i) })
		}
		if err := group.Wait(); err != nil {
			return out, err
		}
	}
	for _, kept := range decoded {
		if kept != nil {
			out.Kept = append(out.Kept, *kept)
		}
	}
	if end := run[len(run)-1]; len(out.Kept) == 0 || out.Kept[len(out.Kept)-1].Seq != end.Seq {
		out.End = &MessageEvent{Seq: end.Seq, Stored: memory.At(end.Stored)}
	}
	return out, nil
}

// decodeAtOnce is the size in bytes from which the messages of a run are decoded at once.
const decodeAtOnce = 256 << 10

// decodeMessage returns what the store keeps of an event, nil for nothing.
func decodeMessage(e events.Event, redact Redactor) *MessageEvent {
	if e.Err != nil || e.Kind != events.KindMessage || memory.IsForeign(e.Data) {
		return nil
	}
	kept := &MessageEvent{Seq: e.Seq, Bank: e.Bank, Session: e.Session, Stored: memory.At(e.Stored), State: memory.StatePending}
	m, err := e.Message()
	if err != nil {
		kept.State = memory.StateDead
		kept.ID, kept.Speaker = memory.ReadableNames(e.Data)
		return kept
	}
	m.Content = strings.ReplaceAll(m.Content, "\x00", "\uFFFD")
	if redacted := redact.Redact(m.Content); redacted != m.Content {
		kept.Indexed = redacted
	}
	for i := range m.Images { // of this message alone: it was just decoded
		m.Images[i].Caption = redact.Redact(m.Images[i].Caption)
	}
	kept.Message = &m
	return kept
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
		if e.Elsewhere() {
			out[i] = decodedWrite{Write: Write{Event: e}}
			continue
		}
		w, err := e.Write()
		out[i] = decodedWrite{Write: Write{Event: e, Write: &w}, err: err}
	}
	return out
}
