package extract

import (
	"context"
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// read fetches the text of a window's messages, secrets redacted. A message
// that is gone was forgotten and is left out; a malformed one is dead and left
// out; one that repeats an earlier one's id is its duplicate and left out, or its
// words would stand under the other's name; a carried one is not extracted. Nothing is read for a window of carried
// messages alone, and context only where the extractor asks for it.
func (w *Worker) read(ctx context.Context, window memory.Window) (Input, error) {
	in := Input{Bank: window.Bank, Session: window.Session, Window: window}
	var fresh, before []uint64
	for _, m := range window.New {
		if m.Carry == "" {
			fresh = append(fresh, m.Seq)
		}
	}
	if reader, ok := w.deps.Extractor.(ContextReader); ok && reader.NeedsContext() {
		before = window.Context
	}
	if len(fresh) == 0 {
		return in, nil
	}
	found, err := w.deps.Conn.Messages(ctx, append(append([]uint64(nil), before...), fresh...))
	if err != nil {
		return Input{}, fmt.Errorf("read messages of window %s: %w", window.ID, err)
	}
	pick := func(seqs []uint64) []memory.Message {
		var out []memory.Message
		said := map[memory.MessageID]bool{}
		for _, seq := range seqs {
			e, ok := found[seq]
			if !ok || e.Bank != window.Bank || e.Session != window.Session {
				continue
			}
			if m, err := e.Message(); err == nil && !said[m.ID] {
				said[m.ID] = true
				out = append(out, m)
			}
		}
		return out
	}
	in.New, in.Context = redacted(pick(fresh), w.deps.Redactor), redacted(pick(before), w.deps.Redactor)
	if len(in.New) > 0 {
		in.Profile, in.Entities = w.profile(ctx, window.Bank), w.entities(ctx, window.Bank)
	}
	return in, nil
}

// entitiesWait bounds the wait for known entities.
const entitiesWait = 200 * time.Millisecond

func (w *Worker) entities(ctx context.Context, bank memory.BankID) []memory.Entity {
	if w.deps.Entities == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, entitiesWait)
	defer cancel()
	known, err := w.deps.Entities(ctx, bank)
	if err != nil {
		return nil
	}
	return known
}

func (w *Worker) profile(ctx context.Context, bank memory.BankID) memory.Bank {
	if w.deps.Profile != nil {
		if b, err := w.deps.Profile(ctx, bank); err == nil {
			b.Instructions, b.Mission = w.deps.Redactor.Redact(b.Instructions), w.deps.Redactor.Redact(b.Mission)
			return b
		}
	}
	return memory.Bank{ID: bank, Disposition: memory.DefaultDisposition()}
}
