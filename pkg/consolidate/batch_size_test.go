package consolidate_test

import (
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
)

func TestBatchSize(t *testing.T) {
	t.Parallel()
	start := time.Unix(1_700_000_000, 0)
	// converge runs transactions of the chosen size and returns the size it converges to.
	converge := func(p *consolidate.BatchSize, each, sync time.Duration, now time.Time) int {
		for range 50 {
			n := p.Next()
			p.Wrote(n, sync+time.Duration(n)*each, now)
		}
		return p.Next()
	}
	t.Run("a transaction begins with few events", func(t *testing.T) {
		t.Parallel()
		if n := new(consolidate.BatchSize).Next(); n != 4 {
			t.Errorf("the first transaction takes %d writes", n)
		}
	})
	for _, c := range []struct {
		name       string
		talking    bool
		each, sync time.Duration
		low, high  int
	}{
		{"while messages come, writes take about 20 ms", true, time.Millisecond, time.Millisecond, 17, 21},
		{"and longer where the disk is slow to sync", true, time.Millisecond, 25 * time.Millisecond, 48, 52},
		{"but never so long that a message waits for ever", true, time.Millisecond, time.Second, 4, 4},
		{"while none come, they take about 200 ms", false, time.Millisecond, time.Millisecond, 190, 201},
		{"however slow they are, some go together", false, time.Second, time.Millisecond, 4, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, now := new(consolidate.BatchSize), start
			if c.talking {
				p.Stored(c.sync, now, false)
			}
			if n := converge(p, c.each, c.sync, now); n < c.low || n > c.high {
				t.Errorf("a transaction takes %d writes; expected %d to %d", n, c.low, c.high)
			}
		})
	}
	t.Run("the time of a small transaction does not predict that of a large one", func(t *testing.T) {
		t.Parallel()
		p := new(consolidate.BatchSize)
		before := converge(p, time.Millisecond, time.Millisecond, start)
		p.Wrote(1, 2*time.Millisecond, start)
		if n := p.Next(); n != before {
			t.Errorf("%d writes a transaction became %d", before, n)
		}
	})
}
