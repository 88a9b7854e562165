package consolidate

import (
	"context"
	"errors"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// vectors embeds records of one bank. Those that the embedder refuses, shortened
// too, are left out and not tried again by this process. The error is the
// embedder's, where it takes no text at all: trying again may help.
func (l *late) vectors(ctx context.Context, bank memory.BankID, list []LateRecord) ([]memory.LateVector, error) {
	ctx = memory.WithMeter(ctx, l.meter(bank))
	out, err := l.together(ctx, list)
	if !refused(err) {
		return out, err
	}
	if _, none := l.embed(ctx, []string{"word"}); none != nil {
		return nil, err
	}
	return l.apart(ctx, list, err)
}

// refused reports an embedder's refusal of a text, which it will give again.
func refused(err error) bool {
	return errors.Is(err, memory.ErrInvalid) || errors.Is(err, memory.ErrTooLarge)
}

// together embeds records at once.
func (l *late) together(ctx context.Context, list []LateRecord) ([]memory.LateVector, error) {
	texts := make([]string, len(list))
	for i, r := range list {
		texts[i] = l.deps.Redactor.Redact(r.Text)
	}
	found, err := l.embed(ctx, texts)
	if err != nil {
		return nil, err
	}
	out := make([]memory.LateVector, len(list))
	for i, r := range list {
		out[i] = memory.LateVector{Record: r.Record, ID: r.ID, Seq: r.Seq, Model: l.embedder.Name(), Vector: found[i]}
	}
	return out, nil
}

// apart embeds records of which one is refused: by halves, and the one alone
// by as much of its beginning as is taken.
func (l *late) apart(ctx context.Context, list []LateRecord, cause error) ([]memory.LateVector, error) {
	if len(list) == 1 {
		short := list[0].shorter()
		if short.Text == "" {
			l.unfit[list[0].key()] = true
			l.deps.Log.Warn().Err(cause).Str("stage", memory.StageEmbed).Str("bank", string(list[0].Bank)).Uint64("seq", list[0].Seq).
				Msg("the embedder refuses a record, which stays without a vector")
			return nil, nil
		}
		list = []LateRecord{short}
	}
	var out []memory.LateVector
	for _, part := range halves(list) {
		found, err := l.together(ctx, part)
		if refused(err) {
			found, err = l.apart(ctx, part, err)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

func halves(list []LateRecord) [][]LateRecord {
	if len(list) < 2 {
		return [][]LateRecord{list}
	}
	return [][]LateRecord{list[:len(list)/2], list[len(list)/2:]}
}

// shorter gives the record with the first half of its text; "" at the end.
func (r LateRecord) shorter() LateRecord {
	half := len(r.Text) / 2
	if half < leastText {
		half = 0
	}
	for half > 0 && half < len(r.Text) && r.Text[half]&0xC0 == 0x80 { // inside a character
		half--
	}
	r.Text = r.Text[:half]
	return r
}

// embed gives one vector of unit length for each text.
func (l *late) embed(ctx context.Context, texts []string) ([]memory.Vector, error) {
	ctx, cancel := context.WithTimeout(ctx, lateCall)
	defer cancel()
	found, err := l.embedder.Embed(ctx, texts)
	if err != nil {
		return nil, fmt.Errorf("embed %d texts with %s: %w", len(texts), l.embedder.Name(), err)
	}
	if len(found) != len(texts) {
		return nil, fmt.Errorf("%s gave %d vectors for %d texts: %w", l.embedder.Name(), len(found), len(texts), memory.ErrUnavailable)
	}
	out := make([]memory.Vector, len(found))
	for i, v := range found {
		if err := v.Check("vector"); err != nil || len(v) != l.embedder.Dimension() {
			return nil, fmt.Errorf("%s gave a vector that cannot be compared: %w", l.embedder.Name(), memory.ErrUnavailable)
		}
		out[i] = v.Unit()
	}
	return out, nil
}
