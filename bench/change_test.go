package main_test

import (
	"encoding/json"
	"strconv"
	"testing"
)

func TestBenchChange(t *testing.T) {
	t.Parallel()
	for _, seed := range []int{1, 3} {
		facts := map[int]int{1: 20, 3: 8}[seed] // the first has people who share a first name
		r := run(t, nil, "change", "--seed", strconv.Itoa(seed), "--facts", strconv.Itoa(facts), "--json")
		var f struct {
			Seed, Messages, Asked, Right int
			Kinds                        []struct {
				Kind         string
				Asked, Right int
			}
			Wrong []string
		}
		if err := json.Unmarshal([]byte(r.out), &f); err != nil {
			t.Fatalf("%v: %s %s", err, r.out, r.err)
		}
		asked, right := 0, 0
		for _, k := range f.Kinds {
			asked, right = asked+k.Asked, right+k.Right
		}
		if r.code != 0 || f.Seed != seed || f.Messages < 16 || f.Asked < 16 || asked != f.Asked || right != f.Right || f.Right != f.Asked {
			t.Errorf("code %d, %+v, %s", r.code, f, r.err)
		}
	}
	if r := run(t, nil, "change", "--facts", "0"); r.code != 2 {
		t.Errorf("no facts at all: code %d", r.code)
	}
}
