package reflect

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/reply"
	"github.com/eunoe-memory/eunoe/pkg/query/admission"
	"github.com/eunoe-memory/eunoe/pkg/query/prompt"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

const (
	// maxResponse is how long an answer may be, in bytes: well below the largest message of a broker, and more than
	// anybody reads.
	maxResponse = 128 << 10
	// withheldText is how much text of a turn that may still call tools is withheld from a stream, in bytes: what a model
	// writes beside a call is no answer, and short.
	withheldText = 160
	// maxNamed bounds the invented citations that are named in degraded.
	maxNamed = 5
)

// The failures of a model that are told apart.
var (
	errNoAnswer = errors.New("no answer")
	errTooLong  = errors.New("the answer does not end")
)

// conversation is one conversation with a language model about one request.
type conversation struct {
	*Reflector
	bank   memory.BankID
	q      recall.Request
	max    int // turns
	taken  int // turns
	first  recall.Found
	items  prompt.ItemList
	asked  map[string]bool // searches, by searchKey
	turns  []memory.Turn
	pieces *stream

	notFound bool // the model says that memory does not hold the answer
	degraded []string
}

func (r *Reflector) newConversation(bank memory.BankID, q recall.Request, turns int, first recall.Found, pieces *stream) *conversation {
	c := &conversation{Reflector: r, bank: bank, q: q, max: turns, first: first, pieces: pieces, asked: map[string]bool{searchKey(q, q.Query): true},
		items: prompt.ItemList{Redact: r.Redact}, degraded: append([]string{}, first.Reply.Degraded...)}
	if end := q.Started.Add(r.cfg.Timeout); q.Deadline.IsZero() || end.Before(q.Deadline) {
		c.q.Deadline = end
	}
	c.q.Adequacy = 0
	return c
}

// answer returns the model's answer, or why there is none. Where the bank holds nothing at all, no model is asked and the
// answer says so; an answer that comes though nothing was found is replaced by the same words.
func (c *conversation) answer(ctx context.Context, first *sections) (r wire.ReflectReply, failed string, err error) {
	found := prompt.Fence(c.lines(first))
	if c.items.Len() == 0 {
		holds, err := c.bankHoldsAnything(ctx)
		if err != nil {
			return r, "", err
		}
		if !holds {
			return c.reply(nothingFound, prompt.NewCiter(c.shown)), "", nil
		}
	}
	ctx, cancel := context.WithDeadline(ctx, c.q.Deadline)
	defer cancel()
	end, err := c.converse(ctx, found)
	if err == nil && len(end.Text) > maxResponse {
		err = errTooLong
	}
	switch {
	case err == nil:
	case ctx.Err() != nil || errors.Is(err, memory.ErrDeadline):
		return r, "the language model did not answer in time", nil
	case errors.Is(err, errNoAnswer):
		return r, "the language model gave no answer", nil
	case errors.Is(err, errTooLong):
		return r, "the language model's answer was too long", nil
	default:
		c.Log.Warn().Str("stage", memory.StageReflect).Str("bank", string(c.bank)).Str("error", err.Error()).Msg("the context is given in place of an answer")
		return r, "the language model failed", nil
	}
	citer := prompt.NewCiter(c.shown)
	if c.items.Len() == 0 {
		return c.reply(nothingFound, citer), "", nil
	}
	response := citer.Write(end.Text) + citer.End()
	for _, n := range end.Cited {
		if c.shown(n) {
			citer.Number(n)
			continue
		}
		citer.Reject(fmt.Sprintf("[%d]", n))
	}
	for _, name := range end.Invalid {
		citer.Reject(fmt.Sprintf("%q", c.Redact(name)))
	}
	if strings.TrimSpace(response) == "" {
		return r, "the language model gave no answer", nil
	}
	c.notFound = end.NotFound || citer.None()
	return c.reply(response, citer), "", nil
}

// converse asks the model, turn by turn, and returns its answer.
func (c *conversation) converse(ctx context.Context, found string) (prompt.Answer, error) {
	for c.taken < c.max {
		last := c.taken == c.max-1
		out, err := c.complete(ctx, found, last)
		if errors.Is(err, memory.ErrUnavailable) && ctx.Err() == nil && c.pieces.begun() {
			out, err = c.complete(ctx, found, last) // a provider repeats no call of which it has sent pieces
		}
		c.taken++
		if err != nil {
			return prompt.Answer{}, err
		}
		if answer, ok := doneAnswer(out.Calls); ok {
			return answer, c.noteTruncation(out)
		}
		if len(out.Calls) == 0 || last {
			if strings.TrimSpace(out.Text) == "" {
				return prompt.Answer{}, errNoAnswer
			}
			return prompt.Answer{Text: out.Text}, c.noteTruncation(out)
		}
		turn, err := c.runCalls(ctx, out)
		if err != nil {
			return prompt.Answer{}, err
		}
		if c.taken == c.max-1 {
			turn.Results[len(turn.Results)-1] += "\n\n" + prompt.LastTurn
		}
		c.turns = append(c.turns, turn)
	}
	return prompt.Answer{}, errNoAnswer
}

// noteTruncation notes that an answer ended at the model's limit of tokens. It returns no error.
func (c *conversation) noteTruncation(out memory.Completion) error {
	if out.Truncated {
		c.degraded = append(c.degraded, "answer: it was cut off at the language model's limit of tokens")
	}
	return nil
}

// complete asks the model once. While nothing was found nothing is streamed, for it would be replaced.
func (c *conversation) complete(ctx context.Context, found string, last bool) (memory.Completion, error) {
	b := c.first.Bank
	p := memory.Prompt{
		System: prompt.System(prompt.Setting{Traits: b.Disposition, Mission: c.Redact(b.Mission), Background: c.Redact(b.Background),
			Turns: c.max, Now: c.q.Now, AsOf: c.q.Filter.AsOf, Streamed: c.pieces != nil}),
		User: prompt.Ask(c.Redact(c.q.Query), found, c.max == 1), Turns: c.turns, Tools: prompt.Tools(last)}
	if c.pieces != nil && c.items.Len() > 0 {
		withheld := withheldText
		if last {
			withheld = 0
		}
		c.pieces.begin(c.shown, withheld)
		p.StreamCall, p.Stream = c.pieces.call, c.pieces.text
	}
	defer admission.Leave(ctx)()
	return c.Model.Complete(ctx, p)
}

// shown reports whether an item was shown under a number.
func (c *conversation) shown(n int) bool {
	_, ok := c.items.Item(n)
	return ok
}

// reply returns the reply of an answer, with the items it cites.
func (c *conversation) reply(response string, citer *prompt.Citer) wire.ReflectReply {
	r := wire.ReflectReply{Response: response, Citations: []wire.Citation{}, FactsUsed: []string{}, Turns: c.taken, Mode: StyleAnswer,
		Degraded: c.degraded, Fresh: c.first.Reply.Fresh, Tokens: text.CountTokens(response), Judged: c.first.Reply.Judged}
	for _, n := range citer.Cited() {
		item, _ := c.items.Item(n)
		r.Citations = append(r.Citations, wire.Citation{ID: item.ID, Text: item.Text})
		if item.Record == memory.RecordFact {
			r.FactsUsed = append(r.FactsUsed, item.ID)
		}
	}
	if invented := citer.Invented(); len(invented) > 0 {
		more := ""
		if n := len(invented) - maxNamed; n > 0 {
			invented, more = invented[:maxNamed], fmt.Sprintf(" and %d more", n)
		}
		r.Degraded = append(r.Degraded, "citations: "+strings.Join(invented, ", ")+more+" dropped; the answer was never shown them")
	}
	if len(r.Citations) == 0 && c.items.Len() > 0 && !c.notFound {
		r.Degraded = append(r.Degraded, "citations: the answer names nothing that it rests on")
	}
	return r
}

// bankHoldsAnything reports whether the bank holds anything of the records that are asked for.
func (c *conversation) bankHoldsAnything(ctx context.Context) (bool, error) {
	rows := 0
	err := c.Store.Search(ctx, c.bank, c.q.Filter, func(s recall.Searcher) error {
		for _, r := range memory.Records {
			if !c.q.Filter.Finds(r) {
				continue
			}
			n, err := s.Size(r)
			if rows += n; err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, memory.ErrNotFound) {
		err = nil // the request waits for what has not come
	}
	return rows > 0, err
}

// doneAnswer returns the answer of the first call that ends the conversation, if it can be read.
func doneAnswer(calls []memory.ToolCall) (prompt.Answer, bool) {
	for _, call := range calls {
		if call.Name == prompt.ToolDone {
			args, err := arguments(call)
			if err != nil {
				return prompt.Answer{}, false
			}
			answer, err := args.Done()
			return answer, err == nil
		}
	}
	return prompt.Answer{}, false
}

// arguments reads what a model wrote as the arguments of a call.
func arguments(call memory.ToolCall) (prompt.Arguments, error) {
	obj, _, err := reply.Object(call.Arguments)
	return obj, err
}
