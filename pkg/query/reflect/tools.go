package reflect

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/prompt"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
)

const (
	maxCalls      = 8 // calls of one turn that are carried out
	parallelCalls = 4 // of them at the same time
)

// result is the result of a call before its items have numbers: they get them in the order of the calls, whichever call
// ends first.
type result struct {
	refused error // told to the model
	parts   []part
}

// part is the result of one query of a search, or of one item of an expansion.
type part struct {
	title string // quoted
	found *sections
	note  string // in place of items
}

// work carries out one call. Its error ends the conversation.
type work func(context.Context) ([]part, error)

// runCalls carries out the calls of a turn, some at the same time, and returns their results in the order of the calls.
// A call that cannot be read or carried out fails alone.
func (c *conversation) runCalls(ctx context.Context, out memory.Completion) (memory.Turn, error) {
	turn := memory.Turn{Text: out.Text, Calls: slices.Clone(out.Calls), Results: make([]string, len(out.Calls))}
	results := make([]result, len(turn.Calls))
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(parallelCalls)
	for i := range turn.Calls {
		if turn.Calls[i].ID == "" {
			turn.Calls[i].ID = fmt.Sprintf("call_%d_%d", c.taken, i+1)
		}
		run, err := c.prepare(turn.Calls[i], i)
		if err != nil {
			results[i].refused = err
			continue
		}
		group.Go(func() error {
			var err error
			results[i].parts, err = run(inner)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return turn, err
	}
	for i, r := range results {
		turn.Results[i] = c.show(r)
	}
	return turn, nil
}

// prepare reads a call. It runs before any call of the turn is carried out, so that two searches for the same are
// noticed.
func (c *conversation) prepare(call memory.ToolCall, place int) (work, error) {
	if place >= maxCalls {
		return nil, memory.Invalid("", "at most %d calls of a turn are carried out", maxCalls)
	}
	args, err := arguments(call)
	if err != nil && strings.TrimSpace(call.Arguments) != "" {
		return nil, memory.Invalid("", "the arguments are no JSON object")
	}
	switch call.Name {
	case prompt.ToolSearch:
		s, err := args.Search()
		if err != nil {
			return nil, err
		}
		return c.search(s), nil
	case prompt.ToolExpand:
		numbers, err := args.Expand()
		if err != nil {
			return nil, err
		}
		return c.expand(numbers), nil
	case prompt.ToolDone:
		if _, err := args.Done(); err != nil {
			return nil, err
		}
		return nil, memory.Invalid("", "%s is called once", prompt.ToolDone)
	}
	return nil, memory.Invalid("", "there is no such tool; there are %s, %s and %s", prompt.ToolSearch, prompt.ToolExpand, prompt.ToolDone)
}

// search returns the work of a search: each of its queries is asked as the request was, in the request's bank and
// through the request's filters.
func (c *conversation) search(s prompt.Search) work {
	q := c.q
	var excluded string
	if q.Filter, excluded = narrow(q.Filter, s); excluded == "" && s.Limit > 0 {
		q.MaxItems = min(q.MaxItems, s.Limit)
	}
	parts := make([]part, len(s.Queries))
	for i, query := range s.Queries {
		parts[i] = part{title: prompt.Quote(c.Redact(query)), note: excluded}
		if key := searchKey(q, query); excluded == "" && c.asked[key] {
			parts[i].note = "This was asked before; what it found is shown above."
		} else {
			c.asked[key] = true
		}
	}
	return c.fill(parts, func(ctx context.Context, i int) (recall.Found, error) {
		return c.Recall.Find(ctx, c.bank, q.Next(s.Queries[i]))
	})
}

// fill returns the work of finding what each part without a note shows, one after the other.
func (c *conversation) fill(parts []part, find func(ctx context.Context, i int) (recall.Found, error)) work {
	return func(ctx context.Context) ([]part, error) {
		for i := range parts {
			if parts[i].note != "" {
				continue
			}
			found, err := find(ctx, i)
			if err != nil {
				return nil, err
			}
			quotes, err := c.quotes(ctx, c.bank, found)
			if err != nil {
				return nil, err
			}
			parts[i].found = newSections(found, quotes)
		}
		return parts, nil
	}
}

// narrow returns the request's filter with what a search asks for besides. A filter is only ever narrowed; excluded says
// why nothing can pass both.
func narrow(f memory.Filter, s prompt.Search) (out memory.Filter, excluded string) {
	if len(s.Records) > 0 {
		records := slices.DeleteFunc(slices.Clone(s.Records), func(r memory.Record) bool { return !f.Finds(r) })
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

// searchKey names what a search asks for, so that it is not asked twice.
func searchKey(q recall.Request, query string) string {
	stamp := func(at *time.Time) string {
		if at == nil {
			return ""
		}
		return at.UTC().Format(time.RFC3339Nano)
	}
	return fmt.Sprint(memory.NormalText(query), "\x00", q.Filter.Records, "\x00", stamp(q.Filter.From), "\x00", stamp(q.Filter.To), "\x00", q.MaxItems)
}

// show returns a result as the model sees it.
func (c *conversation) show(r result) string {
	if r.refused != nil {
		return prompt.Refused(r.refused)
	}
	var lines strings.Builder
	for _, p := range r.parts {
		lines.WriteString(p.title + "\n")
		if p.found == nil {
			lines.WriteString(p.note + "\n")
			continue
		}
		lines.WriteString(c.lines(p.found))
		for _, why := range p.found.found.Reply.Degraded {
			if !slices.Contains(c.degraded, why) {
				c.degraded = append(c.degraded, why)
			}
		}
	}
	return prompt.Fence(lines.String())
}

// lines shows what was found, by sections in the order of the disposition.
func (c *conversation) lines(s *sections) string {
	var out strings.Builder
	for _, heading := range s.order() {
		open := false
		for _, l := range s.lines {
			if l.heading != heading {
				continue
			}
			line := c.line(s, l)
			if line == "" {
				continue
			}
			if !open {
				out.WriteString(heading + "\n")
				open = true
			}
			out.WriteString(line)
		}
	}
	if out.Len() == 0 {
		return "Nothing was found.\n"
	}
	return out.String()
}

// line shows an item, or the two parties of a conflict; "" when no more items can be shown.
func (c *conversation) line(s *sections, l line) string {
	reasons := s.traits.Skepticism >= 3
	if l.item == nil {
		x := c.items.Line(prompt.Shown{Item: l.parties[0], Disputed: reasons})
		y := c.items.Line(prompt.Shown{Item: l.parties[1], Disputed: reasons})
		if x == "" || y == "" {
			return ""
		}
		return "undecided between these two:\n" + x + y
	}
	shown := prompt.Shown{Item: *l.item, Disputed: reasons && s.disputed[l.item.ID], Reasons: reasons}
	if quote, ok := s.quotes[l.item.ID]; ok {
		shown.Quote = &quote
	}
	return c.items.Line(shown)
}
