package extract

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/eunoe-memory/eunoe/internal/longwork"
	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// now is the clock.
func (w *Worker) now() time.Time {
	if w.deps.Now != nil {
		return w.deps.Now()
	}
	return time.Now()
}

// extractor returns what extracts the windows of a bank now.
func (w *Worker) extractor(bank memory.BankID) (_ Extractor, fallback bool) {
	if w.deps.Fallback != nil && w.senseless.over(bank, w.now()) {
		return w.deps.Fallback, true
	}
	return w.deps.Extractor, false
}

// Extract reads the window's messages and returns the write that ends it, with its facts or as empty. Its Usage counts the
// window where Fallback extracted it, under that name. It changes nothing.
func (w *Worker) Extract(ctx context.Context, window memory.Window) (memory.Write, error) {
	in, done, err := w.read(ctx, window)
	defer func() { done() }()
	if err != nil {
		return memory.Write{}, err
	}
	if w.needsContext() { // a model is waited for, which takes no processor
		done()
		done = func() {}
	}
	extractor, fallback := w.extractor(window.Bank)
	write := w.ended(extractor, window, memory.WindowEmpty)
	if fallback && len(in.New) > 0 {
		write.Usage = []memory.StageUsage{{Stage: memory.StageExtract, Model: extractor.Name(), Usage: memory.Usage{Calls: 1}}}
	}
	if len(in.New) == 0 {
		write.By = nil // nobody was asked
		return write, nil
	}
	drafts, err := extractor.Extract(ctx, in)
	if err != nil {
		return memory.Write{}, fmt.Errorf("extract window %s: %w", window.ID, err)
	}
	write.Facts, write.Refused = Validate(in, extractor.Name(), drafts, w.deps.Redactor)
	write.Relations = Relations(in, drafts, write.Facts, w.deps.Redactor)
	done()
	done = func() {}
	if err := w.embed(ctx, write.Facts); err != nil {
		return memory.Write{}, fmt.Errorf("embed facts of window %s: %w", window.ID, err)
	}
	if len(write.Facts) > 0 {
		write.Window.Outcome = memory.WindowFacts
	}
	return write, nil
}

// read fetches the text of a window's messages with secrets redacted. It leaves out messages that are gone, for they
// were forgotten; malformed ones, which are dead; those that repeat the id of an earlier one, whose words would
// otherwise stand under the other's name; and carried ones, which are not extracted again. A window of carried messages
// alone reads nothing, and context is read only for an extractor that asks for it. done is called, once, when the work
// of a processor on the window has ended.
func (w *Worker) read(ctx context.Context, window memory.Window) (in Input, done func(), err error) {
	done = func() {}
	in = Input{Bank: window.Bank, Session: window.Session, Window: window}
	var fresh, before []uint64
	for _, m := range window.New {
		if m.Carry == "" {
			fresh = append(fresh, m.Seq)
		}
	}
	if w.needsContext() {
		before = window.Context
	}
	if len(fresh) == 0 {
		return in, done, nil
	}
	found, err := w.messages(ctx, append(append([]uint64(nil), before...), fresh...))
	if err != nil {
		return Input{}, done, fmt.Errorf("read messages of window %s: %w", window.ID, err)
	}
	if done, err = w.oneLarge(ctx, found); err != nil {
		return Input{}, func() {}, err
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
	in.New, in.Context = redacted(pick(fresh), w.deps.Redactor), tails(pick(before), w.deps.Redactor)
	if len(in.New) > 0 {
		in.Profile, in.Entities = w.profile(ctx, window.Bank), w.entities(ctx, window.Bank)
		inZone(in.New, in.Profile.Location())
		inZone(in.Context, in.Profile.Location())
	}
	return in, done, nil
}

// brokerAway is how long a window waits for a broker that is away, without leaving its worker: a cluster elects leaders within
// 9 s. A window that leaves is delivered again when the broker hears of that, which it may not while it is away.
const brokerAway = 30 * time.Second

// messages reads messages, again while the broker is away.
func (w *Worker) messages(ctx context.Context, seqs []uint64) (found map[uint64]events.Event, err error) {
	waiting, cancel := context.WithTimeout(ctx, brokerAway)
	defer cancel()
	for pauses := (events.Backoff{Min: 50 * time.Millisecond, Max: 500 * time.Millisecond}).Intervals(); ; {
		found, err = w.deps.Conn.Messages(ctx, seqs)
		if !events.Away(err) || !events.Sleep(waiting, pauses.NextBackOff()) {
			return found, err
		}
	}
}

// needsContext reports whether the extractor reads what was said before the window: a model does, rules do not.
func (w *Worker) needsContext() bool {
	reader, ok := w.deps.Extractor.(ContextReader)
	return ok && reader.NeedsContext()
}

// oneLarge waits where messages are large until no other window with such is being worked on, which takes seconds of a
// processor for some: with one for each handler, nothing else would get on.
func (w *Worker) oneLarge(ctx context.Context, found map[uint64]events.Event) (done func(), err error) {
	size := 0
	for _, e := range found {
		size += len(e.Data)
	}
	if size < longwork.From {
		return func() {}, nil
	}
	select {
	case w.large <- struct{}{}:
	case <-ctx.Done():
		return nil, events.Classify(ctx.Err(), "read a large window")
	}
	place, err := w.deps.Long.Begin(ctx, size)
	if err != nil {
		<-w.large
		return nil, events.Classify(err, "read a large window")
	}
	return func() { place(); <-w.large }, nil
}

// entitiesTimeout bounds the wait for known entities.
const entitiesTimeout = 200 * time.Millisecond

func (w *Worker) entities(ctx context.Context, bank memory.BankID) []memory.Entity {
	if w.deps.Entities == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, entitiesTimeout)
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

// embed sets the vectors of facts. While the embedder is away facts go without: they are found by their words, and get
// vectors later.
func (w *Worker) embed(ctx context.Context, facts []memory.Fact) error {
	if w.deps.Embedder == nil || len(facts) == 0 {
		return nil
	}
	texts := make([]string, len(facts))
	for i, f := range facts {
		texts[i] = f.Text
	}
	calling, span := telemetry.Start(ctx, "embed facts")
	vectors, err := w.deps.Embedder.Embed(calling, texts)
	span.Number(telemetry.Count, len(texts)).Text(telemetry.Model, w.deps.Embedder.Name()).End(err)
	if err == nil && len(vectors) != len(facts) {
		err = fmt.Errorf("%s gave %d vectors for %d texts: %w", w.deps.Embedder.Name(), len(vectors), len(facts), memory.ErrUnavailable)
	}
	switch {
	case err == nil:
	case ctx.Err() == nil && (errors.Is(err, memory.ErrUnavailable) || errors.Is(err, memory.ErrDeadline)):
		w.metrics.unembedded.Add(float64(len(facts)))
		if w.unembedded.CompareAndSwap(false, true) {
			w.deps.Log.Warn().Err(err).Str("stage", memory.StageEmbed).Msg("facts go without vectors until the embedder answers")
		}
		return nil
	default:
		return err
	}
	if w.unembedded.CompareAndSwap(true, false) {
		w.deps.Log.Info().Str("stage", memory.StageEmbed).Msg("facts have vectors again")
	}
	for i := range facts {
		facts[i].Vector, facts[i].Model = vectors[i], w.deps.Embedder.Name()
	}
	return nil
}

// ended returns the write that ends a window. Its op is the window's own, so that a redelivered window ends once.
func (w *Worker) ended(by Extractor, window memory.Window, outcome memory.WindowOutcome) memory.Write {
	op := "window:" + string(window.ID)
	if outcome == memory.WindowDead {
		op = "dead:" + string(window.ID)
	}
	write := memory.Write{
		Bank: window.Bank, Kind: memory.WriteWindow, Op: op, Upto: window.Last(),
		Window: &memory.WindowEnd{Window: window, SessionID: window.Session, Outcome: outcome, Extractor: by.Name()},
	}
	if x, ok := by.(Stamped); ok {
		stamp := x.Stamp()
		write.By = &stamp
	}
	return write
}

// appendDead appends that a window ended dead, before its dead letter is published.
func (w *Worker) appendDead(ctx context.Context, e events.Event, d memory.DeadLetter) error {
	window, err := e.Window()
	if err != nil {
		return nil // nothing that names messages can be told
	}
	write := w.ended(w.deps.Extractor, window, memory.WindowDead)
	write.Window.Reason = d.Reason
	if _, err := w.deps.Conn.AppendWrite(ctx, write); err != nil {
		return fmt.Errorf("append dead window %s: %w", window.ID, err)
	}
	w.metrics.ended(write, 0)
	return nil
}

// usageTimeout bounds writing what a failed try took.
const usageTimeout = 2 * time.Second

// appendUsage appends what a try took whose write does not come. It does so as far as it can: the window is tried again
// whether or not its tokens are counted.
func (w *Worker) appendUsage(ctx context.Context, bank memory.BankID, usage []memory.StageUsage) {
	if len(usage) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), usageTimeout)
	defer cancel()
	_, err := w.deps.Conn.AppendWrite(ctx, memory.Write{Bank: bank, Kind: memory.WriteUsage, Op: ulid.Make().String(), Usage: usage})
	if err != nil {
		w.deps.Log.Warn().Err(err).Str("bank", string(bank)).Str("stage", memory.StageExtract).Msg("what a failed try took is not counted")
	}
}

// inZone sets the local time of messages that came without an offset of their own.
func inZone(messages []memory.Message, zone *time.Location) {
	for i, m := range messages {
		if m.Local.IsZero() && !m.Time.IsZero() {
			messages[i].Local = memory.WallClock(m.Time.In(zone))
		}
	}
}
