package consolidate

import (
	"maps"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// What the next transaction of messages takes, and from when on a bank is held. A message takes about as long as so many
// bytes of a long one.
const (
	costOfMessage = 4 << 10
	maxTaken      = 1 << 20 // a single message may cost more
	heldFrom      = maxTaken / 2
	maxHeld       = 8 // banks
)

// How much of what is read ahead is kept in memory. Beyond bodiesInMemory, the long messages of a held bank are read again when it
// is their turn; beyond maxAhead, nothing is read ahead.
const (
	longMessage    = 16 << 10
	bodiesInMemory = 16 << 20
	maxAhead       = 48 << 20
	costInMemory   = 512 // of an event without its body
)

// messageQueue holds events of MEM_MESSAGES that were read and not applied yet, and says which are applied next. They are
// applied in the order of the stream, but for those of a bank that has much to apply: it is held, and takes turns with all
// others. The events of one bank keep their order.
type messageQueue struct {
	began memory.MessagePosition // where an earlier owner was
	at    memory.MessagePosition // after what was taken last
	read  uint64                 // last event added

	others []held // the events of all banks that are not held
	costs  map[memory.BankID]int
	cost   int // of others
	held   map[memory.BankID][]held
	order  []memory.BankID // the held banks, the one whose turn it is first
	turn   bool            // it is the turn of a held bank
	memory int
}

// held is an event that waits to be applied.
type held struct {
	events.Event
	size    int
	dropped bool // its body is to be read again
}

func (h held) cost() int { return costOfMessage + h.size }

func (h held) inMemory() int {
	if h.dropped {
		return costInMemory
	}
	return costInMemory + h.size
}

func newMessageQueue(at memory.MessagePosition) *messageQueue {
	b := &messageQueue{began: at, at: at, read: at.Seq, costs: map[memory.BankID]int{}, held: map[memory.BankID][]held{}}
	for bank := range at.Held {
		b.hold(bank)
	}
	return b
}

func (b *messageQueue) hold(bank memory.BankID) {
	b.held[bank] = nil
	b.order = append(b.order, bank)
}

// full reports whether nothing more is to be added until something was taken.
func (b *messageQueue) full() bool { return b.memory >= maxAhead }

// waiting returns how many events wait.
func (b *messageQueue) waiting() int {
	n := len(b.others)
	for _, list := range b.held {
		n += len(list)
	}
	return n
}

// add adds the next events of the stream. Those that an earlier owner has applied are left out.
func (b *messageQueue) add(run []events.Event) {
	for _, e := range run {
		b.read = e.Seq
		if e.Seq <= b.began.Of(e.Bank) {
			continue
		}
		h := held{Event: e, size: len(e.Data)}
		if list, ok := b.held[e.Bank]; ok {
			b.held[e.Bank] = append(list, b.kept(h))
			continue
		}
		b.memory += h.inMemory()
		b.others = append(b.others, h)
		b.costs[e.Bank] += h.cost()
		b.cost += h.cost()
	}
	for b.cost > maxTaken && len(b.held) < maxHeld && b.holdLargest() {
		continue
	}
}

// kept returns an event of a held bank as it is kept in memory.
func (b *messageQueue) kept(h held) held {
	if h.size >= longMessage && b.memory+h.size > bodiesInMemory {
		h.Data, h.Header, h.dropped = nil, nil, true
	}
	b.memory += h.inMemory()
	return h
}

// holdLargest holds the bank with the most to apply, unless that is little.
func (b *messageQueue) holdLargest() bool {
	var bank memory.BankID
	for id, cost := range b.costs {
		if id != "" && (cost > b.costs[bank] || bank == "" || cost == b.costs[bank] && id < bank) {
			bank = id
		}
	}
	if bank == "" || b.costs[bank] < heldFrom {
		return false
	}
	b.hold(bank)
	stay := b.others[:0:0]
	for _, h := range b.others {
		if h.Bank != bank {
			stay = append(stay, h)
			continue
		}
		b.memory -= h.inMemory()
		b.held[bank] = append(b.held[bank], b.kept(h))
	}
	b.others, b.cost = stay, b.cost-b.costs[bank]
	delete(b.costs, bank)
	return true
}

// take returns up to most events to be applied next, in the order of the stream, and the position after them; ok is false
// where there is nothing to do.
func (b *messageQueue) take(most int) (run []held, to memory.MessagePosition, ok bool) {
	bank, waits := b.next()
	switch {
	case waits && (b.turn || len(b.others) == 0):
		run, b.held[bank] = cut(b.held[bank], most)
		at := slices.Index(b.order, bank)
		b.order = append(slices.Delete(b.order, at, at+1), bank)
		b.turn = false
	case len(b.others) > 0:
		run, b.others = cut(b.others, most)
		for _, h := range run {
			b.cost -= h.cost()
			if b.costs[h.Bank] -= h.cost(); b.costs[h.Bank] == 0 {
				delete(b.costs, h.Bank)
			}
		}
		b.turn = true
	}
	for _, h := range run {
		b.memory -= h.inMemory()
	}
	to = b.position()
	if len(run) == 0 && to.Equal(b.at) {
		return nil, to, false
	}
	b.at = to
	return run, to, true
}

// next returns the held bank whose turn it is, of those that have events.
func (b *messageQueue) next() (bank memory.BankID, ok bool) {
	for _, bank := range b.order {
		if len(b.held[bank]) > 0 {
			return bank, true
		}
	}
	return "", false
}

// cut cuts what one transaction takes off the front of a list.
func cut(list []held, most int) (front, rest []held) {
	n, cost := 0, 0
	for n < len(list) && n < most {
		if cost += list[n].cost(); n > 0 && cost > maxTaken {
			break
		}
		n++
	}
	front, rest = slices.Clone(list[:n]), list[n:]
	clear(list[:n]) // the list's array must not keep what was taken in memory
	return front, rest
}

// position returns how far the events are applied when all that was taken is. A bank without events is held no longer once
// the others are as far.
func (b *messageQueue) position() memory.MessagePosition {
	ahead, first := max(b.read, b.began.Ahead), b.read
	if len(b.others) > 0 {
		ahead = b.others[0].Seq - 1
		first = min(first, ahead)
	}
	at := map[memory.BankID]uint64{}
	for _, bank := range b.order {
		if list := b.held[bank]; len(list) > 0 {
			at[bank] = list[0].Seq - 1
			first = min(first, at[bank])
			continue
		}
		if at[bank] = max(b.read, b.began.Of(bank)); at[bank] <= ahead && b.read >= b.began.Ahead {
			delete(b.held, bank)
		}
	}
	b.order = slices.DeleteFunc(b.order, func(bank memory.BankID) bool { _, stays := b.held[bank]; return !stays })
	maps.DeleteFunc(at, func(_ memory.BankID, seq uint64) bool { return seq == ahead })
	to := memory.MessagePosition{Seq: max(first, b.began.Seq)}
	if ahead > to.Seq || len(at) > 0 {
		to.Ahead, to.Held = ahead, at
	}
	return to
}
