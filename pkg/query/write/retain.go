package write

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/request"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// Retain stores facts by hand, or a text as a message of its own. An invalid fact among valid ones is refused alone.
func (a *Appender) Retain(ctx context.Context, bank memory.BankID, r wire.RetainRequest) (wire.RetainReply, error) {
	op, wait, err := a.control(r.WriteControl)
	if err != nil {
		return wire.RetainReply{}, err
	}
	switch {
	case len(r.Facts) > 0 && r.Text != "":
		return wire.RetainReply{}, memory.Invalid("text", "must not stand beside facts; give one of them")
	case r.Text != "":
		return a.retainText(ctx, bank, r, op, wait)
	case len(r.Facts) == 0:
		return wire.RetainReply{}, memory.Invalid("facts", "must not be empty; give facts or a text")
	case len(r.Facts) > memory.MaxFacts:
		return wire.RetainReply{}, memory.Invalid("facts", "has %d facts; at most %d are allowed", len(r.Facts), memory.MaxFacts)
	case r.Speaker != "":
		return wire.RetainReply{}, memory.Invalid("speaker", "belongs to a text; each fact has a speaker of its own")
	case r.Session != "":
		return wire.RetainReply{}, memory.Invalid("session", "belongs to a text, not to facts")
	case r.Time != nil:
		return wire.RetainReply{}, memory.Invalid("time", "belongs to a text; a fact has said and occurred")
	}
	if out, err := a.before(ctx, bank, op); err != nil || out != nil {
		return a.retained(ctx, bank, out, err)
	}
	if err := a.checkQuotas(ctx, bank, "", ""); err != nil {
		return wire.RetainReply{}, err
	}
	w := memory.Write{Bank: bank, Kind: memory.WriteRetain, Op: op}
	// An invalid fact is refused alone, unless all are invalid; a vector of another model refuses all.
	var kept []memory.FactInput
	var first error
	for i, in := range r.Facts {
		f, err := a.retainedFact(bank, in, request.Element("facts", i), a.deps.Now())
		if errors.Is(err, memory.ErrInvalid) {
			first = cmp.Or(first, err)
			w.Refused = append(w.Refused, memory.WriteResult{Key: validKey(in.Key), Outcome: memory.OutcomeRefused, Reason: err.Error()})
			continue
		}
		if err != nil {
			return wire.RetainReply{}, err
		}
		f.Ops = []string{op}
		w.Facts, kept = append(w.Facts, f), append(kept, in)
	}
	if len(kept) == 0 {
		return wire.RetainReply{}, first
	}
	w.Usage = a.embedFacts(ctx, w.Facts)
	if err := a.nameSources(ctx, bank, kept, &w, wait); err != nil {
		return wire.RetainReply{}, err
	}
	out, err := a.write(ctx, w, wait)
	return a.retained(ctx, bank, &out, err)
}

// validKey returns a key as a result names it: "" if it is invalid.
func validKey(key string) string {
	if memory.CheckID("key", key) != nil {
		return ""
	}
	return key
}

func (a *Appender) retained(ctx context.Context, bank memory.BankID, out *memory.WriteOutcome, err error) (wire.RetainReply, error) {
	if err != nil {
		return wire.RetainReply{}, err
	}
	if out.Code != 0 {
		return wire.RetainReply{}, Refusal(*out)
	}
	results := out.Results
	if results == nil {
		results = []memory.WriteResult{}
	}
	return wire.RetainReply{Op: out.Op, Write: out.Write, Results: results}, a.tellCollisions(ctx, bank, results)
}

// checkQuotas returns memory.ErrQuota with the quota's name when a bank holds as many live facts, or as many bytes of
// messages, as it may, or when a text would exceed the bytes. A bank that is not made yet has room, and so has a message
// that is stored already.
func (a *Appender) checkQuotas(ctx context.Context, bank memory.BankID, id memory.MessageID, text string) error {
	err := a.deps.Store.Read(ctx, bank, func(r Reader) error {
		b, err := r.Bank()
		if err != nil || b.Quotas == nil {
			return err
		}
		if id != "" {
			if stored, err := r.SourcesNamed([]memory.MessageID{id}); err != nil || len(stored) > 0 {
				return err
			}
		}
		if most := b.Quotas.Facts; most > 0 {
			t, err := r.Tally()
			if err != nil {
				return err
			}
			if int64(t.Facts) >= most {
				return overQuota("facts", "the bank holds %d facts and may hold %d", t.Facts, most)
			}
		}
		if most := b.Quotas.Bytes; most > 0 {
			n, err := r.Bytes()
			if err != nil {
				return err
			}
			if n >= most || n+int64(len(text)) > most {
				return overQuota("bytes", "the bank holds %d bytes of messages and may hold %d", n, most)
			}
		}
		return nil
	})
	if errors.Is(err, memory.ErrNotFound) {
		return nil
	}
	return err
}

func overQuota(name, format string, args ...any) error {
	return &memory.FieldError{Field: "quotas." + name, Message: fmt.Sprintf(format, args...), Meaning: memory.ErrQuota}
}
