package consolidate_test

import (
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
)

func TestPace(t *testing.T) {
	t.Parallel()
	start := time.Unix(1_700_000_000, 0)
	// settle has transactions of as many writes as the pace says, and gives the
	// number it settles at.
	settle := func(p *consolidate.Pace, each, sync time.Duration, now time.Time) int {
		for range 50 {
			n := p.Most()
			p.Wrote(n, sync+time.Duration(n)*each, now)
		}
		return p.Most()
	}
	t.Run("begins with few", func(t *testing.T) {
		t.Parallel()
		if n := new(consolidate.Pace).Most(); n != 4 {
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
			p, now := new(consolidate.Pace), start
			if c.talking {
				p.Stored(c.sync, now)
			}
			if n := settle(p, c.each, c.sync, now); n < c.low || n > c.high {
				t.Errorf("a transaction takes %d writes; expected %d to %d", n, c.low, c.high)
			}
		})
	}
	t.Run("a small transaction says nothing of a larger one", func(t *testing.T) {
		t.Parallel()
		p := new(consolidate.Pace)
		before := settle(p, time.Millisecond, time.Millisecond, start)
		p.Wrote(1, 2*time.Millisecond, start)
		if n := p.Most(); n != before {
			t.Errorf("%d writes a transaction became %d", before, n)
		}
	})
}
