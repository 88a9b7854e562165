package backfill

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

const (
	callTimeout = 2 * time.Minute // for one answer of the embedder
	minText     = 64              // bytes below which a text is not shortened further
)

// Refused reports whether an embedder refused a text for good: asking again brings the same answer.
func Refused(err error) bool {
	return errors.Is(err, memory.ErrInvalid) || errors.Is(err, memory.ErrTooLarge)
}

// Embed returns the vectors of records of one bank. A record whose text the embedder refuses, even shortened, is left
// out and not tried again by this Worker. Any other error is the embedder's: trying again may help.
func (w *Worker) Embed(ctx context.Context, bank memory.BankID, records []Record) ([]memory.LateVector, error) {
	ctx = memory.WithMeter(ctx, w.meter(bank))
	vectors, err := w.embedBatch(ctx, records)
	if !Refused(err) {
		return vectors, err
	}
	if _, probe := w.call(ctx, []string{"word"}); probe != nil { // it takes no text at all
		return nil, err
	}
	return w.bisect(ctx, records, err)
}

// embedBatch embeds records with one call.
func (w *Worker) embedBatch(ctx context.Context, records []Record) ([]memory.LateVector, error) {
	texts := make([]string, len(records))
	for i, r := range records {
		texts[i] = w.deps.Redactor.Redact(r.Text)
	}
	vectors, err := w.call(ctx, texts)
	if err != nil {
		return nil, err
	}
	out := make([]memory.LateVector, len(records))
	for i, r := range records {
		out[i] = memory.LateVector{Record: r.Record, ID: r.ID, Seq: r.Seq, Model: w.deps.Embedder.Name(), Vector: vectors[i]}
	}
	return out, nil
}

// bisect embeds records of which one is refused: in halves, and a single one by as much of its beginning as the
// embedder takes.
func (w *Worker) bisect(ctx context.Context, records []Record, cause error) ([]memory.LateVector, error) {
	parts := [][]Record{records[:len(records)/2], records[len(records)/2:]}
	if len(records) == 1 {
		short := records[0]
		if short.Text = firstHalf(short.Text); short.Text == "" {
			w.refused[records[0].key()] = true
			w.deps.Log.Warn().Err(cause).Str("stage", memory.StageEmbed).Str("bank", string(records[0].Bank)).Uint64("seq", records[0].Seq).
				Msg("the embedder refuses a record, which stays without a vector")
			return nil, nil
		}
		parts = [][]Record{{short}}
	}
	var out []memory.LateVector
	for _, part := range parts {
		vectors, err := w.embedBatch(ctx, part)
		if Refused(err) {
			vectors, err = w.bisect(ctx, part, err)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, vectors...)
	}
	return out, nil
}

// firstHalf returns the first half of a text, cut between two characters; "" where that is less than 64 bytes.
func firstHalf(text string) string {
	half := len(text) / 2
	if half < minText {
		return ""
	}
	return memory.Truncate(text, half)
}

// call returns one vector of unit length for each text.
func (w *Worker) call(ctx context.Context, texts []string) ([]memory.Vector, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	e := w.deps.Embedder
	vectors, err := e.Embed(ctx, texts)
	if err != nil {
		return nil, fmt.Errorf("embed %d texts with %s: %w", len(texts), e.Name(), err)
	}
	if len(vectors) != len(texts) {
		return nil, fmt.Errorf("%s returned %d vectors for %d texts: %w", e.Name(), len(vectors), len(texts), memory.ErrUnavailable)
	}
	out := make([]memory.Vector, len(vectors))
	for i, v := range vectors {
		if err := v.Check("vector"); err != nil || len(v) != e.Dimension() {
			return nil, fmt.Errorf("%s returned a vector that cannot be compared: %w", e.Name(), memory.ErrUnavailable)
		}
		out[i] = v.Unit()
	}
	return out, nil
}
