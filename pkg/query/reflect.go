package query

import (
	"context"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// The styles of reflect.
const (
	StyleAnswer  = "answer"
	StyleContext = "context"
)

// nothing is what reflect says where memory holds nothing.
const nothing = "Memory holds nothing that bears on this."

// Reflect answers from what memory holds, by a language model that searches it
// and names what the answer rests on. Where there is none, where it fails, or
// where the request's style is context, it packs what was found into a context
// for a caller's own model, grouped and shaped by the bank's disposition.
func (s *Service) Reflect(ctx context.Context, bank memory.BankID, r memory.ReflectRequest) (memory.ReflectReply, error) {
	return s.reflect(ctx, bank, r, nil)
}

// defaultTurns is how often a model is asked where a request does not say.
const defaultTurns = 4

// reflect is Reflect that also gives the response in pieces; send may be nil.
func (s *Service) reflect(ctx context.Context, bank memory.BankID, r memory.ReflectRequest, send func(memory.Delta) error) (memory.ReflectReply, error) {
	start := time.Now()
	switch r.Style {
	case "", StyleAnswer, StyleContext:
	default:
		return memory.ReflectReply{}, memory.Invalid("style", "is not a style; expected answer or context")
	}
	turns := defaultTurns
	if r.MaxTurns != nil {
		if turns = *r.MaxTurns; turns < 1 || turns > 16 {
			return memory.ReflectReply{}, memory.Invalid("max_turns", "is %d; expected 1 to 16", turns)
		}
	}
	a, err := s.cfg.newAsk(r.RecallRequest, s.now())
	if err != nil {
		return memory.ReflectReply{}, err
	}
	a.sources = true
	meter := &memory.Meter{}
	pieces := newStream(send)
	reply, err := s.answered(memory.WithMeter(ctx, meter), bank, a, start, r.Style, turns, pieces)
	used := meter.Take()
	s.charge(bank, used)
	if err != nil {
		return memory.ReflectReply{}, err
	}
	for _, u := range used {
		reply.Usage = reply.Usage.Plus(u.Usage)
	}
	return reply, pieces.end(reply.Response)
}

// answered gives the answer of a language model, else the context.
func (s *Service) answered(ctx context.Context, bank memory.BankID, a ask, start time.Time, style string, turns int, pieces *stream) (memory.ReflectReply, error) {
	f, err := s.find(ctx, bank, a, start)
	if err != nil {
		return memory.ReflectReply{}, err
	}
	quotes, err := s.quotes(ctx, bank, f)
	if err != nil {
		return memory.ReflectReply{}, err
	}
	why, taken := "", 0
	if style != StyleContext && s.answerer != nil {
		if why, err = s.exhausted(ctx, bank); err != nil {
			return memory.ReflectReply{}, err
		}
	}
	switch {
	case style == StyleContext || why != "":
	case s.answerer == nil:
		why = "no language model is configured"
	default:
		t := s.newTalk(bank, a, start, turns, f, pieces)
		reply, failed, err := t.answer(ctx, newBriefing(f, quotes))
		if err != nil {
			return memory.ReflectReply{}, err
		}
		if failed == "" {
			return reply, nil
		}
		why, taken = failed, t.taken
	}
	reply := newBriefing(f, quotes).reply(a.maxTokens)
	reply.Degraded = append(f.reply.Degraded, reply.Degraded...)
	if why != "" {
		reply.Degraded = append(reply.Degraded, "answer: "+why+"; the context is given")
	}
	reply.Fresh, reply.Judged, reply.Turns = f.reply.Fresh, f.reply.Judged, taken
	return reply, nil
}

// quotes reads the first source message of each fact, where the disposition
// asks for what was said rather than for a paraphrase.
func (s *Service) quotes(ctx context.Context, bank memory.BankID, f found) (map[string]memory.Item, error) {
	if f.bank.Disposition.Literalism < 4 {
		return nil, nil
	}
	out := map[string]memory.Item{}
	err := s.store.Read(ctx, bank, func(r Reader) error {
		for _, i := range f.reply.Items {
			if i.Record != memory.RecordFact || len(i.Sources) == 0 {
				continue
			}
			m, err := r.Item(string(i.Sources[0]))
			if err != nil {
				return err
			}
			if m != nil && m.Record == memory.RecordMessage {
				out[i.ID] = *m
			}
		}
		return nil
	})
	return out, err
}
