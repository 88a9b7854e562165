// Package llm extracts facts with a language model: one call for a window. The
// model sees numbered messages and names facts by those numbers, so nothing it
// answers can choose a bank, a session, an id or a message outside the window.
// What it answers is read item by item (Parse); an answer that is cut off has
// its window halved; one of no use is asked for once more and is then a failure,
// never "no facts".
package llm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// promptName is name and version of the prompts; another wording is another version.
const promptName = "extract/1"

// Config sets how windows are put to the model.
type Config struct {
	// Timeout bounds one call.
	Timeout time.Duration
	// MaxInput is how many tokens of messages one call is given, at most. A
	// window of more is put in several calls, a message of more in pieces that
	// overlap by Overlap characters.
	MaxInput int
	Overlap  int
	// MaxCalls bounds the calls for one window, halvings and repairs included.
	MaxCalls int
	// Novelty leaves a window out in which nothing new is said.
	Novelty bool
	// Batch is how many tokens of messages are put in one call before the next
	// turn of the topic starts another; 0 = the whole window in one.
	Batch int
	// Rate is the share of its tokens that a message keeps in the prompt; 0 and 1
	// = all. The stored message stays as it is.
	Rate float64
}

// DefaultConfig has the options off: one call for a window of up to 8,192 tokens.
func DefaultConfig() Config {
	return Config{Timeout: 2 * time.Minute, MaxInput: 8192, Overlap: 400, MaxCalls: 64}
}

// Validate joins everything that is wrong.
func (c Config) Validate() error {
	var errs []error
	if c.Timeout <= 0 {
		errs = append(errs, memory.Invalid("timeout", "must be more than 0"))
	}
	if c.MaxInput < 256 {
		errs = append(errs, memory.Invalid("max_input", "is %d tokens; expected 256 or more", c.MaxInput))
	}
	if c.Overlap < 0 || c.Overlap > c.MaxInput/4 {
		errs = append(errs, memory.Invalid("overlap", "is %d characters; expected 0 to a quarter of max_input", c.Overlap))
	}
	if c.MaxCalls < 2 {
		errs = append(errs, memory.Invalid("max_calls", "is %d; expected 2 or more", c.MaxCalls))
	}
	if c.Batch < 0 {
		errs = append(errs, memory.Invalid("batch", "must not be negative"))
	}
	if c.Rate < 0 || c.Rate > 1 {
		errs = append(errs, memory.Invalid("rate", "is %v; expected 0 to 1", c.Rate))
	}
	return errors.Join(errs...)
}

// Deps are an Extractor's collaborators.
type Deps struct {
	Model memory.LanguageModel // required
	// Embedder finds where the topic turns; required with Config.Batch. While it
	// is away a window is put in one call.
	Embedder memory.Embedder
}

// Extractor asks a language model for the facts of a window. It is safe for
// concurrent use and keeps no state.
type Extractor struct {
	config Config
	deps   Deps
}

var (
	_ extract.Extractor     = (*Extractor)(nil)
	_ extract.ContextReader = (*Extractor)(nil)
	_ extract.Stamped       = (*Extractor)(nil)
)

// New checks its settings and calls nothing.
func New(c Config, d Deps) (*Extractor, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("settings of extraction with a model: %w", err)
	}
	if d.Model == nil || c.Batch > 0 && d.Embedder == nil {
		return nil, memory.Invalid("deps", "extraction with a model needs the model, and an embedder where it cuts by topic")
	}
	return &Extractor{config: c, deps: d}, nil
}

// Name is the model with the version of the prompt, as "openai:gpt-4o-mini/extract-1".
func (x *Extractor) Name() string { return x.deps.Model.Name() + "/extract-1" }

// Stamp names the model and the prompt.
func (x *Extractor) Stamp() memory.Stamp {
	return memory.Stamp{Model: x.deps.Model.Name(), Prompt: promptName}
}

// NeedsContext is true: what stands before explains what is new.
func (x *Extractor) NeedsContext() bool { return true }

// Extract puts the new messages to the model, in one call where they fit.
func (x *Extractor) Extract(ctx context.Context, in extract.Input) ([]extract.Draft, error) {
	if len(in.New) == 0 || x.config.Novelty && !Novel(in) {
		return nil, nil
	}
	r := &run{Extractor: x, in: in}
	before := lines(in.Context, x.config)
	var drafts []extract.Draft
	for _, batch := range x.batches(ctx, lines(in.New, x.config)) {
		some, err := r.ask(ctx, batch, last(before))
		if err != nil {
			return nil, err
		}
		drafts = append(drafts, some...)
		before = append(before, batch...)
	}
	return drafts, nil
}
