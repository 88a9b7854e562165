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

// Reflect packs what was found into a context for a caller's own model, grouped
// and shaped by the bank's disposition. Without a language model an answer is
// given in that form too, and degraded says so.
func (s *Service) Reflect(ctx context.Context, bank memory.BankID, r memory.ReflectRequest) (memory.ReflectReply, error) {
	start := time.Now()
	switch r.Style {
	case "", StyleAnswer, StyleContext:
	default:
		return memory.ReflectReply{}, memory.Invalid("style", "is not a style; expected answer or context")
	}
	if r.MaxTurns != nil && (*r.MaxTurns < 1 || *r.MaxTurns > 16) {
		return memory.ReflectReply{}, memory.Invalid("max_turns", "is %d; expected 1 to 16", *r.MaxTurns)
	}
	a, err := s.cfg.newAsk(r.RecallRequest, s.now())
	if err != nil {
		return memory.ReflectReply{}, err
	}
	a.sources = true
	f, err := s.find(ctx, bank, a, start)
	if err != nil {
		return memory.ReflectReply{}, err
	}
	quotes, err := s.quotes(ctx, bank, f)
	if err != nil {
		return memory.ReflectReply{}, err
	}
	c := newBriefing(f, quotes)
	reply := c.reply(a.maxTokens)
	reply.Degraded = append(f.reply.Degraded, reply.Degraded...)
	if r.Style != StyleContext {
		reply.Degraded = append(reply.Degraded, "answer: no language model is configured; the context is given")
	}
	reply.Fresh = f.reply.Fresh
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
