package extract

import (
	"context"
	"fmt"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Extract reads the window's messages and gives the write that ends it:
// facts, or empty where there are none, without Usage. It changes nothing.
func (w *Worker) Extract(ctx context.Context, window memory.Window) (memory.Write, error) {
	in, err := w.read(ctx, window)
	if err != nil {
		return memory.Write{}, err
	}
	write := w.ended(window, memory.WindowEmpty)
	if len(in.New) == 0 {
		write.By = nil // nobody was asked
		return write, nil
	}
	drafts, err := w.deps.Extractor.Extract(ctx, in)
	if err != nil {
		return memory.Write{}, fmt.Errorf("extract window %s: %w", window.ID, err)
	}
	write.Facts, write.Refused = Validate(in, w.deps.Extractor.Name(), drafts, w.deps.Redactor)
	write.Relations = Relations(in, drafts, write.Facts, w.deps.Redactor)
	if err := w.embed(ctx, write.Facts); err != nil {
		return memory.Write{}, fmt.Errorf("embed facts of window %s: %w", window.ID, err)
	}
	if len(write.Facts) > 0 {
		write.Window.Outcome = memory.WindowFacts
	}
	return write, nil
}

// ended is the write that ends a window. Its op is the window's own, so that
// a redelivered window ends once.
func (w *Worker) ended(window memory.Window, outcome memory.WindowOutcome) memory.Write {
	op := "window:" + string(window.ID)
	if outcome == memory.WindowDead {
		op = "dead:" + string(window.ID)
	}
	write := memory.Write{
		Bank: window.Bank, Kind: memory.WriteWindow, Op: op, Upto: window.Last(),
		Window: &memory.WindowEnd{Window: window, SessionID: window.Session, Outcome: outcome, Extractor: w.deps.Extractor.Name()},
	}
	if x, ok := w.deps.Extractor.(Stamped); ok {
		stamp := x.Stamp()
		write.By = &stamp
	}
	return write
}

// bury tells the log that a window ended dead, before its dead letter is published.
func (w *Worker) bury(ctx context.Context, e events.Event, d events.DeadLetter) error {
	window, err := e.Window()
	if err != nil {
		return nil // nothing that names messages can be told
	}
	write := w.ended(window, memory.WindowDead)
	write.Window.Reason = d.Reason
	if _, err := w.deps.Conn.AppendWrite(ctx, write); err != nil {
		return fmt.Errorf("append dead window %s: %w", window.ID, err)
	}
	w.metrics.ended(write, 0)
	return nil
}

// usageWait bounds the append of what a failed try took.
const usageWait = 2 * time.Second

// spent appends what a try took whose write does not come, as far as it can:
// the window is tried again whether or not it is counted.
func (w *Worker) spent(ctx context.Context, bank memory.BankID, usage []memory.StageUsage) {
	if len(usage) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), usageWait)
	defer cancel()
	_, err := w.deps.Conn.AppendWrite(ctx, memory.Write{Bank: bank, Kind: memory.WriteUsage, Op: ulid.Make().String(), Usage: usage})
	if err != nil {
		w.deps.Log.Warn().Err(err).Str("bank", string(bank)).Str("stage", memory.StageExtract).Msg("what a failed try took is not counted")
	}
}
