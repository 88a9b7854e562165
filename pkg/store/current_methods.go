package store

import (
	"context"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/backfill"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/erasure"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/outbox"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
	"github.com/eunoe-memory/eunoe/pkg/query/verify"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

var _ Store = (*Current)(nil)

// Outbox returns committed changes that were not yet marked sent.
func (c *Current) Outbox(ctx context.Context, after int64, limit int) ([]outbox.Entry, error) {
	return ask(c, func(st Store) ([]outbox.Entry, error) { return st.Outbox(ctx, after, limit) })
}

// Sent removes entries of the outbox.
func (c *Current) Sent(ctx context.Context, upto int64) error {
	return c.call(func(st Store) error { return st.Sent(ctx, upto) })
}

// Erasures returns stream events that are to be erased.
func (c *Current) Erasures(ctx context.Context, after memory.BankID, limit int) ([]erasure.Entry, error) {
	return ask(c, func(st Store) ([]erasure.Entry, error) { return st.Erasures(ctx, after, limit) })
}

// Erased removes erasures that were carried out.
func (c *Current) Erased(ctx context.Context, numbers []int64) error {
	return c.call(func(st Store) error { return st.Erased(ctx, numbers) })
}

// Unerasable keeps erasures that cannot be carried out.
func (c *Current) Unerasable(ctx context.Context, numbers []int64) error {
	return c.call(func(st Store) error { return st.Unerasable(ctx, numbers) })
}

// ErasedMessages returns message events that were forgotten.
func (c *Current) ErasedMessages(ctx context.Context, bank memory.BankID, seqs []uint64) ([]memory.ErasedMessage, error) {
	return ask(c, func(st Store) ([]memory.ErasedMessage, error) { return st.ErasedMessages(ctx, bank, seqs) })
}

// Outcome returns the outcome of an op.
func (c *Current) Outcome(ctx context.Context, bank memory.BankID, op string) (*memory.WriteOutcome, error) {
	return ask(c, func(st Store) (*memory.WriteOutcome, error) { return st.Outcome(ctx, bank, op) })
}

// KnownFacts reports which of the facts the store has.
func (c *Current) KnownFacts(ctx context.Context, ids []memory.FactID) (map[memory.FactID]bool, error) {
	return ask(c, func(st Store) (map[memory.FactID]bool, error) { return st.KnownFacts(ctx, ids) })
}

// KnownNames reports which names an entity bears.
func (c *Current) KnownNames(ctx context.Context, bank memory.BankID, names []string) (map[string]bool, error) {
	return ask(c, func(st Store) (map[string]bool, error) { return st.KnownNames(ctx, bank, names) })
}

// SourcesOf returns the sources of facts.
func (c *Current) SourcesOf(ctx context.Context, ids []memory.FactID) (map[memory.FactID][]uint64, error) {
	return ask(c, func(st Store) (map[memory.FactID][]uint64, error) { return st.SourcesOf(ctx, ids) })
}

// RetainedFacts reports which facts an op retained.
func (c *Current) RetainedFacts(ctx context.Context, op string, ids []memory.FactID) (map[memory.FactID]bool, error) {
	return ask(c, func(st Store) (map[memory.FactID]bool, error) { return st.RetainedFacts(ctx, op, ids) })
}

// KnownObservations reports which observations the store has.
func (c *Current) KnownObservations(ctx context.Context, ids []memory.ObservationID) (map[memory.ObservationID]bool, error) {
	return ask(c, func(st Store) (map[memory.ObservationID]bool, error) { return st.KnownObservations(ctx, ids) })
}

// AppliedDecisions returns the applied decisions about facts.
func (c *Current) AppliedDecisions(ctx context.Context, bank memory.BankID, facts []memory.FactID) ([]memory.DecisionResult, error) {
	return ask(c, func(st Store) ([]memory.DecisionResult, error) { return st.AppliedDecisions(ctx, bank, facts) })
}

// FactsWithoutVector returns facts without a vector.
func (c *Current) FactsWithoutVector(ctx context.Context, after int64, limit int) ([]backfill.Record, error) {
	return ask(c, func(st Store) ([]backfill.Record, error) { return st.FactsWithoutVector(ctx, after, limit) })
}

// MessagesWithoutVector returns messages without a vector.
func (c *Current) MessagesWithoutVector(ctx context.Context, after int64, limit int) ([]backfill.Record, error) {
	return ask(c, func(st Store) ([]backfill.Record, error) { return st.MessagesWithoutVector(ctx, after, limit) })
}

// ApplyMessages stores message events.
func (c *Current) ApplyMessages(ctx context.Context, after, last uint64, events []consolidate.MessageEvent) error {
	return c.call(func(st Store) error { return st.ApplyMessages(ctx, after, last, events) })
}

// ApplyMessagesAhead stores message events of banks that are ahead.
func (c *Current) ApplyMessagesAhead(ctx context.Context, from, to memory.MessagePosition, events []consolidate.MessageEvent) error {
	return c.call(func(st Store) error { return st.ApplyMessagesAhead(ctx, from, to, events) })
}

// MessagePosition returns how far the messages are applied.
func (c *Current) MessagePosition(ctx context.Context) (memory.MessagePosition, error) {
	return ask(c, func(st Store) (memory.MessagePosition, error) { return st.MessagePosition(ctx) })
}

// ApplyWrites plans and applies writes.
func (c *Current) ApplyWrites(ctx context.Context, after, last uint64, writes []memory.Write, decide plan.Func) error {
	return c.call(func(st Store) error { return st.ApplyWrites(ctx, after, last, writes, decide) })
}

// AdoptLog records the identities of the streams.
func (c *Current) AdoptLog(ctx context.Context, messages, writes string) error {
	return c.call(func(st Store) error { return st.AdoptLog(ctx, messages, writes) })
}

// MessageStates counts message events by state.
func (c *Current) MessageStates(ctx context.Context) (map[memory.MessageState]int64, error) {
	return ask(c, func(st Store) (map[memory.MessageState]int64, error) { return st.MessageStates(ctx) })
}

// Backlogs returns what waits for a language model.
func (c *Current) Backlogs(ctx context.Context) ([]consolidate.Backlog, error) {
	return ask(c, func(st Store) ([]consolidate.Backlog, error) { return st.Backlogs(ctx) })
}

// Unobserved returns banks with facts that no model has observed.
func (c *Current) Unobserved(ctx context.Context, least int) ([]consolidate.Unobserved, error) {
	return ask(c, func(st Store) ([]consolidate.Unobserved, error) { return st.Unobserved(ctx, least) })
}

// Look runs fn on a snapshot of a bank.
func (c *Current) Look(ctx context.Context, bank memory.BankID, fn func(plan.View) error) error {
	return c.call(func(st Store) error { return st.Look(ctx, bank, fn) })
}

// Search runs fn on one state of a bank, narrowed by f.
func (c *Current) Search(ctx context.Context, bank memory.BankID, f memory.Filter, fn func(recall.Searcher) error) error {
	return c.call(func(st Store) error { return st.Search(ctx, bank, f, fn) })
}

// Read runs fn on one state of a bank.
func (c *Current) Read(ctx context.Context, bank memory.BankID, fn func(query.Reader) error) error {
	return c.call(func(st Store) error { return st.Read(ctx, bank, fn) })
}

// Banks returns banks by id.
func (c *Current) Banks(ctx context.Context, after memory.BankID, limit int) ([]memory.Bank, error) {
	return ask(c, func(st Store) ([]memory.Bank, error) { return st.Banks(ctx, after, limit) })
}

// Verify checks the store by itself.
func (c *Current) Verify(ctx context.Context, full bool) (wire.Verification, error) {
	return ask(c, func(st Store) (wire.Verification, error) { return st.Verify(ctx, full) })
}

// MessageEvents returns message events by sequence.
func (c *Current) MessageEvents(ctx context.Context, after uint64, limit int) ([]verify.MessageEvent, error) {
	return ask(c, func(st Store) ([]verify.MessageEvent, error) { return st.MessageEvents(ctx, after, limit) })
}

// AppliedWrites returns the sequences of applied writes, ascending.
func (c *Current) AppliedWrites(ctx context.Context, after uint64, limit int) ([]uint64, error) {
	return ask(c, func(st Store) ([]uint64, error) { return st.AppliedWrites(ctx, after, limit) })
}

// Queues tells what work commits have left behind.
func (c *Current) Queues(ctx context.Context) ([]verify.Queues, error) {
	return ask(c, func(st Store) ([]verify.Queues, error) { return st.Queues(ctx) })
}

// Preview returns what a write would change.
func (c *Current) Preview(ctx context.Context, w memory.Write, decide plan.Func) (memory.Changes, error) {
	return ask(c, func(st Store) (memory.Changes, error) { return st.Preview(ctx, w, decide) })
}

// Move returns which store is made to take the place of this one, or was.
func (c *Current) Move(ctx context.Context) (Move, error) {
	return ask(c, func(st Store) (Move, error) { return st.Move(ctx) })
}

// NoteMove notes which store is made to take the place of this one.
func (c *Current) NoteMove(ctx context.Context, m Move) error {
	return c.call(func(st Store) error { return st.NoteMove(ctx, m) })
}
