package store

import (
	"cmp"
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
	"github.com/eunoe-memory/eunoe/pkg/query/verify"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// ShardDSN returns where the store of a shard is: of the only one what dsn says, of the third of four eunoe.2of4.db beside
// eunoe.db, or the schema eunoe_2of4 in the place of eunoe. Of the addresses of several servers, separated by spaces, the
// shards have one each in turns.
func ShardDSN(dsn string, s events.Shard) string {
	if postgres.Names(dsn) {
		servers := strings.Fields(dsn)
		dsn = servers[s.Index%len(servers)]
	}
	switch {
	case s.Alone():
		return dsn
	case postgres.Names(dsn):
		return postgres.Beside(dsn, "_"+s.String())
	}
	ext := filepath.Ext(dsn)
	return strings.TrimSuffix(dsn, ext) + "." + s.String() + ext
}

// Whole is what is asked of the stores of all shards together.
type Whole interface {
	query.Store
	// Dump writes the logical content of one shard after the other.
	Dump(ctx context.Context, w io.Writer) error
	// Preview returns what decide would change for a write that came next, and changes nothing.
	Preview(ctx context.Context, w memory.Write, decide plan.Func) (memory.Changes, error)
	// MessageStates counts the message events of all banks by state.
	MessageStates(ctx context.Context) (map[memory.MessageState]int64, error)
	// Close closes every store.
	Close() error
}

var _ Whole = Store(nil)

// Join returns the stores of all shards, in their order, as one: what is asked of a bank is answered by its own. It is the
// store itself where there is one.
func Join(n events.Naming, parts []Store) Whole {
	if len(parts) == 1 {
		return parts[0]
	}
	return &shards{names: n, parts: parts}
}

// shards are the stores of several shards.
type shards struct {
	names events.Naming
	parts []Store
}

var _ verify.Parts = (*shards)(nil)

func (s *shards) of(bank memory.BankID) Store { return s.parts[s.names.ShardOf(bank, len(s.parts))] }

// AppliedOf implements query.Store.
func (s *shards) AppliedOf(ctx context.Context, bank memory.BankID) (messages, writes uint64, err error) {
	return s.of(bank).AppliedOf(ctx, bank)
}

// Search implements query.Store.
func (s *shards) Search(ctx context.Context, bank memory.BankID, f memory.Filter, fn func(recall.Searcher) error) error {
	return s.of(bank).Search(ctx, bank, f, fn)
}

// Read implements query.Store.
func (s *shards) Read(ctx context.Context, bank memory.BankID, fn func(query.Reader) error) error {
	return s.of(bank).Read(ctx, bank, fn)
}

// Spent implements query.Store.
func (s *shards) Spent(ctx context.Context, bank memory.BankID, day string) (tokens, bound int64, err error) {
	return s.of(bank).Spent(ctx, bank, day)
}

// Outcome implements query.Store.
func (s *shards) Outcome(ctx context.Context, bank memory.BankID, op string) (*memory.WriteOutcome, error) {
	return s.of(bank).Outcome(ctx, bank, op)
}

// Preview implements Whole.
func (s *shards) Preview(ctx context.Context, w memory.Write, decide plan.Func) (memory.Changes, error) {
	return s.of(w.Bank).Preview(ctx, w, decide)
}

// Banks implements query.Store.
func (s *shards) Banks(ctx context.Context, after memory.BankID, limit int) ([]memory.Bank, error) {
	return merged(s.parts, limit, func(st Store) ([]memory.Bank, error) { return st.Banks(ctx, after, limit) },
		func(a, b memory.Bank) int { return cmp.Compare(a.ID, b.ID) })
}

// MessageEvents implements query.Store.
func (s *shards) MessageEvents(ctx context.Context, after uint64, limit int) ([]verify.MessageEvent, error) {
	return merged(s.parts, limit, func(st Store) ([]verify.MessageEvent, error) { return st.MessageEvents(ctx, after, limit) },
		func(a, b verify.MessageEvent) int { return cmp.Compare(a.Seq, b.Seq) })
}

// AppliedWrites implements query.Store.
func (s *shards) AppliedWrites(ctx context.Context, after uint64, limit int) ([]uint64, error) {
	return merged(s.parts, limit, func(st Store) ([]uint64, error) { return st.AppliedWrites(ctx, after, limit) }, cmp.Compare[uint64])
}

// merged returns the first of what all parts answer, in order. No two of them answer the same.
func merged[T any](parts []Store, limit int, ask func(Store) ([]T, error), compare func(a, b T) int) ([]T, error) {
	var out []T
	for _, st := range parts {
		list, err := ask(st)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	slices.SortFunc(out, compare)
	return out[:min(len(out), limit)], nil
}

// Warm implements query.Store.
func (s *shards) Warm() {
	for _, st := range s.parts {
		st.Warm()
	}
}

// Sketches implements query.Store.
func (s *shards) Sketches() (out query.Sketches) {
	for _, st := range s.parts {
		of := st.Sketches()
		out.Banks += of.Banks
		out.Rows += of.Rows
		out.Held += of.Held
		out.Bytes += of.Bytes
		out.Building += of.Building
	}
	return out
}

// Applied returns the sequences up to which every shard has applied the log.
func (s *shards) Applied(ctx context.Context) (messages, writes uint64, err error) {
	for i, st := range s.parts {
		m, w, err := st.Applied(ctx)
		if err != nil {
			return 0, 0, err
		}
		if i == 0 {
			messages, writes = m, w
		}
		messages, writes = min(messages, m), min(writes, w)
	}
	return messages, writes, nil
}

// LogPositions returns those of the first shard; LogStores has all.
func (s *shards) LogPositions(ctx context.Context) (messages, writes memory.LogPosition, err error) {
	return s.parts[0].LogPositions(ctx)
}

// LogStores implements verify.Parts.
func (s *shards) LogStores() []events.LogStore {
	out := make([]events.LogStore, len(s.parts))
	for i, st := range s.parts {
		out[i] = st
	}
	return out
}

// MessageStates implements Whole.
func (s *shards) MessageStates(ctx context.Context) (map[memory.MessageState]int64, error) {
	out := map[memory.MessageState]int64{}
	for _, st := range s.parts {
		of, err := st.MessageStates(ctx)
		if err != nil {
			return nil, err
		}
		for state, n := range of {
			out[state] += n
		}
	}
	return out, nil
}

// Verify implements query.Store.
func (s *shards) Verify(ctx context.Context, full bool) (wire.Verification, error) {
	out := wire.NewVerification()
	var checks []wire.Check
	for i, st := range s.parts {
		v, err := st.Verify(ctx, full)
		if err != nil {
			return v, err
		}
		for table, n := range v.Counts {
			out.Counts[table] += n
		}
		for _, c := range v.Checks {
			checks = addCheck(checks, c, events.Shard{Index: i, Of: len(s.parts)})
		}
	}
	for _, c := range checks {
		out.Add(c)
	}
	return out, nil
}

// addCheck adds the result of a rule in one shard to those of others.
func addCheck(checks []wire.Check, c wire.Check, in events.Shard) []wire.Check {
	for i, where := range c.Where {
		c.Where[i] = "shard " + in.String() + ": " + where
	}
	at := slices.IndexFunc(checks, func(k wire.Check) bool { return k.Rule == c.Rule })
	if at < 0 {
		return append(checks, c)
	}
	checks[at].Broken += c.Broken
	checks[at].Where = append(checks[at].Where, c.Where...)
	checks[at].Skipped = cmp.Or(checks[at].Skipped, c.Skipped)
	return checks
}

// Queues implements query.Store.
func (s *shards) Queues(ctx context.Context) (out []verify.Queues, err error) {
	for _, st := range s.parts {
		q, err := st.Queues(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, q...)
	}
	return out, nil
}

// Dump implements Whole.
func (s *shards) Dump(ctx context.Context, w io.Writer) error {
	for _, st := range s.parts {
		if err := st.Dump(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

// Close implements Whole.
func (s *shards) Close() error {
	var errs []error
	for _, st := range s.parts {
		errs = append(errs, st.Close())
	}
	return errors.Join(errs...)
}
