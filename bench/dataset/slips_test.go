package dataset_test

import (
	"slices"
	"testing"

	"github.com/eunoe-memory/eunoe/bench/dataset"
)

func TestSlips(t *testing.T) {
	t.Parallel()
	asked := []dataset.Question{
		{QID: "a", Question: "Which garden did Marjorie water?"},
		{QID: "b", Question: "Who am I?"},
		{QID: "c", Question: "How tall is the lighthouse?"},
	}
	got := dataset.WithSlips(asked, 3)
	if again := dataset.WithSlips(asked, 3); !slices.EqualFunc(got, again, func(a, b dataset.Question) bool { return a.Question == b.Question }) {
		t.Errorf("the same seed makes other slips: %v and %v", got, again)
	}
	for i, q := range got {
		if q.QID != asked[i].QID {
			t.Errorf("question %d is %q", i, q.QID)
		}
	}
	if got[1].Question != asked[1].Question {
		t.Errorf("a question of short words became %q", got[1].Question)
	}
	const begins, ends = "How tall is the l", "?"
	if q := got[2].Question; q[:len(begins)] != begins || q[len(q)-1:] != ends {
		t.Errorf("more than one word, or its first letter, changed: %q", q)
	}
}
