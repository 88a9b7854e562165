package erasure

import (
	"context"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/deadletter"
	"github.com/eunoe-memory/eunoe/pkg/events/kv"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Entry is a stream event to erase.
type Entry struct {
	No     int64 // ascending in the order of commits
	Bank   memory.BankID
	Stream string // by its default name; the suffix tells the kind of stream
	Seq    uint64
	Op     string // of the forget
	Whole  bool   // nothing of the write is kept, because its bank was erased
}

// finishForget erases what the store does not know of: dead letters about what was forgotten, and of a session or bank
// also what is no message. It returns the rest of the forget: its receipt, and what it named if that is an id.
func (e *Eraser) finishForget(ctx context.Context, w memory.Write) (memory.Write, error) {
	rest := memory.Write{Bank: w.Bank, Kind: memory.WriteForget, Op: w.Op, Time: w.Time, Upto: w.Upto, Usage: w.Usage,
		Forget: &memory.ForgetRequest{ID: w.Forget.ID, Bank: w.Forget.Bank, KeepMessages: w.Forget.KeepMessages}}
	if err := e.eraseDeadLetters(ctx, w.Bank, w); err != nil {
		return rest, err
	}
	if err := e.sweep(ctx, w); err != nil {
		return rest, err
	}
	if err := kv.OpenRecalls(e.deps.Conn).Forget(ctx, w.Bank); err != nil {
		return rest, fmt.Errorf("forget the kept recalls of %s: %w", w.Bank, err)
	}
	out, err := e.deps.Store.Outcome(ctx, w.Bank, w.Op)
	if err != nil {
		return rest, fmt.Errorf("read the receipt of %s: %w", w.Op, err)
	}
	if rest.Receipt = w.Receipt; out != nil && out.Receipt != nil {
		rest.Receipt = out.Receipt
	}
	if rest.Receipt == nil {
		rest.Receipt = &memory.Receipt{Op: w.Op, Upto: w.Upto}
	}
	return rest, nil
}

// sweep erases the events of a forgotten session or bank that are no messages: flushes that hold more than they should,
// acknowledgements that came back, and for a bank all there is, messages of undecodable sessions and dead writes included.
func (e *Eraser) sweep(ctx context.Context, w memory.Write) error {
	names := e.deps.Conn.Naming
	filter := ""
	switch {
	case w.Forget.Bank:
		filter = names.StoredOfBank(w.Bank)
	case w.Forget.Session != "":
		filter = names.StoredOfSession(w.Bank, w.Forget.Session)
	default:
		return nil
	}
	err := e.eraseMatching(ctx, names.Messages(), filter, func(ev events.Event) (bool, error) {
		if ev.Seq > w.Upto && !w.Forget.Bank {
			return false, ordered.ErrSkipRest
		}
		return ev.Seq <= w.Upto && (w.Forget.Bank || holdsWords(ev)), nil
	})
	if err != nil || !w.Forget.Bank {
		return err
	}
	return e.eraseMatching(ctx, names.Writes(), names.BankKind(w.Bank, events.KindWrite), func(ev events.Event) (bool, error) {
		if ev.Seq >= w.Seq {
			return false, ordered.ErrSkipRest
		}
		if _, err := ev.Write(); err != nil {
			return true, nil
		}
		return ev.What != string(memory.WriteErased) && ev.What != string(memory.WriteRest), nil
	})
}

// holdsWords reports whether an event that is no message of the store may hold words.
func holdsWords(ev events.Event) bool {
	if ev.Kind != events.KindFlush {
		return memory.IsForeign(ev.Data)
	}
	return !memory.PlainFlush(ev.Data)
}

// eraseDeadLetters erases the dead letters of a bank that may hold text of forgotten messages. With a forget of a session
// or of the bank it also erases those about other events of it that were stored before.
func (e *Eraser) eraseDeadLetters(ctx context.Context, bank memory.BankID, w memory.Write) error {
	names := e.deps.Conn.Naming
	about := map[uint64][]uint64{} // letters by the messages whose text they may hold
	var seqs, letters []uint64
	_, err := ordered.Scan(ctx, e.deps.Conn, names.Dead(), []string{names.BankKind(bank, events.KindDead)}, 0, func(ev events.Event) error {
		d, err := deadletter.Read(ev)
		if err != nil {
			if w.Forget != nil && w.Forget.Bank {
				letters = append(letters, ev.Seq)
			}
			return nil
		}
		if w.Forget != nil && covers(w, d, names) {
			letters = append(letters, ev.Seq)
			return nil
		}
		for _, seq := range d.Messages(names.Messages()) {
			about[seq] = append(about[seq], ev.Seq)
			seqs = append(seqs, seq)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the dead letters of %s: %w", bank, err)
	}
	erased, err := e.deps.Store.ErasedMessages(ctx, bank, seqs)
	if err != nil {
		return fmt.Errorf("look up the messages of dead letters of %s: %w", bank, err)
	}
	for _, m := range erased {
		letters = append(letters, about[m.Seq]...)
	}
	return e.eraseEvents(ctx, names.Dead(), letters)
}

// covers reports whether a dead letter is about an event of the forgotten session or bank that was stored before.
func covers(w memory.Write, d memory.DeadLetter, names events.Naming) bool {
	switch {
	case w.Forget.Bank && d.Stream == names.Messages():
		return d.Seq <= w.Upto
	case w.Forget.Bank && d.Stream == names.Writes():
		return d.Seq < w.Seq
	case w.Forget.Bank:
		last := uint64(0)
		for _, seq := range d.Messages(names.Messages()) {
			last = max(last, seq)
		}
		return last <= w.Upto
	case w.Forget.Session != "":
		return d.Session == w.Forget.Session && d.Stream == names.Messages() && d.Seq <= w.Upto
	}
	return false
}

// eraseMatching erases the events of a stream for which match returns true.
func (e *Eraser) eraseMatching(ctx context.Context, stream, filter string, match func(events.Event) (bool, error)) error {
	var seqs []uint64
	_, err := ordered.Scan(ctx, e.deps.Conn, stream, []string{filter}, 0, func(ev events.Event) error {
		yes, err := match(ev)
		if yes {
			seqs = append(seqs, ev.Seq)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("read %s: %w", stream, err)
	}
	return e.eraseEvents(ctx, stream, seqs)
}
