package rebuild

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// rests are what erasures appended to the log about events that it no longer holds. A rebuild gives each its place.
type rests struct {
	messages []consolidate.MessageEvent // erased ones, by sequence
	moved    map[uint64]uint64          // rests of writes: their events, by the sequences that they stand for
	gone     map[uint64]memory.Write    // writes of which the op alone is left, by sequence
	next     []uint64                   // sequences of moved and gone that have not been reached, ascending
}

// findRests reads what erasures of the banks of a shard appended after a sequence.
func findRests(ctx context.Context, conn *events.Conn, shard events.Shard, after uint64) (*rests, error) {
	r := &rests{moved: map[uint64]uint64{}, gone: map[uint64]memory.Write{}}
	messages := map[uint64]consolidate.MessageEvent{}
	var filters []string
	for _, k := range []memory.WriteKind{memory.WriteErased, memory.WriteRest} {
		filters = append(filters, conn.Naming.Subject("*", events.KindWrite, string(k)))
	}
	_, err := ordered.Scan(ctx, conn, conn.Naming.Writes(), filters, after, func(e events.Event) error {
		w, err := e.Write()
		if err != nil || !shard.Holds(conn.Naming, w.Bank) {
			return nil // it has its dead letter, or is of another store
		}
		if w.RestOf != nil {
			r.moved[w.RestOf.Seq] = e.Seq
		}
		if w.Erased == nil {
			return nil
		}
		for _, m := range w.Erased.Messages {
			messages[m.Seq] = consolidate.MessageEvent{Seq: m.Seq, Bank: w.Bank, Session: m.Session, Stored: m.Stored,
				State: memory.StateForgotten, Erased: m.ID}
		}
		for _, g := range w.Erased.Writes {
			r.gone[g.Seq] = memory.Write{Bank: w.Bank, Kind: memory.WriteErased, Seq: g.Seq, Op: g.Op, Time: w.Time, Erased: &memory.Erased{}}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for what erasures left in %s: %w", conn.Naming.Writes(), err)
	}
	r.messages = slices.SortedFunc(maps.Values(messages), func(a, b consolidate.MessageEvent) int { return cmp.Compare(a.Seq, b.Seq) })
	for seq := range r.gone {
		if _, ok := r.moved[seq]; !ok {
			r.next = append(r.next, seq)
		}
	}
	r.next = slices.AppendSeq(r.next, maps.Keys(r.moved))
	slices.Sort(r.next)
	return r, nil
}

// passed removes what stands for events that a store has applied, and returns the last place that is left; 0 for none.
func (r *rests) passed(messages memory.MessagePosition, writes uint64) (last uint64) {
	r.messages = slices.DeleteFunc(r.messages, func(m consolidate.MessageEvent) bool { return m.Seq <= messages.Of(m.Bank) })
	r.next = slices.DeleteFunc(r.next, func(place uint64) bool { return place <= writes })
	if len(r.next) > 0 {
		last = r.next[len(r.next)-1]
	}
	return last
}

// erasedUpto removes and returns the erased messages up to a sequence, but for those in a batch: the log still has them.
func (r *rests) erasedUpto(seq uint64, batch []events.Event) []consolidate.MessageEvent {
	n, _ := slices.BinarySearchFunc(r.messages, seq+1, func(m consolidate.MessageEvent, s uint64) int { return cmp.Compare(m.Seq, s) })
	out := r.messages[:n:n]
	r.messages = r.messages[n:]
	return slices.DeleteFunc(slices.Clone(out), func(m consolidate.MessageEvent) bool {
		_, there := slices.BinarySearchFunc(batch, m.Seq, func(e events.Event, s uint64) int { return cmp.Compare(e.Seq, s) })
		return there
	})
}

// before removes and returns, in order, the writes whose places lie before a sequence. A place at the sequence itself is
// dropped: the log still has the event.
func (r *rests) before(ctx context.Context, conn *events.Conn, seq uint64) ([]memory.Write, error) {
	out, err := r.upto(ctx, conn, seq-1)
	if len(r.next) > 0 && r.next[0] == seq {
		r.next = r.next[1:]
	}
	return out, err
}

// upto removes and returns, in order, the writes whose places lie up to a sequence.
func (r *rests) upto(ctx context.Context, conn *events.Conn, seq uint64) ([]memory.Write, error) {
	var out []memory.Write
	for len(r.next) > 0 && r.next[0] <= seq {
		place := r.next[0]
		r.next = r.next[1:]
		w, err := r.at(ctx, conn, place)
		if err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	return out, nil
}

// at returns what is left of the write at a place, as if it had stood there.
func (r *rests) at(ctx context.Context, conn *events.Conn, place uint64) (memory.Write, error) {
	seq, ok := r.moved[place]
	if !ok {
		return r.gone[place], nil
	}
	e, err := conn.EventAt(ctx, conn.Naming.Writes(), seq)
	if err != nil {
		return memory.Write{}, fmt.Errorf("read the rest of write %d: %w", place, err)
	}
	w, err := e.Write()
	w.Seq = place
	return w, err
}

// withErased adds erased messages to a batch.
func withErased(b consolidate.MessageBatch, erased []consolidate.MessageEvent) consolidate.MessageBatch {
	if len(erased) > 0 {
		b.Kept = slices.Concat(b.Kept, erased)
		slices.SortFunc(b.Kept, func(x, y consolidate.MessageEvent) int { return cmp.Compare(x.Seq, y.Seq) })
		b.Last = max(b.Last, b.Kept[len(b.Kept)-1].Seq)
	}
	return b
}
