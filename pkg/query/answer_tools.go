package query

import (
	"context"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/answer"
)

// maxCalls bounds the calls of one turn that are carried out.
const maxCalls = 8

// outcome is what a call came to, before its items have numbers: they get them
// in the order of the calls, however the calls end.
type outcome struct {
	refused error // told to the model
	parts   []part
}

// part is one search or expansion of a call.
type part struct {
	title string // quoted
	brief *briefing
	note  string // in place of items
}

// serve carries out the calls of a turn, some at once, and gives their results
// in their order. Whatever a model calls or writes into a call costs it that
// call alone.
func (t *talk) serve(ctx context.Context, c memory.Completion) (memory.Turn, error) {
	turn := memory.Turn{Text: c.Text, Calls: make([]memory.ToolCall, len(c.Calls)), Results: make([]string, len(c.Calls))}
	copy(turn.Calls, c.Calls)
	outcomes := make([]outcome, len(c.Calls))
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i := range turn.Calls {
		if turn.Calls[i].ID == "" {
			turn.Calls[i].ID = fmt.Sprintf("call_%d_%d", t.taken, i+1)
		}
		run, err := t.prepare(turn.Calls[i], i)
		if err != nil {
			outcomes[i].refused = err
			continue
		}
		group.Go(func() error {
			var err error
			outcomes[i], err = run(inner)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return turn, err
	}
	for i, o := range outcomes {
		turn.Results[i] = t.result(o)
	}
	return turn, nil
}

// work carries out one call. Its error ends the talk.
type work func(context.Context) (outcome, error)

// prepare reads a call. It runs before any call of the turn does, so that two
// calls for the same are seen to be.
func (t *talk) prepare(c memory.ToolCall, place int) (work, error) {
	if place >= maxCalls {
		return nil, memory.Invalid("", "at most %d calls of a turn are carried out", maxCalls)
	}
	args, err := arguments(c)
	if err != nil && strings.TrimSpace(c.Arguments) != "" {
		return nil, memory.Invalid("", "the arguments are no JSON object")
	}
	switch c.Name {
	case answer.ToolSearch:
		s, err := args.Search()
		if err != nil {
			return nil, err
		}
		return t.search(s), nil
	case answer.ToolExpand:
		numbers, err := args.Expand()
		if err != nil {
			return nil, err
		}
		return t.expand(numbers), nil
	case answer.ToolDone:
		if _, err := args.Done(); err != nil {
			return nil, err
		}
		return nil, memory.Invalid("", "%s is called once", answer.ToolDone)
	}
	return nil, memory.Invalid("", "there is no such tool; there are %s, %s and %s", answer.ToolSearch, answer.ToolExpand, answer.ToolDone)
}

// search gives the work of a search: each of its queries asked as the request
// was, in the request's bank, through the request's filters.
func (t *talk) search(s answer.Search) work {
	a := t.a
	var hold string
	if a.filter, hold = narrowed(a.filter, s); hold == "" {
		a.records = recordSet(a.filter.Records)
		if s.Limit > 0 {
			a.maxFacts = min(a.maxFacts, s.Limit)
		}
	}
	parts := make([]part, len(s.Queries))
	for i, q := range s.Queries {
		parts[i] = part{title: answer.Quote(t.s.redact(q)), note: hold}
		if k := key(a, q); hold == "" && t.asked[k] {
			parts[i].note = "This was asked before; what it found is shown above."
		} else {
			t.asked[k] = true
		}
	}
	return func(ctx context.Context) (outcome, error) {
		for i, q := range s.Queries {
			if parts[i].note != "" {
				continue
			}
			f, err := t.s.find(ctx, t.bank, a.next(q), t.start)
			if err != nil {
				return outcome{}, err
			}
			quotes, err := t.s.quotes(ctx, t.bank, f)
			if err != nil {
				return outcome{}, err
			}
			parts[i].brief = newBriefing(f, quotes)
		}
		return outcome{parts: parts}, nil
	}
}

// narrowed gives the request's filter with what a search asks for beside it. A
// filter is only ever narrowed; hold says why nothing can pass it.
func narrowed(f memory.Filter, s answer.Search) (out memory.Filter, hold string) {
	if len(s.Records) > 0 {
		allowed := recordSet(f.Records)
		var records []memory.Record
		for _, r := range s.Records {
			if allowed[r] {
				records = append(records, r)
			}
		}
		if len(records) == 0 {
			return f, "None of these records are part of this question."
		}
		f.Records = records
	}
	if s.From != nil && (f.From == nil || s.From.After(*f.From)) {
		f.From = s.From
	}
	if s.To != nil && (f.To == nil || s.To.Before(*f.To)) {
		f.To = s.To
	}
	if f.From != nil && f.To != nil && f.To.Before(*f.From) {
		return f, "That time is not part of this question."
	}
	return f, ""
}

// key names what a search asks, so that it is not asked twice.
func key(a ask, query string) string {
	stamp := func(at *time.Time) string {
		if at == nil {
			return ""
		}
		return at.UTC().Format(time.RFC3339Nano)
	}
	return fmt.Sprint(memory.NormalText(query), "\x00", a.filter.Records, "\x00", stamp(a.filter.From), "\x00", stamp(a.filter.To), "\x00", a.maxFacts)
}

// result shows what a call came to.
func (t *talk) result(o outcome) string {
	if o.refused != nil {
		return answer.Refused(o.refused)
	}
	var lines strings.Builder
	for _, p := range o.parts {
		lines.WriteString(p.title + "\n")
		text := p.note + "\n"
		if p.brief != nil {
			text = t.lines(p.brief)
			for _, why := range p.brief.found.reply.Degraded {
				t.degrade(why)
			}
		}
		lines.WriteString(text)
	}
	return answer.Fence(lines.String())
}

func (t *talk) degrade(why string) {
	f := found{reply: memory.RecallReply{Degraded: t.degraded}}
	f.degrade(why)
	t.degraded = f.reply.Degraded
}

// evidence shows what was found, fenced.
func (t *talk) evidence(b *briefing) string { return answer.Fence(t.lines(b)) }

// lines shows what was found, by sections as the disposition orders them.
func (t *talk) lines(b *briefing) string {
	var out strings.Builder
	for _, section := range b.order() {
		open := false
		for _, l := range b.lines {
			if l.section != section {
				continue
			}
			text := t.line(b, l)
			if text == "" {
				continue
			}
			if !open {
				out.WriteString(section + "\n")
				open = true
			}
			out.WriteString(text)
		}
	}
	if out.Len() == 0 {
		return "Nothing was found.\n"
	}
	return out.String()
}

func (t *talk) line(b *briefing, l line) string {
	reasons := b.traits.Skepticism >= 3
	if l.item == nil {
		x := t.shelf.Line(answer.Shown{Item: l.parties[0], Disputed: reasons})
		y := t.shelf.Line(answer.Shown{Item: l.parties[1], Disputed: reasons})
		if x == "" || y == "" {
			return ""
		}
		return "undecided between these two:\n" + x + y
	}
	shown := answer.Shown{Item: *l.item, Disputed: reasons && b.disputed[l.item.ID], Reasons: reasons}
	if quote, ok := b.quotes[l.item.ID]; ok {
		shown.Quote = &quote
	}
	return t.shelf.Line(shown)
}
