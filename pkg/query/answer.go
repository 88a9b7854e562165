package query

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/analysis"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/reply"
	"github.com/eunoe-memory/eunoe/pkg/query/answer"
)

// talk is one conversation with a language model about one request. The bank
// and the filters are the request's throughout; nothing that is read changes them.
type talk struct {
	s      *Service
	bank   memory.BankID
	a      ask
	start  time.Time
	max    int
	taken  int // turns
	first  found
	shelf  answer.Shelf
	asked  map[string]bool // searches, by what they ask
	turns  []memory.Turn
	pieces *stream

	nothing  bool // it ended with: memory does not hold it
	degraded []string
}

func (s *Service) newTalk(bank memory.BankID, a ask, start time.Time, turns int, first found, pieces *stream) *talk {
	t := &talk{s: s, bank: bank, a: a, start: start, max: turns, first: first, pieces: pieces, asked: map[string]bool{},
		shelf: answer.Shelf{Redact: s.redact}, degraded: append([]string{}, first.reply.Degraded...)}
	if t.a.deadline == 0 || s.cfg.ReflectTimeout < t.a.deadline {
		t.a.deadline = s.cfg.ReflectTimeout
	}
	t.a.adequacy, t.a.after, t.a.afterWrite = 0, 0, 0
	t.asked[key(a, a.query)] = true
	return t
}

// answer gives the model's answer, or why there is none. Memory that holds
// nothing at all is said to hold nothing, and no model is asked; an answer that
// comes though nothing was found is replaced by the same words.
func (t *talk) answer(ctx context.Context, first *briefing) (r memory.ReflectReply, failed string, err error) {
	found := t.evidence(first)
	if t.shelf.Len() == 0 {
		holds, err := t.holds(ctx)
		if err != nil {
			return r, "", err
		}
		if !holds {
			return t.reply(nothing, answer.NewCiter(t.shown)), "", nil
		}
	}
	ctx, cancel := context.WithDeadline(ctx, t.start.Add(t.a.deadline))
	defer cancel()
	end, err := t.converse(ctx, found)
	if err == nil && len(end.Text) > maxResponse {
		err = errEndless
	}
	switch {
	case err == nil:
	case ctx.Err() != nil || errors.Is(err, memory.ErrDeadline):
		return r, "the language model did not answer in time", nil
	case errors.Is(err, errSilent):
		return r, "the language model gave no answer", nil
	case errors.Is(err, errEndless):
		return r, "the language model's answer was too long", nil
	default:
		t.s.log.Warn().Str("stage", memory.StageReflect).Str("bank", string(t.bank)).Str("error", err.Error()).Msg("the context is given in place of an answer")
		return r, "the language model failed", nil
	}
	c := answer.NewCiter(t.shown)
	if t.shelf.Len() == 0 {
		return t.reply(nothing, c), "", nil
	}
	text := c.Write(end.Text) + c.End()
	for _, n := range end.Cited {
		if t.shown(n) {
			c.Number(n)
			continue
		}
		c.Reject(fmt.Sprintf("[%d]", n))
	}
	for _, name := range end.Strange {
		c.Reject(fmt.Sprintf("%q", t.s.redact(name)))
	}
	if strings.TrimSpace(text) == "" {
		return r, "the language model gave no answer", nil
	}
	t.nothing = end.Nothing || c.None()
	return t.reply(text, c), "", nil
}

// errSilent is a model that ended without an answer, errEndless one whose
// answer is longer than maxResponse.
var (
	errSilent  = errors.New("no answer")
	errEndless = errors.New("the answer does not end")
)

// maxResponse is how long an answer may be, in bytes: well below what a broker
// takes in one message, and more than anybody reads.
const maxResponse = 128 << 10

// converse asks the model, turn by turn, and gives what it ended with.
func (t *talk) converse(ctx context.Context, found string) (answer.Ending, error) {
	for t.taken < t.max {
		last := t.taken == t.max-1
		c, err := t.complete(ctx, found, last)
		if errors.Is(err, memory.ErrUnavailable) && ctx.Err() == nil && t.pieces.begun() {
			c, err = t.complete(ctx, found, last) // a provider repeats no call of which pieces went out
		}
		t.taken++
		if err != nil {
			return answer.Ending{}, err
		}
		if done := doneOf(c.Calls); done != nil {
			if args, err := arguments(*done); err == nil {
				if end, err := args.Done(); err == nil {
					return end, t.cut(c)
				}
			}
		}
		if len(c.Calls) == 0 || last {
			if strings.TrimSpace(c.Text) == "" {
				return answer.Ending{}, errSilent
			}
			return answer.Ending{Text: c.Text}, t.cut(c)
		}
		turn, err := t.serve(ctx, c)
		if err != nil {
			return answer.Ending{}, err
		}
		if t.taken == t.max-1 {
			turn.Results[len(turn.Results)-1] += "\n\n" + answer.LastTurn
		}
		t.turns = append(t.turns, turn)
	}
	return answer.Ending{}, errSilent
}

// cut says that an answer ended at the model's limit of tokens.
func (t *talk) cut(c memory.Completion) error {
	if c.Truncated {
		t.degraded = append(t.degraded, "answer: it was cut off at the language model's limit of tokens")
	}
	return nil
}

// complete asks the model once. Where nothing was found yet nothing is streamed,
// for it would not stand.
func (t *talk) complete(ctx context.Context, found string, last bool) (memory.Completion, error) {
	p := memory.Prompt{System: t.system(), User: answer.Ask(t.s.redact(t.a.query), found, t.max == 1), Turns: t.turns, Tools: answer.Tools(last)}
	if t.pieces != nil && t.shelf.Len() > 0 {
		hold := heldText
		if last {
			hold = 0
		}
		t.pieces.begin(t.shown, hold)
		p.StreamCall, p.Stream = t.pieces.call, t.pieces.text
	}
	return t.s.answerer.Complete(ctx, p)
}

func (t *talk) system() string {
	b := t.first.bank
	return answer.System(answer.Setting{Traits: b.Disposition, Mission: t.s.redact(b.Mission), Background: t.s.redact(b.Background),
		Turns: t.max, Now: t.a.now, AsOf: t.a.filter.AsOf, Plain: t.pieces != nil})
}

// heldText is how much text of a turn that may still call tools is held, in
// bytes: what a model writes beside a call is no answer, and short.
const heldText = 160

// shown reports whether an item was shown under a number.
func (t *talk) shown(n int) bool {
	_, ok := t.shelf.Item(n)
	return ok
}

// reply gives the reply of an answer and what it cites.
func (t *talk) reply(text string, c *answer.Citer) memory.ReflectReply {
	r := memory.ReflectReply{Response: text, Citations: []memory.Citation{}, FactsUsed: []string{}, Turns: t.taken, Mode: StyleAnswer,
		Degraded: t.degraded, Fresh: t.first.reply.Fresh, Tokens: analysis.CountTokens(text), Judged: t.first.reply.Judged}
	for _, n := range c.Cited() {
		item, _ := t.shelf.Item(n)
		r.Citations = append(r.Citations, memory.Citation{ID: item.ID, Text: item.Text})
		if item.Record == memory.RecordFact {
			r.FactsUsed = append(r.FactsUsed, item.ID)
		}
	}
	if invented := c.Invented(); len(invented) > 0 {
		more := ""
		if n := len(invented) - maxNamed; n > 0 {
			invented, more = invented[:maxNamed], fmt.Sprintf(" and %d more", n)
		}
		r.Degraded = append(r.Degraded, "citations: "+strings.Join(invented, ", ")+more+" dropped; the answer was never shown them")
	}
	if len(r.Citations) == 0 && t.shelf.Len() > 0 && !t.nothing {
		r.Degraded = append(r.Degraded, "citations: the answer names nothing that it rests on")
	}
	return r
}

// maxNamed bounds the invented citations that are named.
const maxNamed = 5

// holds reports whether the bank holds anything of the records that are asked for.
func (t *talk) holds(ctx context.Context) (bool, error) {
	rows := 0
	err := t.s.store.Search(ctx, t.bank, t.a.filter, func(st Searcher) error {
		for _, r := range memory.Records {
			if !t.a.records[r] {
				continue
			}
			n, err := st.Size(r)
			if rows += n; err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, memory.ErrNotFound) {
		err = nil // it waits for what has not come
	}
	return rows > 0, err
}

// doneOf gives the first call that ends the talk, nil without one.
func doneOf(calls []memory.ToolCall) *memory.ToolCall {
	for i := range calls {
		if calls[i].Name == answer.ToolDone {
			return &calls[i]
		}
	}
	return nil
}

// arguments reads what a model wrote as the arguments of a call.
func arguments(c memory.ToolCall) (answer.Arguments, error) {
	obj, _, err := reply.Object(c.Arguments)
	return obj, err
}
