package consolidate

import "time"

// How long one transaction of writes should take. A message that comes meanwhile waits for it, so it is short while
// messages come, but several times as long as storing messages, which is mostly syncing the disk.
const (
	minTransaction = 20 * time.Millisecond
	maxTransaction = 100 * time.Millisecond
	syncsOfWork    = 3 // a transaction takes as long as storing messages this many times
	// After quietAfter without messages, the next one may have to wait for quietTransaction.
	quietAfter       = time.Second
	quietTransaction = 200 * time.Millisecond
	// minWrites go into one transaction however long they take.
	minWrites = 4
)

// batchSize chooses how many writes one transaction takes, from how long earlier ones took. It affects speed alone: the
// store is the same whatever it chooses. Its zero value begins with few.
type batchSize struct {
	writes float64       // in one transaction
	sync   time.Duration // what storing messages takes, as a moving mean
	last   time.Time     // when messages were stored last
}

// next returns how many writes go into the next transaction, at least 4.
func (b *batchSize) next() int { return max(minWrites, int(b.writes)) }

// target is how long the next transaction of writes should take.
func (b *batchSize) target(now time.Time) time.Duration {
	if now.Sub(b.last) >= quietAfter {
		return quietTransaction
	}
	return min(max(minTransaction, syncsOfWork*b.sync), maxTransaction)
}

// wrote records the duration of a transaction of n writes. The size moves towards the target, at most to half or double
// at a time; a transaction that was smaller than allowed is no reason for a larger one.
func (b *batchSize) wrote(n int, took time.Duration, now time.Time) {
	fit := float64(b.target(now)) / float64(max(took, time.Microsecond))
	if fit > 1 && n < b.next() {
		return
	}
	b.writes = float64(max(minWrites, n)) * min(max(fit, .5), 2)
}

// stored records the duration of a transaction of messages. One of a held bank does not tell what storing messages takes
// that others wait for.
func (b *batchSize) stored(took time.Duration, now time.Time, held bool) {
	b.last = now
	if held {
		return
	}
	if b.sync == 0 {
		b.sync = took
	}
	b.sync += (took - b.sync) / 8
}
