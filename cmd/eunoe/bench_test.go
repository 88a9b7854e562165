package main_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	eunoe "github.com/eunoe-memory/eunoe/cmd/eunoe"
	"github.com/eunoe-memory/eunoe/pkg/memory"
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
			if diff := cmp.Diff(tc.want, eunoe.CleanEvidence(tc.labels, valid)); diff != "" {
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
		want     eunoe.Score
	}{
		{"nothing found earns nothing", []string{"a"}, nil, eunoe.Score{"brecall@10": 0}},
		{"the first item earns all of it", []string{"a"}, [][]string{{"a"}},
			eunoe.Score{"recall@5": 1, "recall@10": 1, "hit@10": 1, "MRR": 1, "all@10": 1, "brecall@10": 1, "turns@10": 1}},
		{"half of the evidence at rank six is outside of five", []string{"a", "b"}, [][]string{{"x"}, {"x"}, {"x"}, {"x"}, {"x"}, {"b"}},
			eunoe.Score{"recall@5": 0, "recall@10": 0.5, "hit@10": 1, "MRR": 1.0 / 6, "all@10": 0, "brecall@10": 0.5, "turns@10": 2}},
		{"a large item is charged for the turns it makes one read", []string{"a"},
			[][]string{{"1", "2", "3", "4", "5"}, {"a", "6", "7", "8", "9", "10", "11", "12", "13", "14"}},
			eunoe.Score{"recall@5": 1, "recall@10": 1, "hit@10": 1, "MRR": 0.5, "all@10": 1, "brecall@10": 0.5, "turns@10": 15}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := eunoe.ScoreQuestion(tc.evidence, tc.items)
			for name, want := range tc.want {
				if math.Abs(got[name]-want) > 1e-12 {
					t.Errorf("%s is %v; want %v", name, got[name], want)
				}
			}
		})
	}
}

func TestBM25(t *testing.T) {
	t.Parallel()
	x := eunoe.NewBM25([]memory.Message{
		{ID: "m1", Content: "I painted the kitchen yesterday."},
		{ID: "m2", Content: "Lovely!", Images: []memory.Image{{Caption: "a painting of a lake"}}},
		{ID: "m3", Content: "The lake was cold."},
		{ID: "m4", Content: "The lake was cold."},
	}, 1.2, 0.75)
	for _, tc := range []struct {
		name, query string
		limit       int
		want        []string
	}{
		{"words match by their stem, captions too", "who paints?", 10, []string{"m1", "m2"}},
		{"equals keep the order in which they were said", "cold lake", 10, []string{"m3", "m4", "m2"}},
		{"no more come than were asked for", "lake", 1, []string{"m3"}},
		{"stop words find nothing", "who is that?", 10, []string{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, x.Search(tc.query, tc.limit)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzParseDataset(f *testing.F) {
	f.Add([]byte(benchFixture))
	f.Add([]byte(`[{"sample_id":"x","conversation":{"session_1":[]}}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		sets, err := eunoe.ParseDataset(data)
		if err != nil {
			return
		}
		for _, s := range sets {
			for _, session := range s.Sessions {
				for _, m := range session.Turns {
					if err := m.Validate(); err != nil {
						t.Errorf("a turn that cannot be published: %v", err)
					}
				}
			}
		}
	})
}

// benchFixture is a small conversation with questions, in both forms of date.
const benchFixture = `[{"sample_id":"tiny","conversation":{
 "speaker_a":"Ana","speaker_b":"Ben",
 "session_1_date_time":"1:56 pm on 8 May, 2023",
 "session_1":[{"speaker":"Ana","dia_id":"D1:1","text":"Hey Ben, how are you?"},
  {"speaker":"Ben","dia_id":"D1:2","text":"Fine! I bought a red canoe last week."},
  {"speaker":"Ana","dia_id":"D1:3","text":"I adopted a parrot called Kiwi.","blip_caption":"a green parrot on a perch"}],
 "session_2_date_time":"29.12.2023, 22:42:04",
 "session_2":[{"speaker":"Ben","dia_id":"D2:1","text":"I sold the canoe to my neighbour Olga."},
  {"speaker":"Ana","dia_id":"D2:2","text":"Kiwi learned to whistle the anthem."}]},
 "qa":[{"question":"What did Ben buy?","evidence":["D1:2"],"category":4},
  {"question":"Which pet does Ana have?","evidence":["D1:3; D2:2"],"category":1},
  {"question":"To whom did Ben sell the canoe?","evidence":["D2:1"],"category":2},
  {"question":"What is unknown?","evidence":["D"],"category":5}]}]`
