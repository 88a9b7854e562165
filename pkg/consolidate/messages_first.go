package consolidate

import "time"

// Messages go before writes that are ready, but no more batches and for no longer than this, so that a flood of messages
// does not keep facts out of the store. Messages of a held bank, which may take long, go before them once.
const (
	mostMessagesFirst = 8
	messagesFirstFor  = maxTransaction
)

// messagesFirst says for how long messages go before writes that are ready.
type messagesFirst struct {
	since   time.Time
	batches int
	held    bool // messages of a held bank were applied
}

func newMessagesFirst(now time.Time) messagesFirst { return messagesFirst{since: now} }

// allows reports whether the next batch of messages goes before the writes.
func (m *messagesFirst) allows(now time.Time) bool {
	return m.batches < mostMessagesFirst && now.Sub(m.since) < messagesFirstFor
}

// allowsHeld reports whether the next batch of a held bank does: they take turns with writes.
func (m *messagesFirst) allowsHeld(now time.Time) bool { return !m.held && m.allows(now) }

// applied counts a batch that was applied.
func (m *messagesFirst) applied(held bool) {
	m.batches++
	m.held = m.held || held
}

// nextMessages returns a batch of messages that is offered, of those that may be applied now.
func (l *loop) nextMessages(others, held bool) (b MessageBatch, ok bool) {
	if others {
		select {
		case b := <-l.batches:
			return b, true
		default:
		}
	}
	if held {
		select {
		case b := <-l.held:
			return b, true
		default:
		}
	}
	return b, false
}
