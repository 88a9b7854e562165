// Package extract is stage 2: it turns windows of messages into facts.
//
// An Extractor reads a window and drafts facts: extract/rules without a model, extract/llm with one, or a Func.
// Validate holds the drafts to what the window says. A Worker takes windows from the queue, extracts and embeds their
// facts, and appends one write per window to the log. A worker keeps no state, so any number of them may run anywhere
// that reaches the broker; a Budget, which they share through the broker, bounds the tokens that a bank may take on one
// day.
package extract

import (
	"context"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Extractor drafts facts from a window. Implementations must be safe for concurrent use.
type Extractor interface {
	// Name is the name and the version, as in "rules/1". Every fact carries it.
	Name() string
	// Extract drafts facts from the new messages. No drafts and no error means that the window holds no facts. An error
	// that is memory.ErrInvalid or deadletter.Permanent will not go away and ends the window dead; work.RetryLater puts
	// the window off; any other is tried again, and the last one's deadletter.OutputError is kept with the dead letter.
	// No error may hold message text.
	Extract(ctx context.Context, in Input) ([]Draft, error)
}

// ContextReader is an Extractor that wants the messages before the new ones. Others are given no Context, which saves
// reading it.
type ContextReader interface {
	// NeedsContext reports whether Extract reads Input.Context.
	NeedsContext() bool
}

// Stamped is an Extractor with a language model behind it.
type Stamped interface {
	// Stamp returns which model it asks and by which prompt.
	Stamp() memory.Stamp
}

// Input is what an Extractor works on.
type Input struct {
	Bank     memory.BankID
	Session  memory.SessionID
	Window   memory.Window
	New      []memory.Message // to extract, in stream order, secrets redacted; carried and forgotten ones left out
	Context  []memory.Message // before them, in stream order; for reading only
	Profile  memory.Bank      // the bank's instructions and disposition
	Entities []memory.Entity  // known in the bank, a sample; may be empty
}

// Draft is a fact as an Extractor proposes it. Text and Sources are required. An empty Kind means world, an empty Type
// fact, and a zero Confidence 1.
type Draft struct {
	Text       string
	Kind       memory.Kind
	Type       memory.Type
	Entities   []memory.EntityID
	Topic      string
	Tags       []string
	Speaker    string // "" = the speaker of the first source
	Occurred   memory.Span
	State      *memory.State
	Confidence float64
	Outcome    *memory.Result
	Metadata   map[string]any
	Sources    []memory.MessageID // of the window's new messages
	Relations  []Edge             // between things the fact speaks of
	// Question is the message, new or of the context, whose question the text repeats; "" = none. The fact rests on it
	// too, carries memory.TagAnswer, and goes when either is forgotten.
	Question memory.MessageID
	// Refused says why the extractor itself holds that this is no fact, without message text; "" means that it may be
	// one. It is reported like every refusal.
	Refused string
}

// Edge is a relation between two entities. An unknown type is taken as related_to when it is applied. A zero Strength
// means 1.
type Edge struct {
	From     memory.EntityID
	To       memory.EntityID
	Type     memory.RelationType
	Strength float64 // 0 to 1
}

// Func is an Extractor made of a function.
type Func struct {
	ID string // Name
	Do func(ctx context.Context, in Input) ([]Draft, error)
}

// Name returns the ID.
func (f Func) Name() string { return f.ID }

// Extract calls Do.
func (f Func) Extract(ctx context.Context, in Input) ([]Draft, error) { return f.Do(ctx, in) }
