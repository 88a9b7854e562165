package consolidate

import "time"

// How long one transaction of writes takes, about. A message that comes
// meanwhile waits for it, so it is short while messages come, but several times
// as long as storing messages takes, most of which is syncing the disk.
const (
	shortTurn   = 20 * time.Millisecond
	longTurn    = 100 * time.Millisecond
	turnsOfSync = 3
	// While none came for quietAfter, the one that does may wait for quietTurn.
	quietAfter = time.Second
	quietTurn  = 200 * time.Millisecond
	// leastWrites go into one transaction however long they take.
	leastWrites = 4
)

// pace says how many writes one transaction takes, from how long the ones
// before took. It decides about speed alone: the store is the same whatever it
// says. The zero pace has seen nothing and begins with few.
type pace struct {
	size float64       // writes that go into one transaction
	sync time.Duration // what storing messages takes, as a moving mean
	last time.Time     // when messages were stored last
}

// most is how many writes go into the next transaction, at least 1.
func (p *pace) most() int { return max(leastWrites, int(p.size)) }

// turn is how long the next transaction of writes is to take.
func (p *pace) turn(now time.Time) time.Duration {
	if now.Sub(p.last) >= quietAfter {
		return quietTurn
	}
	return min(max(shortTurn, turnsOfSync*p.sync), longTurn)
}

// wrote notes that a transaction of n writes took so long. The size moves
// towards what fits a turn, at most by half or to the double at a time; a
// transaction that was smaller than it might have been says nothing for a larger one.
func (p *pace) wrote(n int, took time.Duration, now time.Time) {
	fit := float64(p.turn(now)) / float64(max(took, time.Microsecond))
	if fit > 1 && n < p.most() {
		return
	}
	p.size = float64(max(leastWrites, n)) * min(max(fit, .5), 2)
}

// stored notes that a transaction of messages took so long.
func (p *pace) stored(took time.Duration, now time.Time) {
	if p.sync == 0 {
		p.sync = took
	}
	p.sync += (took - p.sync) / 8
	p.last = now
}
