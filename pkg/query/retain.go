package query

import (
	"cmp"
	"context"
	"errors"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Retain stores facts by hand, or a text as a message of its own.
func (s *Service) Retain(ctx context.Context, bank memory.BankID, r memory.RetainRequest) (memory.RetainReply, error) {
	op, wait, err := s.control(r.WriteControl)
	if err != nil {
		return memory.RetainReply{}, err
	}
	switch {
	case len(r.Facts) > 0 && r.Text != "":
		return memory.RetainReply{}, memory.Invalid("text", "must not stand beside facts; give one of them")
	case r.Text != "":
		return s.retainText(ctx, bank, r, op, wait)
	case len(r.Facts) == 0:
		return memory.RetainReply{}, memory.Invalid("facts", "must not be empty; give facts or a text")
	case len(r.Facts) > memory.MaxFacts:
		return memory.RetainReply{}, memory.Invalid("facts", "has %d facts; at most %d are allowed", len(r.Facts), memory.MaxFacts)
	case r.Session != "":
		return memory.RetainReply{}, memory.Invalid("session", "belongs to a text, not to facts")
	case r.Time != nil:
		return memory.RetainReply{}, memory.Invalid("time", "belongs to a text; a fact has said and occurred")
	}
	if out, err := s.store.Outcome(ctx, bank, op); err != nil || out != nil {
		return retained(out, err)
	}
	if err := s.room(ctx, bank, "", ""); err != nil {
		return memory.RetainReply{}, err
	}
	w := memory.Write{Bank: bank, Kind: memory.WriteRetain, Op: op}
	// What is wrong with one fact refuses that fact, and all where it is the
	// only kind there is; a vector of another model refuses all.
	var kept []memory.FactInput
	var first error
	for i, in := range r.Facts {
		f, err := s.retainedFact(bank, in, i, s.now())
		if errors.Is(err, memory.ErrInvalid) {
			first = cmp.Or(first, err)
			w.Refused = append(w.Refused, memory.WriteResult{Key: clipped(in.Key), Outcome: memory.OutcomeRefused, Reason: err.Error()})
			continue
		}
		if err != nil {
			return memory.RetainReply{}, err
		}
		f.Ops = []string{op}
		w.Facts, kept = append(w.Facts, f), append(kept, in)
	}
	if len(kept) == 0 {
		return memory.RetainReply{}, first
	}
	w.Usage = s.embedFacts(ctx, w.Facts)
	if err := s.nameSources(ctx, bank, kept, &w, wait); err != nil {
		return memory.RetainReply{}, err
	}
	out, err := s.write(ctx, w, wait)
	return retained(&out, err)
}

// clipped is a key for a result: "" where it is none.
func clipped(key string) string {
	if memory.CheckID("key", key) != nil {
		return ""
	}
	return key
}

func retained(out *memory.WriteOutcome, err error) (memory.RetainReply, error) {
	if err != nil {
		return memory.RetainReply{}, err
	}
	if out.Code != 0 {
		return memory.RetainReply{}, refusal(*out)
	}
	results := out.Results
	if results == nil {
		results = []memory.WriteResult{}
	}
	return memory.RetainReply{Op: out.Op, Write: out.Write, Results: results}, nil
}

// redact replaces secrets, where the settings ask for it.
func (s *Service) redact(text string) string {
	if s.redactor == nil {
		return text
	}
	return s.redactor.Redact(text)
}
