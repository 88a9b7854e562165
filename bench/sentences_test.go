package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Of each kind one sentence that is right, and one with a label that no memory can meet.
const labelled = `[
{"kind":"date","text":"My lecture is on Thursday.","now":"2026-04-14T10:00:00Z","spans":[["2026-04-16","2026-04-16"]]},
{"kind":"date","text":"My lecture is on Thursday.","now":"2026-04-14T10:00:00Z","spans":[["1999-01-01","1999-01-01"]]},
{"kind":"nodate","text":"My uncle repairs clocks."},
{"kind":"nodate","text":"I met Paul on 3 March 2024."},
{"kind":"verbatim","text":"Ich repariere alte Uhren."},
{"kind":"verbatim","text":"My uncle repairs clocks for me."},
{"kind":"keep","text":"My locker is number 4471.","must":"4471"},
{"kind":"keep","text":"My locker is number 4471.","must":"4472"},
{"kind":"noise","text":"Haha, thanks!"},
{"kind":"noise","text":"My uncle repairs clocks."},
{"kind":"stay","first":"I play the cello.","second":"I collect stamps."},
{"kind":"stay","first":"Haha, thanks!","second":"I collect stamps."},
{"kind":"change","first":"I live in Turin.","second":"I moved to Ghent.","question":"Where does Ana live?","old":"Turin","new":"Ghent"},
{"kind":"change","first":"I live in Turin.","second":"I moved to Ghent.","question":"Where does Ana live?","old":"Ghent","new":"Turin"},
{"kind":"who","text":"I am allergic to wasps.","question":"What is Ana allergic to?","must":"wasps"},
{"kind":"who","text":"I am allergic to wasps.","question":"What is Ana allergic to?","must":"bees"}]`

func TestBenchSentences(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "labelled.json")
	if err := os.WriteFile(file, []byte(labelled), 0o600); err != nil {
		t.Fatal(err)
	}
	r := run(t, nil, "sentences", "--dataset", file, "--json")
	var f struct {
		Kinds []struct {
			Kind         string
			Asked, Right int
		}
		Misses []string
	}
	if err := json.Unmarshal([]byte(r.out), &f); err != nil {
		t.Fatalf("%v: %s %s", err, r.out, r.err)
	}
	if len(f.Kinds) != 8 || len(f.Misses) != 8 {
		t.Errorf("%+v", f)
	}
	for _, k := range f.Kinds {
		if k.Asked != 2 || k.Right != 1 {
			t.Errorf("%s: %d of %d; misses %q", k.Kind, k.Right, k.Asked, f.Misses)
		}
	}
	if err := os.WriteFile(file, []byte(`[{"kind":"mood","text":"I collect stamps."}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := run(t, nil, "sentences", "--dataset", file); r.code != 2 || !strings.Contains(r.err, "mood") {
		t.Errorf("an unknown kind: code %d, %s", r.code, r.err)
	}
}
