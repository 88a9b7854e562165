package fit_test

import (
	"math"
	"testing"

	"github.com/eunoe-memory/eunoe/bench/fit"
)

// Two of three candidates have the first value, evidence alone has the second, and the third is noise that all share.
func example(set string) fit.Example {
	return fit.Example{Set: set, Values: [][]float64{{1, 0, 5}, {1, 10, 5}, {0, 0, 5}}, Relevant: []bool{false, true, false}}
}

func TestTheValueThatOnlyEvidenceHasGetsTheWeight(t *testing.T) {
	t.Parallel()
	w := fit.Softmax([]fit.Example{example("a"), example("b")}, []bool{true, true, true}, .001)
	if w[1] <= 0 || 10*w[1] < math.Abs(w[0]) || w[2] != 0 {
		t.Errorf("the weights are %v", w)
	}
	score := func(v []float64) float64 { return w[0]*v[0] + w[1]*v[1] + w[2]*v[2] }
	if v := example("a").Values; score(v[1]) <= score(v[0]) || score(v[1]) <= score(v[2]) {
		t.Errorf("by %v evidence does not come first", w)
	}
}

func TestWhatIsNotAllowedStaysZero(t *testing.T) {
	t.Parallel()
	if w := fit.Softmax([]fit.Example{example("a")}, []bool{true, false, true}, .001); w[1] != 0 || w[0] <= 0 {
		t.Errorf("the weights are %v", w)
	}
}

func TestASetCountsByItsNameNotByItsQuestions(t *testing.T) {
	t.Parallel()
	against := fit.Example{Set: "large", Values: [][]float64{{1}, {0}}, Relevant: []bool{false, true}}
	examples := []fit.Example{{Set: "small", Values: [][]float64{{1}, {0}}, Relevant: []bool{true, false}}}
	for range 50 {
		examples = append(examples, against)
	}
	if w := fit.Softmax(examples, []bool{true}, .001); math.Abs(w[0]) > .01 {
		t.Errorf("one set of 50 questions outweighs another of one: %v", w)
	}
}
