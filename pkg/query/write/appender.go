// Package write carries out the requests that change memory: it appends them to the log and waits until the consolidator
// has applied them.
//
// Every request of an Appender is checked, gets an op (its own, or a new one) and goes to MEM_WRITES; a text to be retained
// goes to MEM_MESSAGES, windows to be extracted again to MEM_WINDOWS. The outcome is read from the store. Repeating a
// request with the same op is safe: the outcome of an op that was applied is returned as it is. When the wait ends first,
// the error is memory.ErrDeadline and OpOf returns the op to repeat it with.
package write

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/request"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// Store is what an Appender reads. Implementations are safe for concurrent use.
type Store interface {
	// AppliedOf returns the sequence of MEM_MESSAGES up to which the messages of a bank are applied, and the last applied
	// one of MEM_WRITES.
	AppliedOf(ctx context.Context, bank memory.BankID) (messages, writes uint64, err error)
	// Outcome returns the outcome of an op that was applied; nil if it was not.
	Outcome(ctx context.Context, bank memory.BankID, op string) (*memory.WriteOutcome, error)
	// Read runs fn on one unchanging state of a bank. A bank that was never made is memory.ErrNotFound.
	Read(ctx context.Context, bank memory.BankID, fn func(Reader) error) error
}

// Reader reads what the checks of a write need, and what its reply shows.
type Reader interface {
	// Bank returns the profile.
	Bank() (memory.Bank, error)
	// Tally counts live facts, composites, observations, entities and open conflicts.
	Tally() (Tally, error)
	// Bytes sums up the text and captions of the bank's messages.
	Bytes() (int64, error)
	// Item returns a record by id; nil if there is none.
	Item(id string) (*memory.Item, error)
	// FactItems returns facts by id, in the order asked, in any state.
	FactItems(ids []memory.FactID) ([]memory.Item, error)
	// ObservationsByID returns observations by id, in the order asked.
	ObservationsByID(ids []memory.ObservationID) ([]memory.Observation, error)
	// SourcesNamed returns messages as sources, by sequence; those that are not in the bank are left out. Start is when
	// each was said.
	SourcesNamed(ids []memory.MessageID) ([]memory.Source, error)
	// Spellings returns the names and aliases of entities as they are written, sorted.
	Spellings(entities []memory.EntityID) ([]string, error)
	// WindowOf returns the end of the window in which a message was new; nil while there is none, or where the message is
	// not known.
	WindowOf(id memory.MessageID) (*WindowResult, error)
}

// Tally counts the records of a bank.
type Tally struct {
	Facts, Composites, Observations, Entities, Conflicts int
}

// WindowResult tells how the window in which a message was new ended, and what became of its facts.
type WindowResult struct {
	Outcome memory.WindowOutcome
	Reason  string
	Write   uint64
	Results []memory.WriteResult
}

// Config holds the numbers of an Appender.
type Config struct {
	Waits    request.Waits // bounds how long a request waits for its outcome
	Observer bool          // a language model answers observe and consolidate too: the request waits for its answer
}

// Deps are the collaborators of an Appender.
type Deps struct {
	Conn  *events.Conn // nil = every request that needs the log is memory.ErrUnavailable
	Store Store
	// Preview says what a write would change, and changes nothing.
	Preview  func(context.Context, memory.Write) (memory.Changes, error)
	Embedder memory.Embedder     // nil = facts are appended without vectors, and a caller's are not checked
	Redact   func(string) string // takes secrets out of what is appended; nil = nothing is taken out
	Now      func() time.Time    // nil = time.Now
	Log      zerolog.Logger
}

// Appender carries out requests that change memory. It is safe for concurrent use.
type Appender struct {
	cfg     Config
	deps    Deps
	charges charges
	ahead   ahead
}

// New returns an appender over a store, which is required. Close it.
func New(cfg Config, deps Deps) (*Appender, error) {
	if deps.Store == nil {
		return nil, errors.New("write: no store is given")
	}
	if deps.Redact == nil {
		deps.Redact = func(text string) string { return text }
	}
	if deps.Now == nil {
		deps.Now = time.Now
	}
	return &Appender{cfg: cfg, deps: deps}, nil
}

// opError is the error of a write whose outcome is not known: repeating it with op is safe.
type opError struct {
	op  string
	err error
}

func (e *opError) Error() string { return e.err.Error() }
func (e *opError) Unwrap() error { return e.err }

// OpOf returns the op with which a write of unknown outcome can be repeated; "" for any other error.
func OpOf(err error) string {
	var e *opError
	if errors.As(err, &e) {
		return e.op
	}
	return ""
}

// control checks what every write carries and returns its op, a new one where it has none, and its wait.
func (a *Appender) control(w wire.WriteControl) (op string, wait time.Duration, err error) {
	if wait, err = a.cfg.Waits.Of("wait", w.Wait); err != nil {
		return "", 0, err
	}
	if w.Op == "" {
		return ulid.Make().String(), wait, nil
	}
	return w.Op, wait, memory.CheckID("op", w.Op)
}

// write appends a write to the log, unless its op was applied before, and waits for its outcome in the store. A refusal is
// returned as an error.
func (a *Appender) write(ctx context.Context, w memory.Write, wait time.Duration) (memory.WriteOutcome, error) {
	out, err := a.before(ctx, w.Bank, w.Op)
	if err != nil {
		return memory.WriteOutcome{}, err
	}
	if out == nil {
		if a.deps.Conn == nil {
			return memory.WriteOutcome{}, fmt.Errorf("write %s: no connection to the log: %w", w.Op, memory.ErrUnavailable)
		}
		if wait > 0 {
			began := time.Now()
			leave, err := a.ahead.enter(ctx, w, wait)
			if err != nil {
				return memory.WriteOutcome{}, err
			}
			defer leave()
			wait = max(0, wait-time.Since(began))
		}
		if _, err := a.deps.Conn.AppendWrite(ctx, w); err != nil {
			return memory.WriteOutcome{}, &opError{w.Op, err}
		}
		if out, err = a.outcome(ctx, w.Bank, w.Op, wait); err != nil {
			return memory.WriteOutcome{}, err
		}
	}
	if out.Code != 0 {
		return *out, Refusal(*out)
	}
	return *out, nil
}

// before returns the outcome of an op that was applied before, nil if it was not. One of an erased bank of the same name is
// memory.ErrConflict: its outcome is not known, and a reply must not look as if the request were carried out.
func (a *Appender) before(ctx context.Context, bank memory.BankID, op string) (*memory.WriteOutcome, error) {
	out, err := a.deps.Store.Outcome(ctx, bank, op)
	if err == nil && out != nil && out.Erased {
		return nil, &memory.FieldError{Field: "op", Message: "was used for a write of a bank of this name that was erased; take another", Meaning: memory.ErrConflict}
	}
	return out, err
}

// outcome waits for the outcome of an op.
func (a *Appender) outcome(ctx context.Context, bank memory.BankID, op string, wait time.Duration) (*memory.WriteOutcome, error) {
	out, err := request.Await(ctx, wait, func(ctx context.Context) (*memory.WriteOutcome, error) {
		return a.deps.Store.Outcome(ctx, bank, op)
	})
	if err != nil {
		return nil, &opError{op, err}
	}
	if out == nil {
		return nil, &opError{op, fmt.Errorf("the write %s is in the log but was not applied within %s; repeating it with the same op is safe: %w",
			op, wait, memory.ErrDeadline)}
	}
	return out, nil
}

// Refusal is the error of a write that the consolidator refused.
func Refusal(o memory.WriteOutcome) error {
	meaning := memory.FromCode(o.Code)
	if meaning == nil {
		return fmt.Errorf("write %s was refused with code %d: %s", o.Op, o.Code, o.Message)
	}
	return &memory.FieldError{Field: o.Field, Message: o.Message, Meaning: meaning}
}

// exists checks that a bank was made.
func (a *Appender) exists(ctx context.Context, bank memory.BankID) error {
	return a.deps.Store.Read(ctx, bank, func(Reader) error { return nil })
}
