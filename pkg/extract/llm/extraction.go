package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/events/deadletter"
	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/reply"
)

// extraction is the extraction of one window.
type extraction struct {
	*Extractor
	in    extract.Input
	calls int
}

// maxKeptAnswer bounds the raw answer that a dead letter keeps, in bytes.
const maxKeptAnswer = 64 << 10

// extract shows utterances to the model and reads its answer. An unusable answer is asked for once more. Where the
// answer was cut off or the prompt is too large, the utterances are halved.
func (e *extraction) extract(ctx context.Context, batch, before []utterance) ([]extract.Draft, error) {
	p := e.prompt(batch, before)
	sources := messages(batch)
	answer, err := e.complete(ctx, p)
	if errors.Is(err, memory.ErrTooLarge) {
		return e.halve(ctx, batch, before, nil, err)
	}
	if err != nil {
		return nil, err
	}
	parsed, problem := Parse(answer.Text, sources)
	if problem != nil && !answer.Truncated && !parsed.Truncated {
		answer, err = e.complete(ctx, repairPrompt(p, answer.Text, problem))
		if errors.Is(err, memory.ErrTooLarge) {
			return nil, unusable(problem.Error(), answer.Text)
		}
		if err != nil {
			return nil, err
		}
		parsed, problem = Parse(answer.Text, sources)
	}
	switch {
	case answer.Truncated || parsed.Truncated:
		return e.halve(ctx, batch, before, &parsed, unusable("the answer was cut off", answer.Text))
	case problem != nil:
		return nil, unusable(problem.Error(), answer.Text)
	}
	return parsed.Drafts, nil
}

// halve shows each half of the utterances to the model on its own; the second sees the end of the first as context. A
// single utterance keeps what was read of it (parsed); otherwise it is cut into two pieces, which overlap and see no
// context, and one that is too short for that and still too large is kept verbatim.
func (e *extraction) halve(ctx context.Context, batch, before []utterance, parsed *Parsed, cause error) ([]extract.Draft, error) {
	var first, second []utterance
	switch {
	case len(batch) > 1:
		first, second = batch[:len(batch)/2], batch[len(batch)/2:]
	case parsed != nil && parsed.Usable > 0:
		return parsed.Drafts, nil
	default:
		first, second = batch[0].halves()
	}
	if len(second) == 0 {
		if parsed != nil {
			return nil, cause
		}
		return []extract.Draft{batch[0].verbatim()}, nil
	}
	after := contextTail(append(before[:len(before):len(before)], first...))
	if len(batch) == 1 {
		before, after = nil, nil
	}
	drafts, err := e.extract(ctx, first, before)
	if err != nil {
		return nil, err
	}
	more, err := e.extract(ctx, second, after)
	if err != nil {
		return nil, err
	}
	return append(drafts, more...), nil
}

// complete calls the model within the bounds of time and calls.
func (e *extraction) complete(ctx context.Context, p memory.Prompt) (memory.Completion, error) {
	if e.calls++; e.calls > e.config.MaxCalls {
		return memory.Completion{}, &deadletter.OutputError{Prompt: promptName,
			Err: fmt.Errorf("the window takes more than %d calls of %s: %w", e.config.MaxCalls, e.deps.Model.Name(), memory.ErrUnavailable)}
	}
	bounded, cancel := context.WithTimeout(ctx, e.config.Timeout)
	defer cancel()
	c, err := e.deps.Model.Complete(bounded, p)
	switch {
	case err == nil:
		return c, nil
	case ctx.Err() != nil:
		return c, ctx.Err()
	case bounded.Err() != nil:
		return c, fmt.Errorf("%s gave no answer within %s: %w", e.deps.Model.Name(), e.config.Timeout, memory.ErrUnavailable)
	}
	return c, fmt.Errorf("ask %s: %w", e.deps.Model.Name(), err)
}

// unusable is the failure of an answer of which nothing can be kept. The window is tried again, and the answer stays
// with the dead letter if that does not help.
func unusable(reason, answer string) error {
	return &deadletter.OutputError{
		Err: fmt.Errorf("%s: %w", reason, memory.ErrUnavailable), Output: memory.Truncate(answer, maxKeptAnswer), Prompt: promptName,
	}
}

// Parsed is the content of an answer.
type Parsed struct {
	// Drafts are its items in order. An item that names no message, or one outside the window, or has no statement is
	// among them as refused, with the reason.
	Drafts    []extract.Draft
	Usable    int  // drafts that are not refused
	Truncated bool // the answer ends in the middle of its list
	Repaired  bool // its JSON had to be repaired
}

// Parse reads a model's answer about the messages said, which it numbers from 1. An empty list is no facts and no error.
// The error is memory.ErrInvalid and says, without a word of the answer, why nothing of it can be used: it holds no
// list, or every item is refused.
func Parse(answer string, said []memory.Message) (Parsed, error) {
	items, notes, err := reply.Items(answer, "facts")
	for _, key := range []string{"data", "items"} {
		if err == nil {
			break
		}
		if more, n, other := reply.Items(answer, key); other == nil {
			items, notes, err = more, n, nil
		}
	}
	if err != nil {
		return Parsed{}, err
	}
	out := Parsed{Truncated: notes.Truncated, Repaired: notes.Repaired}
	refused := ""
	for _, raw := range items {
		if len(out.Drafts) == memory.MaxFacts {
			out.Drafts = append(out.Drafts, extract.Draft{Refused: fmt.Sprintf("more than %d facts of one answer", memory.MaxFacts)})
			break
		}
		d := draft(raw, said)
		if d.Refused == "" {
			out.Usable++
		} else if refused == "" {
			refused = d.Refused
		}
		out.Drafts = append(out.Drafts, d)
	}
	for range notes.Broken {
		out.Drafts = append(out.Drafts, extract.Draft{Refused: "is no JSON"})
		refused = "an item is no JSON"
	}
	if len(out.Drafts) > 0 && out.Usable == 0 && !out.Truncated {
		return out, memory.Invalid("answer", "none of its %d facts can be used; the first: %s", len(out.Drafts), refused)
	}
	return out, nil
}

// draft reads one item. A faulty field has its default; an item is refused only where it cannot be a fact.
func draft(raw json.RawMessage, said []memory.Message) extract.Draft {
	var f fields
	if json.Unmarshal(raw, &f) != nil || f == nil {
		return extract.Draft{Refused: "is no object"}
	}
	text := strings.TrimSpace(f.text("f", "fact", "text", "statement", "content"))
	if memory.NormalText(text) == "" {
		return extract.Draft{Refused: "has no statement"}
	}
	numbers, why := f.sources()
	if why != "" {
		return extract.Draft{Refused: why}
	}
	d := extract.Draft{Text: text, Kind: f.kind(), Type: f.factType(), Tags: f.list("g", "tags"), Topic: f.topic(), Outcome: f.outcome()}
	for _, n := range numbers {
		if n < 1 || n > len(said) {
			return extract.Draft{Refused: fmt.Sprintf("rests on message %d; the new messages are 1 to %d", n, len(said))}
		}
		d.Sources = append(d.Sources, said[n-1].ID)
	}
	if d.Confidence, why = f.confidence(); why != "" {
		return extract.Draft{Refused: why}
	}
	d.Occurred = ParseSpan(f.text("d", "date", "when", "occurred"), said[numbers[0]-1].Clock())
	names := newEntityNames(f.names("e", "entities"), said)
	d.Entities, d.State, d.Relations = names.entities(), f.state(names), f.relations(names)
	return d
}
