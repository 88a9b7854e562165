package llm

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// run is the extraction of one window.
type run struct {
	*Extractor
	in    extract.Input
	calls int
}

// maxKept bounds the raw answer that a dead letter keeps, in bytes.
const maxKept = 64 << 10

// ask puts lines to the model and reads its answer. One that was cut off, or a
// prompt that is too large, has the lines halved.
func (r *run) ask(ctx context.Context, batch, before []line) ([]extract.Draft, error) {
	p := r.prompt(batch, before)
	said := messages(batch)
	answer, err := r.complete(ctx, p)
	if errors.Is(err, memory.ErrTooLarge) {
		return r.halve(ctx, batch, before, nil, err)
	}
	if err != nil {
		return nil, err
	}
	parsed, wrong := Parse(answer.Text, said)
	if answer.Truncated || parsed.Truncated {
		return r.halve(ctx, batch, before, &parsed, useless("the answer was cut off", answer.Text))
	}
	if wrong == nil {
		return parsed.Drafts, nil
	}
	answer, err = r.complete(ctx, repair(p, answer.Text, wrong))
	if errors.Is(err, memory.ErrTooLarge) {
		return nil, useless(wrong.Error(), answer.Text)
	}
	if err != nil {
		return nil, err
	}
	parsed, wrong = Parse(answer.Text, said)
	if answer.Truncated || parsed.Truncated {
		return r.halve(ctx, batch, before, &parsed, useless("the answer was cut off", answer.Text))
	}
	if wrong != nil {
		return nil, useless(wrong.Error(), answer.Text)
	}
	return parsed.Drafts, nil
}

// halve puts each half of the lines to the model on its own; the second sees
// the end of the first as context. A single line keeps what was read of it
// (got); else it is cut into two pieces, which overlap and see no context, and
// one that is too short for that and still too large is kept as it was said.
func (r *run) halve(ctx context.Context, batch, before []line, got *Parsed, cause error) ([]extract.Draft, error) {
	var first, second []line
	switch {
	case len(batch) > 1:
		first, second = batch[:len(batch)/2], batch[len(batch)/2:]
	case got != nil && got.Usable > 0:
		return got.Drafts, nil
	default:
		first, second = batch[0].halves()
	}
	if len(second) == 0 {
		if got != nil {
			return nil, cause
		}
		return []extract.Draft{batch[0].whole()}, nil
	}
	after := last(append(before[:len(before):len(before)], first...))
	if len(batch) == 1 {
		before, after = nil, nil
	}
	drafts, err := r.ask(ctx, first, before)
	if err != nil {
		return nil, err
	}
	more, err := r.ask(ctx, second, after)
	if err != nil {
		return nil, err
	}
	return append(drafts, more...), nil
}

// complete calls the model within the bounds of time and calls.
func (r *run) complete(ctx context.Context, p memory.Prompt) (memory.Completion, error) {
	if r.calls++; r.calls > r.config.MaxCalls {
		return memory.Completion{}, &events.OutputError{Prompt: promptName,
			Err: fmt.Errorf("the window takes more than %d calls of %s: %w", r.config.MaxCalls, r.deps.Model.Name(), memory.ErrUnavailable)}
	}
	within, cancel := context.WithTimeout(ctx, r.config.Timeout)
	defer cancel()
	c, err := r.deps.Model.Complete(within, p)
	switch {
	case err == nil:
		return c, nil
	case ctx.Err() != nil:
		return c, ctx.Err()
	case within.Err() != nil:
		return c, fmt.Errorf("%s gave no answer within %s: %w", r.deps.Model.Name(), r.config.Timeout, memory.ErrUnavailable)
	}
	return c, fmt.Errorf("ask %s: %w", r.deps.Model.Name(), err)
}

// useless is the failure of an answer of which nothing can be kept. It is
// tried again, and the answer stays with the dead letter if that does not help.
func useless(reason, answer string) error {
	return &events.OutputError{Err: fmt.Errorf("%s: %w", reason, memory.ErrUnavailable), Output: clip(answer, maxKept), Prompt: promptName}
}

// clip shortens s to n bytes, at a rune boundary.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
