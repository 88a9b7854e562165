package consolidate

import (
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
	read  uint64                 // last event added

	others []held // the events of all banks that are not held
	costs  map[memory.BankID]int
	cost   int // of others
	held   map[memory.BankID][]held
	order  []memory.BankID // the held banks, the one whose turn it is first
	turn   bool            // it is the turn of a held bank once it is ready, for others had theirs
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
	q := &messageQueue{began: at, read: at.Seq, costs: map[memory.BankID]int{}, held: map[memory.BankID][]held{}}
	for bank := range at.Held {
		q.hold(bank)
	}
	return q
}

func (q *messageQueue) hold(bank memory.BankID) {
	q.held[bank] = nil
	q.order = append(q.order, bank)
}

// full reports whether nothing more is to be added until something was taken.
func (q *messageQueue) full() bool { return q.memory >= maxAhead }

// waiting returns how many events wait.
func (q *messageQueue) waiting() int {
	n := len(q.others)
	for _, list := range q.held {
		n += len(list)
	}
	return n
}

// add adds the next events of the stream. Those that an earlier owner has applied are left out.
func (q *messageQueue) add(run []events.Event) {
	for _, e := range run {
		q.read = e.Seq
		if e.Seq <= q.began.Of(e.Bank) {
			continue
		}
		if n := len(q.others); n > 0 && e.Elsewhere() && q.others[n-1].Elsewhere() {
			q.others[n-1].Event = e // all that they change is the position
			continue
		}
		h := held{Event: e, size: len(e.Data)}
		if list, ok := q.held[e.Bank]; ok {
			q.held[e.Bank] = append(list, q.kept(h))
			continue
		}
		q.memory += h.inMemory()
		q.others = append(q.others, h)
		q.costs[e.Bank] += h.cost()
		q.cost += h.cost()
	}
	for q.cost > maxTaken && len(q.held) < maxHeld && q.holdLargest() {
		continue
	}
}

// kept returns an event of a held bank as it is kept in memory.
func (q *messageQueue) kept(h held) held {
	if h.size >= longMessage && q.memory+h.size > bodiesInMemory {
		h.Data, h.Header, h.dropped = nil, nil, true
	}
	q.memory += h.inMemory()
	return h
}

// elsewhere reports whether all that waits, held banks aside, are events of other shards.
func (q *messageQueue) elsewhere() bool { return len(q.others) == 1 && q.others[0].Elsewhere() }

// holdLargest holds the bank with the most to apply, unless that is little.
func (q *messageQueue) holdLargest() bool {
	var bank memory.BankID
	for id, cost := range q.costs {
		if id != "" && (cost > q.costs[bank] || bank == "" || cost == q.costs[bank] && id < bank) {
			bank = id
		}
	}
	if bank == "" || q.costs[bank] < heldFrom {
		return false
	}
	q.hold(bank)
	stay := q.others[:0:0]
	for _, h := range q.others {
		if h.Bank != bank {
			stay = append(stay, h)
			continue
		}
		q.memory -= h.inMemory()
		q.held[bank] = append(q.held[bank], q.kept(h))
	}
	q.others, q.cost = stay, q.cost-q.costs[bank]
	delete(q.costs, bank)
	return true
}

// takeOthers takes up to most events of banks that are not held, in the order of the stream, unless it is the turn of a held
// one, whose events are ready.
func (q *messageQueue) takeOthers(most int, ready bool) []held {
	if len(q.others) == 0 || q.turn && ready {
		return nil
	}
	n := cut(q.others, most)
	run := slices.Clone(q.others[:n])
	clear(q.others[:n]) // the list's array must not keep what was taken in memory
	q.others = q.others[n:]
	for _, h := range run {
		q.memory -= h.inMemory()
		q.cost -= h.cost()
		if q.costs[h.Bank] -= h.cost(); q.costs[h.Bank] == 0 {
			delete(q.costs, h.Bank)
		}
	}
	q.turn = true
	q.release()
	return run
}

// peekHeld returns up to most events of the held bank whose turn it is, in the order of the stream. They stay in the queue
// until takeHeld is told how many of them are applied, whatever else is taken meanwhile.
func (q *messageQueue) peekHeld(most int) (bank memory.BankID, run []held) {
	if bank, waits := q.next(); waits {
		list := q.held[bank]
		return bank, slices.Clone(list[:cut(list, most)])
	}
	return "", nil
}

// takeHeld takes the first n events of a held bank.
func (q *messageQueue) takeHeld(bank memory.BankID, n int) {
	list := q.held[bank]
	for _, h := range list[:n] {
		q.memory -= h.inMemory()
	}
	clear(list[:n])
	q.held[bank] = list[n:]
	at := slices.Index(q.order, bank)
	q.order = append(slices.Delete(q.order, at, at+1), bank)
	q.turn = false
	q.release()
}

// next returns the held bank whose turn it is, of those that have events.
func (q *messageQueue) next() (bank memory.BankID, ok bool) {
	for _, bank := range q.order {
		if len(q.held[bank]) > 0 {
			return bank, true
		}
	}
	return "", false
}

// cut returns how many events from the front of a list one transaction takes.
func cut(list []held, most int) int {
	n, cost := 0, 0
	for n < len(list) && n < most {
		if cost += list[n].cost(); n > 0 && cost > maxTaken {
			break
		}
		n++
	}
	return n
}

// position returns how far the events are applied when all that was taken is.
func (q *messageQueue) position() memory.MessagePosition { return q.after("", 0) }

// after returns how far the events are applied when all that was taken is, and the first n events of a held bank.
func (q *messageQueue) after(bank memory.BankID, n int) memory.MessagePosition {
	ahead, first := max(q.read, q.began.Ahead), q.read
	if len(q.others) > 0 {
		ahead = q.others[0].Seq - 1
		first = min(first, ahead)
	}
	at := map[memory.BankID]uint64{}
	for _, id := range q.order {
		list := q.held[id]
		if id == bank {
			list = list[n:]
		}
		if len(list) > 0 {
			at[id] = list[0].Seq - 1
			first = min(first, at[id])
		} else {
			at[id] = max(q.read, q.began.Of(id))
		}
		if at[id] == ahead {
			delete(at, id)
		}
	}
	to := memory.MessagePosition{Seq: max(first, q.began.Seq)}
	if ahead > to.Seq || len(at) > 0 {
		to.Ahead, to.Held = ahead, at
	}
	return to
}

// release ends the holding of banks that have nothing left to apply, once the others are as far.
func (q *messageQueue) release() {
	if len(q.others) > 0 || q.read < q.began.Ahead {
		return
	}
	q.order = slices.DeleteFunc(q.order, func(bank memory.BankID) bool {
		drained := len(q.held[bank]) == 0 && q.began.Of(bank) <= q.read
		if drained {
			delete(q.held, bank)
		}
		return drained
	})
}
