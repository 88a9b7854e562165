package provider

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// language is the language model of one stage.
type language struct {
	stage string
	name  string // provider:model
	way   *way
}

var _ memory.LanguageModel = (*language)(nil)

// way is how one model at one address is asked: shared by the stages that use it.
type way struct {
	line   *line
	speak  dialect
	traits atomic.Pointer[traits]
}

// dialect is the protocol of a provider.
type dialect interface {
	// complete asks once, in the form that t allows.
	complete(ctx context.Context, w *way, stage string, p memory.Prompt, t traits) (memory.Completion, error)
}

// Name is provider and model.
func (m *language) Name() string { return m.name }

// Complete answers a prompt. A model that refuses a part of the request's form
// (a schema, say) is asked without it, now and from then on.
func (m *language) Complete(ctx context.Context, p memory.Prompt) (memory.Completion, error) {
	known := *m.way.traits.Load()
	t := known
	var first error
	for {
		c, err := m.way.speak.complete(ctx, m.way, m.stage, p, t)
		if err == nil {
			if t != known {
				m.way.traits.Store(&t)
			}
			return c, nil
		}
		if first == nil {
			first = err
		}
		simpler, ok := t.without(err, p)
		if !ok {
			if errors.Is(err, memory.ErrInvalid) {
				err = first // what it said to the request as it was meant
			}
			return memory.Completion{}, err
		}
		t = simpler
	}
}

// The forms in which an answer is held to a schema.
const (
	formSchema = iota // by the provider
	formObject        // a JSON object, the schema in the prompt
	formWords         // the schema in the prompt alone
)

// traits are what a model turned out not to take. The zero value takes all.
type traits struct {
	form          int
	noTemperature bool
	otherLimit    bool // the other name, or a smaller number, for the limit of tokens
	noStreamUsage bool
	noChoice      bool // no forced tool
}

// without gives the simpler form to try after an error, false when there is none.
func (t traits) without(err error, p memory.Prompt) (traits, bool) {
	var f *fault
	if !errors.As(err, &f) || !errors.Is(err, memory.ErrInvalid) || f.status != http.StatusBadRequest && f.status != http.StatusUnprocessableEntity {
		return t, false
	}
	said := strings.ToLower(f.text)
	switch {
	case strings.Contains(said, "content_filter") || strings.Contains(said, "content_policy"):
		return t, false
	case strings.Contains(said, "temperature") && !t.noTemperature:
		t.noTemperature = true
	case (strings.Contains(said, "max_tokens") || strings.Contains(said, "max_completion_tokens")) && !t.otherLimit:
		t.otherLimit = true
	case strings.Contains(said, "stream_options") && streamed(p) && !t.noStreamUsage:
		t.noStreamUsage = true
	case strings.Contains(said, "tool_choice") && p.MustCall && !t.noChoice:
		t.noChoice = true
	case p.Schema != nil && t.form < formWords:
		t.form++
	default:
		return t, false
	}
	return t, true
}

// system is the system prompt of p, with the schema in words where the
// provider is not told of it.
func (t traits) system(p memory.Prompt) string {
	if p.Schema == nil || t.form == formSchema {
		return p.System
	}
	words := "Answer with one JSON object that meets this JSON schema, and with nothing else:\n" + string(p.Schema)
	if p.System == "" {
		return words
	}
	return p.System + "\n\n" + words
}

// check refuses a prompt that no provider could make sense of.
func check(p memory.Prompt) error {
	switch {
	case p.System == "" && p.User == "":
		return memory.Invalid("user", "a prompt needs a text")
	case p.MustCall && len(p.Tools) == 0:
		return memory.Invalid("must_call", "a prompt that must call needs tools")
	}
	for _, turn := range p.Turns {
		if len(turn.Calls) != len(turn.Results) {
			return memory.Invalid("turns", "expected one result for each call")
		}
	}
	return nil
}
