package extract

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/kv"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Writes are applied in the order of the log, so what a bank has appended and not applied yet stands before the writes of
// every other bank. A process therefore appends as much ahead of the store as it applies in aheadFor, within bounds,
// counted in writes and their facts: on two idle cores the store applies some 1,000 a second.
const (
	aheadFor    = 150 * time.Millisecond // several transactions, and the time until it is known that they ended
	leastOfBank = 48                     // by one bank
	mostOfBank  = 192
	flowLook    = 10 * time.Millisecond
	rateOver    = time.Second // over which the rate of the store is a moving mean
)

// flow holds the appending of a process back while the store is behind. It holds nothing back while no consolidator
// tells how far it is: extraction does not depend on one.
type flow struct {
	conn *events.Conn

	mu      sync.Mutex
	read    time.Time     // when the last look began
	since   time.Duration // how long before that the look before it began
	looking bool          // one looks, however long the broker takes to answer
	looked  bool          // a look has ended: stores is known
	stores  []shardStore  // by shard, as last read; replaced by the one that looks alone
	ofBank  map[memory.BankID]int
	all     int
	pending []*pass // appended and not applied, as far as is known
	rate    float64 // cost applied a second while something waited; 0 = not known
}

// shardStore is how far the store of a shard is.
type shardStore struct {
	record *kv.Applied
	kv.Progress
	known bool // somebody tells; else Progress is zero
}

// pass is what one write adds to the flow.
type pass struct {
	flow *flow
	bank memory.BankID
	cost int
	seq  uint64
}

func newFlow(c *events.Conn) *flow {
	return &flow{conn: c, stores: openStores(c, 1), ofBank: map[memory.BankID]int{}}
}

func openStores(c *events.Conn, of int) []shardStore {
	out := make([]shardStore, 0, of)
	for _, s := range events.Shards(of) {
		out = append(out, shardStore{record: kv.OpenApplied(c, s)})
	}
	return out
}

// storeOf returns how far the store that holds a bank is.
func (f *flow) storeOf(bank memory.BankID) shardStore {
	return f.stores[f.conn.Naming.ShardOf(bank, len(f.stores))]
}

// enter waits until a bank may append a write of a cost that rests on messages up to a sequence. A bank whose messages the
// store holds back waits for them, because its write would keep those of others waiting. The pass is to be told what became
// of it.
func (f *flow) enter(ctx context.Context, bank memory.BankID, upto uint64, cost int) (*pass, error) {
	tick := time.NewTicker(flowLook)
	defer tick.Stop()
	for {
		f.mu.Lock()
		if f.due() {
			f.mu.Unlock()
			f.look(ctx)
			f.mu.Lock()
		}
		stored, held := f.storeOf(bank).Messages.Held[bank]
		if of := f.ofBank[bank]; f.looked && !(held && stored < upto) && (of == 0 || of < f.most() && 3*f.all < 5*f.most()) {
			p := &pass{flow: f, bank: bank, cost: cost}
			f.ofBank[bank] += cost
			f.all += cost
			f.mu.Unlock()
			return p, nil
		}
		f.mu.Unlock()
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, events.Classify(ctx.Err(), "append")
		}
	}
}

// most returns what one bank may have ahead of the store. All banks may have two thirds more, and a bank that has nothing
// may append all the same.
func (f *flow) most() int {
	if f.rate == 0 {
		return mostOfBank
	}
	return min(max(leastOfBank, int(f.rate*aheadFor.Seconds())), mostOfBank)
}

// due reports whether it is time to look again and nobody does, which the caller then does.
func (f *flow) due() bool {
	if f.looking || time.Since(f.read) < flowLook {
		return false
	}
	f.looking, f.since, f.read = true, time.Since(f.read), time.Now()
	return true
}

// look reads how far the writes are applied, and forgets what is.
func (f *flow) look(ctx context.Context) {
	stores := f.readStores(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.looking = false
	if ctx.Err() != nil {
		return
	}
	f.stores, f.looked = stores, true
	left, waited, before := f.pending[:0], len(f.pending) > 0, f.all
	for _, p := range f.pending {
		if store := f.storeOf(p.bank); !store.known || p.seq <= store.Write {
			f.remove(p)
		} else {
			left = append(left, p)
		}
	}
	clear(f.pending[len(left):])
	f.pending = left
	if now := float64(before-f.all) / f.since.Seconds(); waited && len(left) > 0 { // it worked all the time
		if f.rate == 0 {
			f.rate = now
		}
		f.rate += (now - f.rate) * min(1, f.since.Seconds()/rateOver.Seconds())
	}
}

// readStores reads how far the stores are. The first one tells how many there are; nobody else looks meanwhile.
func (f *flow) readStores(ctx context.Context) []shardStore {
	out := slices.Clone(f.stores)
	for i := 0; i < len(out); i++ {
		out[i].Progress, out[i].known, _ = out[i].record.Get(ctx) //nolint:errcheck // then it is not known
		if of := max(1, out[0].Shards); i == 0 && out[0].known && of != len(out) {
			out = append(out[:1], openStores(f.conn, of)[1:]...)
		}
	}
	return out
}

func (f *flow) remove(p *pass) {
	f.all -= p.cost
	if f.ofBank[p.bank] -= p.cost; f.ofBank[p.bank] == 0 {
		delete(f.ofBank, p.bank)
	}
}

// appended says where the write stands in the log.
func (p *pass) appended(seq uint64) {
	p.flow.mu.Lock()
	defer p.flow.mu.Unlock()
	p.seq = seq
	p.flow.pending = append(p.flow.pending, p)
}

// leave says that the write is not in the log.
func (p *pass) leave() {
	p.flow.mu.Lock()
	defer p.flow.mu.Unlock()
	p.flow.remove(p)
}
