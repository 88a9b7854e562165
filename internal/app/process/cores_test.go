package process_test

import (
	"testing"

	"github.com/eunoe-memory/eunoe/internal/app/process"
)

func TestTurnsOfGoroutines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		given     string
		has, want int
	}{{"", 2, 8}, {"", 1, 4}, {"3", 3, 3}} {
		if got := process.MaxProcs(c.given, c.has); got != c.want {
			t.Errorf("GOMAXPROCS %q with %d returns %d turns; expected %d", c.given, c.has, got, c.want)
		}
	}
}
