package score_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/bench/score"
)

func TestCleanEvidence(t *testing.T) {
	t.Parallel()
	valid := map[string]bool{"D1:2": true, "D8:6": true, "D9:17": true, "D30:5": true, "D11:26": true, "D12:3": true, "D12:4": true, "D12:5": true}
	for _, tc := range []struct {
		name   string
		labels []string
		want   []string
	}{
		{"a clean label is kept", []string{"D1:2"}, []string{"D1:2"}},
		{"several in one string are parted", []string{"D8:6; D9:17"}, []string{"D8:6", "D9:17"}},
		{"a stray colon and padding go", []string{"D:11:26", "D30:05"}, []string{"D11:26", "D30:5"}},
		{"a range of one session is spelled out", []string{"D12:3-D12:5"}, []string{"D12:3", "D12:4", "D12:5"}},
		{"a repeat counts once", []string{"D1:2", "D1:2"}, []string{"D1:2"}},
		{"junk and what is not in the conversation go", []string{"D", "", "D77:1"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, score.CleanEvidence(tc.labels, valid)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestScoreQuestion(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name     string
		evidence []string
		items    [][]string
		want     score.Score
	}{
		{"nothing found earns nothing", []string{"a"}, nil, score.Score{"brecall@10": 0}},
		{"the first item earns all of it", []string{"a"}, [][]string{{"a"}},
			score.Score{"recall@5": 1, "recall@10": 1, "hit@10": 1, "MRR": 1, "all@10": 1, "brecall@10": 1, "turns@10": 1}},
		{"half of the evidence at rank six is outside of five", []string{"a", "b"}, [][]string{{"x"}, {"x"}, {"x"}, {"x"}, {"x"}, {"b"}},
			score.Score{"recall@5": 0, "recall@10": 0.5, "hit@10": 1, "MRR": 1.0 / 6, "all@10": 0, "brecall@10": 0.5, "turns@10": 2}},
		{"a large item is charged for the turns it makes one read", []string{"a"},
			[][]string{{"1", "2", "3", "4", "5"}, {"a", "6", "7", "8", "9", "10", "11", "12", "13", "14"}},
			score.Score{"recall@5": 1, "recall@10": 1, "hit@10": 1, "MRR": 0.5, "all@10": 1, "brecall@10": 0.5, "turns@10": 15}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := score.Question(tc.evidence, tc.items)
			for name, want := range tc.want {
				if math.Abs(got[name]-want) > 1e-12 {
					t.Errorf("%s is %v; want %v", name, got[name], want)
				}
			}
		})
	}
}
