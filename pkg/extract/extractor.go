// Package extract is stage 2: it turns windows of messages into facts. An
// Extractor reads a window and drafts facts; Validate holds the drafts to what
// the window says; a Worker takes windows from the queue, extracts, embeds and
// appends the result to the log. A worker keeps no state: run as many as help.
package extract

import (
	"context"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Extractor drafts facts from a window. Implementations are safe for
// concurrent use.
type Extractor interface {
	// Name is name and version, as "rules/1"; every fact carries it.
	Name() string
	// Extract drafts facts from the new messages. No drafts and no error means
	// that the window holds no facts; an error that means memory.ErrInvalid, or
	// events.Dead, will not go away and ends the window dead; events.Later puts
	// the window off; any other is tried again, and the last one's
	// events.OutputError is kept with the dead letter. No error carries message text.
	Extract(ctx context.Context, in Input) ([]Draft, error)
}

// ContextReader is an Extractor that wants the messages before the new ones.
// One without it is given no Context, which saves reading it.
type ContextReader interface {
	NeedsContext() bool
}

// Stamped is an Extractor with a language model behind it.
type Stamped interface {
	// Stamp says which model it asks, and by which prompt.
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

// Draft is a fact as an Extractor proposes it. Text and Sources are required;
// an empty Kind is world, an empty Type fact, a zero Confidence 1.
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
	// Refused says why the extractor itself holds that this is no fact, without
	// message text; "" = it may be one. It is reported like every refusal.
	Refused string
}

// Edge is a relation between two entities. A type that is not known is taken
// as related_to when it is applied; a zero Strength is 1.
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

// Name is the ID.
func (f Func) Name() string { return f.ID }

// Extract calls Do.
func (f Func) Extract(ctx context.Context, in Input) ([]Draft, error) { return f.Do(ctx, in) }
