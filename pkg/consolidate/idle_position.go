package consolidate

import "time"

// positionAfter is how long events of other shards wait for one that is to be applied. All that they change is the position, and
// for each of them alone every shard would begin a transaction.
const positionAfter = 100 * time.Millisecond

// idlePosition says for how long a position that nothing else moves waits.
type idlePosition struct {
	since time.Time // when the first event came that only moves it; zero = none waits
}

// wait returns how long it still waits. only says that all there is to apply are events of other shards.
func (p *idlePosition) wait(only bool, now time.Time) time.Duration {
	switch {
	case !only:
		p.since = time.Time{}
		return 0
	case p.since.IsZero():
		p.since = now
	}
	return max(0, positionAfter-now.Sub(p.since))
}

// after returns a channel that is ready after a wait; nil for none.
func after(wait time.Duration) <-chan time.Time {
	if wait <= 0 {
		return nil
	}
	return time.After(wait)
}
