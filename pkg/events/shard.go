package events

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Shard is the part of the banks that one store holds: those whose partition modulo Of is Index. Each shard has a store,
// a lease and a consolidator of its own, and reads the whole log: positions are sequences of the streams in every shard, and
// events of other shards only move them. The zero value is the only shard of a deployment that has one.
type Shard struct {
	Index int // 0 to Of - 1
	Of    int // 0 and 1 both mean that there is one
}

// kindElsewhere is the kind of what Shard.Own leaves of an event of another shard.
const kindElsewhere = "elsewhere"

// Shards returns every shard of a number of them, in order.
func Shards(of int) []Shard {
	out := make([]Shard, max(1, of))
	for i := range out {
		out[i] = Shard{Index: i, Of: len(out)}
	}
	return out
}

// ShardOf returns the index of the shard, of so many, that holds a bank.
func (n Naming) ShardOf(bank memory.BankID, of int) int {
	if of <= 1 {
		return 0
	}
	return n.PartitionOf(EncodeToken(string(bank))) % of
}

// Alone reports whether this is the only shard.
func (s Shard) Alone() bool { return s.Of <= 1 }

// String returns "2of4" of the third of four shards, which the names of stores have.
func (s Shard) String() string { return fmt.Sprintf("%dof%d", s.Index, max(1, s.Of)) }

// Key returns a name by shard of what each has for itself, as a lease. That of the first is the name itself, so that a
// consolidator of another number of shards finds it taken.
func (s Shard) Key(name string) string {
	if s.Index == 0 {
		return name
	}
	return name + "-" + strconv.Itoa(s.Index)
}

// Own returns a run of events in which those of other shards have nothing but their place in the stream: they are applied
// as events that change nothing.
func (s Shard) Own(n Naming, run []Event) []Event {
	if s.Alone() {
		return run
	}
	out := run
	for i, e := range run {
		if s.owns(n, e) {
			continue
		}
		if &out[0] == &run[0] {
			out = slices.Clone(run)
		}
		out[i] = Event{Kind: kindElsewhere, Stream: e.Stream, Subject: e.Subject, Seq: e.Seq, Stored: e.Stored, Pending: e.Pending}
	}
	return out
}

// owns reports whether an event is of this shard. One whose subject cannot be read is of the first.
func (s Shard) owns(n Naming, e Event) bool {
	if e.BankToken == "" {
		return s.Index == 0
	}
	return n.PartitionOf(e.BankToken)%s.Of == s.Index
}

// Elsewhere reports whether this is what Shard.Own left of an event of another shard.
func (e Event) Elsewhere() bool { return e.Kind == kindElsewhere }

// Holds reports whether the banks of this shard include one.
func (s Shard) Holds(n Naming, bank memory.BankID) bool { return n.ShardOf(bank, s.Of) == s.Index }

// ShardCounts are the numbers of shards that a deployment may have: those that divide the partitions evenly.
func ShardCounts() []int { return []int{1, 2, 4, 8, 16} }

// shardsKey is where the metadata of MEM_WRITES has the number of shards.
const shardsKey = "eunoe-shards"

// ShardCount returns the number of shards that the log is applied by, 0 where it was never set: there is one then.
func (c *Conn) ShardCount(ctx context.Context) (int, error) {
	s, err := c.stream(ctx, c.Naming.Writes())
	if err != nil {
		return 0, err
	}
	text := s.CachedInfo().Config.Metadata[shardsKey]
	if text == "" {
		return 0, nil
	}
	of, err := strconv.Atoi(text)
	if err != nil || !slices.Contains(ShardCounts(), of) {
		return 0, fmt.Errorf("stream %s says that there are %q shards, which this program does not know: %w", c.Naming.Writes(), text, memory.ErrConflict)
	}
	return of, nil
}

// CheckShards returns memory.ErrConflict, which says what to do, unless the log is applied by so many shards.
func (c *Conn) CheckShards(ctx context.Context, of int) error {
	have, err := c.ShardCount(ctx)
	if err == nil && max(1, have) != max(1, of) {
		err = fmt.Errorf("there are %d stores by now, and this program has %d: restart it, without EUNOE_SHARDS or with EUNOE_SHARDS=%d: %w",
			max(1, have), max(1, of), max(1, have), memory.ErrConflict)
	}
	return err
}

// SetShardCount records the number of shards that the log is applied by.
func (c *Conn) SetShardCount(ctx context.Context, of int) error {
	s, err := c.stream(ctx, c.Naming.Writes())
	if err != nil {
		return err
	}
	cfg := s.CachedInfo().Config
	metadata := map[string]string{}
	for k, v := range cfg.Metadata {
		metadata[k] = v
	}
	metadata[shardsKey] = strconv.Itoa(of)
	cfg.Metadata = metadata
	_, err = c.JS.UpdateStream(ctx, cfg)
	return Classify(err, "write the number of shards into stream %s", cfg.Name)
}
