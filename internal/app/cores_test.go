package app_test

import (
	"testing"

	"github.com/eunoe-memory/eunoe/internal/app"
)

func TestTurnsOfGoroutines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		given     string
		has, want int
	}{{"", 2, 4}, {"", 1, 2}, {"3", 3, 3}} {
		if got := app.Turns(c.given, c.has); got != c.want {
			t.Errorf("GOMAXPROCS %q with %d gives %d turns; expected %d", c.given, c.has, got, c.want)
		}
	}
}
