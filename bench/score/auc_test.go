package score_test

import (
	"testing"

	"github.com/eunoe-memory/eunoe/bench/score"
)

func TestAUC(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		higher, lower []float64
		want          float64
	}{{[]float64{.9, .8}, []float64{.1, .2}, 1}, {[]float64{.1}, []float64{.9}, 0}, {[]float64{.5, .5}, []float64{.5}, .5}, {[]float64{.2, .6}, []float64{.4}, .5}, {nil, []float64{1}, 0}} {
		if got := score.AUC(c.higher, c.lower); got != c.want {
			t.Errorf("AUC(%v, %v) = %v, want %v", c.higher, c.lower, got, c.want)
		}
	}
}
