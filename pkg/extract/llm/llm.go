// Package llm extracts facts with a language model: one call per window. The model sees numbered messages and names
// facts by those numbers, so nothing it answers can choose a bank, a session, an id or a message outside the window.
//
// New returns an Extractor, which implements extract.Extractor. An answer is read item by item (Parse). The window of an
// answer that was cut off is halved; an unusable answer is asked for once more and is then a failure, never "no facts".
// Options reduce the tokens of a call: Novel skips windows of small talk, TopicBoundaries and Pack cut long windows
// where the topic changes, and Compress drops words that say little.
package llm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// promptName is name and version of the prompts; a new wording is a new version.
const promptName = "extract/1"

// Config sets how windows are shown to the model.
type Config struct {
	// Timeout bounds one call.
	Timeout time.Duration
	// MaxInput bounds the tokens of messages in one call. A larger window takes several calls; a larger message is cut
	// into pieces that overlap by Overlap characters.
	MaxInput int
	Overlap  int
	// MaxCalls bounds the calls for one window, halvings and repairs included.
	MaxCalls int
	// Novelty skips windows in which nothing new is said.
	Novelty bool
	// Batch is the number of tokens of messages in a call from which the next change of topic starts another call;
	// 0 = the whole window in one.
	Batch int
	// Rate is the share of its tokens that a message keeps in the prompt; 0 and 1 = all. The stored message is not
	// changed.
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
	// Embedder finds where the topic changes; required with Config.Batch. While it is unavailable, a window is one call.
	Embedder memory.Embedder
}

// Extractor asks a language model for the facts of a window. It is stateless and safe for concurrent use.
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

// Name returns the model with the version of the prompt, as "openai:gpt-4o-mini/extract-1".
func (x *Extractor) Name() string { return x.deps.Model.Name() + "/extract-1" }

// Stamp returns the model and the prompt.
func (x *Extractor) Stamp() memory.Stamp {
	return memory.Stamp{Model: x.deps.Model.Name(), Prompt: promptName}
}

// NeedsContext returns true: earlier messages explain the new ones.
func (x *Extractor) NeedsContext() bool { return true }

// Extract returns the facts of the new messages, in the messages' order, by one call where they fit. Refused items are
// among the drafts, with the reason.
func (x *Extractor) Extract(ctx context.Context, in extract.Input) ([]extract.Draft, error) {
	if len(in.New) == 0 || x.config.Novelty && !Novel(in) {
		return nil, nil
	}
	e := &extraction{Extractor: x, in: in}
	before := utterances(in.Context, x.config)
	var drafts []extract.Draft
	for _, batch := range x.batches(ctx, utterances(in.New, x.config)) {
		some, err := e.extract(ctx, batch, contextTail(before))
		if err != nil {
			return nil, err
		}
		drafts = append(drafts, some...)
		before = append(before, batch...)
	}
	return drafts, nil
}
