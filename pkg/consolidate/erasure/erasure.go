// Package erasure removes forgotten text from the streams.
//
// A forget changes the store in its own transaction and queues, in a table of the store, the stream events that still
// hold what was forgotten, and last its own event. An Eraser works the queue off: it notes in the log which messages it
// erases and erases them, replaces a write that holds other facts too by one without the forgotten, and at last erases
// the dead letters about them and replaces the forget, which may name a speaker, by its receipt. What it appends says in
// whose place it stands, so that a rebuild, which reads this first, comes to the store that the forget left.
package erasure

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/retry"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Store is the queue of erasures, and what tells whether a record of an event is still there.
type Store interface {
	// Erasures returns up to limit stream events that forgets still have to erase, oldest first, of the first bank past
	// one that has any; none if no bank past it has.
	Erasures(ctx context.Context, after memory.BankID, limit int) ([]Entry, error)
	// Erased removes the entries with these numbers: they were carried out.
	Erased(ctx context.Context, numbers []int64) error
	// Unerasable keeps the entries with these numbers as ones that cannot be carried out; Erasures no longer returns them.
	Unerasable(ctx context.Context, numbers []int64) error
	// ErasedMessages returns those of the message events of a bank that were forgotten, by sequence.
	ErasedMessages(ctx context.Context, bank memory.BankID, seqs []uint64) ([]memory.ErasedMessage, error)
	// Outcome returns the outcome of an op that was applied; nil if it was not.
	Outcome(ctx context.Context, bank memory.BankID, op string) (*memory.WriteOutcome, error)
	// KnownFacts reports which of the facts the store has, in any state.
	KnownFacts(ctx context.Context, ids []memory.FactID) (map[memory.FactID]bool, error)
	// KnownNames reports which names an entity of a bank bears: names, or entities as type:name.
	KnownNames(ctx context.Context, bank memory.BankID, names []string) (map[string]bool, error)
	// SourcesOf returns the message sequences on which the facts that the store has rest.
	SourcesOf(ctx context.Context, ids []memory.FactID) (map[memory.FactID][]uint64, error)
	// RetainedFacts reports which of the facts the store has as an op retained them by hand.
	RetainedFacts(ctx context.Context, op string, ids []memory.FactID) (map[memory.FactID]bool, error)
	// KnownObservations reports which of the observations the store has.
	KnownObservations(ctx context.Context, ids []memory.ObservationID) (map[memory.ObservationID]bool, error)
	// AppliedDecisions returns the decisions of models about these facts that were applied, by fact, target and write.
	AppliedDecisions(ctx context.Context, bank memory.BankID, facts []memory.FactID) ([]memory.DecisionResult, error)
}

const (
	batch    = 512 // erasures of one bank that are carried out before those of the next
	parallel = 16  // events erased at a time
)

// Deps are what an Eraser works with. Conn and Store are required.
type Deps struct {
	Conn   *events.Conn
	Store  Store
	Retry  retry.Policy
	Erased prometheus.Counter
	Log    zerolog.Logger // an error for each event that cannot be erased
	// Turn waits until events may be erased; they are until done is called. nil = always.
	Turn func(ctx context.Context) (done func(), err error)
}

// Eraser erases the events queued in one store.
type Eraser struct {
	deps    Deps
	damaged damaged
}

// New returns an Eraser; it starts nothing.
func New(deps Deps) *Eraser { return &Eraser{deps: deps} }

// Run erases what is queued, and then again whenever queued is signalled, until ctx ends. Banks take turns, so that one
// with much to erase does not keep the others waiting. An entry leaves the queue after its event is gone, or when the broker
// cannot read it; repeating an erasure after a crash changes nothing.
func (e *Eraser) Run(ctx context.Context, queued <-chan struct{}) error {
	var after memory.BankID
	for {
		var list []Entry
		err := e.deps.Retry.Do(ctx, "erasing stream events", func() (err error) {
			if list, err = e.deps.Store.Erasures(ctx, after, batch); err != nil || len(list) == 0 {
				return err
			}
			return e.inTurn(ctx, func() error { return e.eraseAll(ctx, list[0].Bank, list) })
		})
		switch {
		case err != nil:
			return err
		case len(list) > 0:
			after = list[0].Bank
			continue
		case after != "":
			after = ""
			continue
		}
		select {
		case <-queued:
		case <-ctx.Done():
			return nil
		}
	}
}

// eraseAll carries out erasures of one bank: message events first, because what is left of a write depends on them.
func (e *Eraser) eraseAll(ctx context.Context, bank memory.BankID, list []Entry) error {
	var done, broken []int64
	var messages []uint64
	letters := false
	for _, entry := range list {
		letters = letters || strings.HasSuffix(entry.Stream, "_DEAD")
		if strings.HasSuffix(entry.Stream, "_MESSAGES") {
			messages = append(messages, entry.Seq)
		}
	}
	if err := e.eraseMessages(ctx, bank, messages); err != nil {
		return err
	}
	if letters {
		if err := e.eraseDeadLetters(ctx, bank, memory.Write{}); err != nil {
			return err
		}
	}
	if err := e.eraseWhole(ctx, bank, list); err != nil {
		return err
	}
	for _, entry := range list {
		if strings.HasSuffix(entry.Stream, "_WRITES") && !entry.Whole {
			if err := e.eraseWrite(ctx, entry); err != nil {
				return err
			}
		}
	}
	for _, entry := range list {
		if e.isDamaged(entry) {
			broken = append(broken, entry.No)
		} else {
			done = append(done, entry.No)
		}
	}
	if len(broken) > 0 {
		if err := e.deps.Store.Unerasable(ctx, broken); err != nil {
			return err
		}
	}
	if e.deps.Erased != nil {
		e.deps.Erased.Add(float64(len(done)))
	}
	return e.deps.Store.Erased(ctx, done)
}

// eraseMessages notes in the log which message events it erases, and erases them.
func (e *Eraser) eraseMessages(ctx context.Context, bank memory.BankID, seqs []uint64) error {
	if len(seqs) == 0 {
		return nil
	}
	names, err := e.deps.Store.ErasedMessages(ctx, bank, seqs)
	if err != nil {
		return fmt.Errorf("look up the erased messages of %s: %w", bank, err)
	}
	if err := e.note(ctx, bank, memory.Erased{Messages: names}); err != nil {
		return err
	}
	return e.eraseEvents(ctx, e.deps.Conn.Naming.Messages(), seqs)
}

// eraseEvents erases events of a stream, several at a time.
func (e *Eraser) eraseEvents(ctx context.Context, stream string, seqs []uint64) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for _, seq := range seqs {
		group.Go(func() error { return e.erase(ctx, stream, seq) })
	}
	return group.Wait()
}

// note appends the names of what is about to be erased. Its op is a hash of them, so that a repeat is one.
func (e *Eraser) note(ctx context.Context, bank memory.BankID, names memory.Erased) error {
	if len(names.Messages)+len(names.Writes) == 0 {
		return nil
	}
	body, err := json.Marshal(names)
	if err != nil {
		return fmt.Errorf("encode the names of what is erased: %w", err)
	}
	sum := sha256.Sum256(body)
	w := memory.Write{Bank: bank, Kind: memory.WriteErased, Op: "names:" + hex.EncodeToString(sum[:16]), Erased: &names}
	if _, err := e.deps.Conn.AppendWrite(ctx, w); err != nil {
		return fmt.Errorf("note what is erased of %s: %w", bank, err)
	}
	return nil
}

// eraseWhole erases the writes of a bank that was erased, and notes the hashes of their ops. What notes erased events
// stays.
func (e *Eraser) eraseWhole(ctx context.Context, bank memory.BankID, list []Entry) error {
	var names memory.Erased
	var seqs []uint64
	for _, entry := range list {
		if !entry.Whole {
			continue
		}
		event, err := e.deps.Conn.EventAt(ctx, e.deps.Conn.Naming.Writes(), entry.Seq)
		if errors.Is(err, memory.ErrNotFound) { // or damaged
			seqs = append(seqs, entry.Seq)
			continue
		}
		if err != nil {
			return fmt.Errorf("read write %d: %w", entry.Seq, err)
		}
		w, err := event.Write()
		if err == nil && w.Kind == memory.WriteErased && w.RestOf == nil {
			continue
		}
		if seqs = append(seqs, entry.Seq); err == nil {
			op := memory.HashedOp(bank, w.Op)
			if w.RestOf != nil {
				names.Writes = append(names.Writes, memory.ErasedWrite{Seq: w.RestOf.Seq, Op: op})
			}
			names.Writes = append(names.Writes, memory.ErasedWrite{Seq: w.Seq, Op: op})
		}
	}
	if err := e.note(ctx, bank, names); err != nil {
		return err
	}
	return e.eraseEvents(ctx, e.deps.Conn.Naming.Writes(), seqs)
}

// eraseWrite erases a write. What of it was not forgotten, its op and its usage at least, is appended as a new write
// before the old one goes.
func (e *Eraser) eraseWrite(ctx context.Context, entry Entry) error {
	stream, seq := e.deps.Conn.Naming.Writes(), entry.Seq
	event, err := e.deps.Conn.EventAt(ctx, stream, seq)
	if errors.Is(err, memory.ErrNotFound) { // or damaged
		return e.erase(ctx, stream, seq)
	}
	if err != nil {
		return fmt.Errorf("read write %d: %w", seq, err)
	}
	var rest memory.Write
	w, err := event.Write()
	switch {
	case err != nil:
		return e.erase(ctx, stream, seq)
	case w.Kind == memory.WriteForget:
		rest, err = e.finishForget(ctx, w)
	default:
		rest, err = e.restOf(ctx, w)
	}
	if err != nil {
		return err
	}
	rest.RestOf = &memory.RestOf{Seq: place(w), Kind: rest.Kind}
	at, err := e.deps.Conn.AppendWrite(telemetry.Extract(ctx, event.Header), rest)
	if err != nil {
		return fmt.Errorf("append the rest of write %d: %w", seq, err)
	}
	if at == seq { // it is the rest of another erasure, and nothing of it was forgotten since
		return nil
	}
	return e.erase(ctx, stream, seq)
}

// place returns the sequence at which a write was applied first.
func place(w memory.Write) uint64 {
	if w.RestOf != nil {
		return w.RestOf.Seq
	}
	return w.Seq
}

// restOf returns what is left of a write: op and time at least, because by them the write is known to be applied and its
// usage to be counted.
func (e *Eraser) restOf(ctx context.Context, w memory.Write) (memory.Write, error) {
	rest, keep, err := e.remainder(ctx, w)
	if err == nil && !keep {
		rest = memory.Write{Bank: w.Bank, Kind: memory.WriteErased, Op: w.Op, Time: w.Time, Usage: w.Usage, Erased: &memory.Erased{}, Refusal: rest.Refusal}
	}
	return rest, err
}
