package dataset_test

import (
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/bench/dataset"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func FuzzParse(f *testing.F) {
	f.Add([]byte(`[{"sample_id":"x","conversation":{"session_1_date_time":"1:56 pm on 8 May, 2023","session_1":[{"speaker":"Ana","dia_id":"D1:1","text":"Hey!"}]}}]`))
	f.Add([]byte(`[{"sample_id":"x","conversation":{"session_1":[]}}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		sets, err := dataset.Parse(data)
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

func TestParse(t *testing.T) {
	t.Parallel()
	sets, err := dataset.Parse([]byte(`[{"sample_id":"x","conversation":{
		"session_1_date_time":"9:00 am on 15 March, 2024","session_1":[
			{"speaker":"User","role":"user","dia_id":"D1:1","text":"Which bike shall I buy?"},
			{"speaker":"Assistant","role":"assistant","dia_id":"D1:2","text":"A used one."}],
		"session_2_date_time":"9:00 am on 16 March, 2024","session_2":[{"speaker":"User","dia_id":"D2:1","text":"Thanks!","at":"2024-03-17T07:30:00"}]},
		"qa":[{"question":"What was recommended?","evidence":["D1:2"],"category":1,"asked":"D1:2"},{"question":"Why?","evidence":[],"category":1}]}]`))
	if err != nil {
		t.Fatal(err)
	}
	turns := sets[0].Turns()
	if turns[1].Role != memory.RoleAssistant || turns[2].Role != "" {
		t.Errorf("roles are %q and %q", turns[1].Role, turns[2].Role)
	}
	own := time.Date(2024, 3, 17, 7, 30, 0, 0, time.UTC)
	if !turns[2].Time.Equal(own) {
		t.Errorf("a turn's own time is %s", turns[2].Time)
	}
	if n, now := sets[0].Before(sets[0].Questions[0]); n != 1 || !now.Equal(turns[1].Time) {
		t.Errorf("what is asked at the second turn may rest on %d turns, at %s", n, now)
	}
	if n, now := sets[0].Before(sets[0].Questions[1]); n != 3 || !now.Equal(own) {
		t.Errorf("what is asked at the end may rest on %d turns, at %s", n, now)
	}
}
