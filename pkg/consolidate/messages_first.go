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
	held    bool // messages of a held bank were applied: they take turns with writes
}

func newMessagesFirst(now time.Time) messagesFirst { return messagesFirst{since: now} }

// allows reports whether the next batch of messages goes before the writes.
func (m *messagesFirst) allows(now time.Time) bool {
	return !m.held && m.batches < mostMessagesFirst && now.Sub(m.since) < messagesFirstFor
}

// applied counts a batch that was applied.
func (m *messagesFirst) applied(held bool) {
	m.batches++
	m.held = m.held || held
}
