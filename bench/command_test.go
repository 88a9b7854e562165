package main_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	bench "github.com/eunoe-memory/eunoe/bench"
	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/app/local"
)

// result is what one command line did.
type result struct {
	code     int
	out, err string
}

// run runs one command line in an environment of its own.
func run(t *testing.T, environ []string, args ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	code := bench.Execute(t.Context(), environ, args, &out, &errs)
	return result{code, out.String(), errs.String()}
}

// ok is run for a command line that must succeed.
func ok(t *testing.T, environ []string, args ...string) string {
	t.Helper()
	r := run(t, environ, args...)
	if r.code != 0 {
		t.Fatalf("eunoe-bench %s: exit code %d\n%s%s", strings.Join(args, " "), r.code, r.out, r.err)
	}
	return r.out
}

func TestUsage(t *testing.T) {
	t.Parallel()
	t.Run("each mistake of a command line is exit code 2 and names itself", func(t *testing.T) {
		t.Parallel()
		for _, c := range []struct {
			environ, args []string
			says          string
		}{
			{nil, []string{"retrieve"}, "retrieve"},
			{nil, []string{"retrieval"}, "--dataset"},
			{nil, []string{"recall", "--facts", "many"}, "--facts"},
			{nil, []string{"mem", "--facts", "10"}, "--facts"},
			{nil, []string{"mem", "--store", "postgres://eunoe@localhost/eunoe"}, "recall --store"},
			{nil, []string{"dump"}, "--store"},
			{nil, []string{"doors", "--eunoe", "/no/such/program"}, "/no/such/program"},
			{nil, []string{"dump", "--store", "/no/such/file"}, "/no/such/file"},
			{[]string{"EUNOE_TIMEOUT=soon"}, []string{"change"}, "EUNOE_TIMEOUT"},
		} {
			r := run(t, c.environ, c.args...)
			if r.code != 2 || !strings.Contains(r.err, c.says) || r.out != "" {
				t.Errorf("%v: exit code %d, %q %q", c.args, r.code, r.out, r.err)
			}
		}
	})
	t.Run("a program that is interrupted ends with code 130", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var out, errs bytes.Buffer
		if code := bench.Execute(ctx, nil, []string{"mem", "--facts", "1000"}, &out, &errs); code != 130 {
			t.Errorf("exit code %d, %s%s", code, out.String(), errs.String())
		}
	})
}

// startLocal runs every stage in this process until the end of the test.
func startLocal(t *testing.T, dir string) *local.Local {
	t.Helper()
	return apptest.Start(t, apptest.Settings(t, map[string]string{"DATA": dir, "HTTP": "127.0.0.1:0"}))
}

func TestRetrieval(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dataset := filepath.Join(dir, "tiny.json")
	apptest.Write(t, dataset, tinyDataset)
	t.Run("it measures beside the baseline, and two runs find the same", func(t *testing.T) {
		t.Parallel()
		var files [2][]byte
		for i := range files {
			out, stored := filepath.Join(dir, "run.jsonl"), filepath.Join(dir, "stored.json")
			text := ok(t, nil, "retrieval", "--dataset", dataset, "--out", out, "--stored", stored, "--baseline", "bm25", "--records", "message,fact")
			for _, want := range []string{"recall@10", "all of 1-5", "plain BM25", "R@inf 1.0000", "1 questions without"} {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not in\n%s", want, text)
				}
			}
			var err error
			if files[i], err = os.ReadFile(out); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(string(files[0]), string(files[1])); diff != "" {
			t.Errorf("two runs differ:\n%s", diff)
		}
	})
	t.Run("several sets are printed side by side, what is kept is not published again, and a question asked earlier sees only what was said before", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		early := filepath.Join(dir, "early-dev.json")
		apptest.Write(t, early, `[{"sample_id":"early","conversation":{"session_1_date_time":"1:56 pm on 8 May, 2023",
			"session_1":[{"speaker":"Ana","dia_id":"D1:1","text":"My parrot is called Kiwi."},{"speaker":"Ana","dia_id":"D1:2","text":"What is my parrot called?"},
			{"speaker":"Ana","dia_id":"D1:3","text":"My second parrot is called Mango."}]},
			"qa":[{"question":"What is my parrot called?","evidence":["D1:1"],"category":1,"asked":"D1:2"}]}]`)
		for range 2 {
			text := ok(t, nil, "retrieval", "--dataset", dataset, "--dataset", early, "--dir", filepath.Join(dir, "data"), "--out", filepath.Join(dir, "out"), "--baseline", "bm25", "--ablate")
			for _, want := range []string{"tiny  ", "early ", "recall@10 − BM25", "left out, and how recall@10 changes"} {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not in\n%s", want, text)
				}
			}
		}
		found, err := os.ReadFile(filepath.Join(dir, "out"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(found), `"retrieved":[["D1:1"]]`) {
			t.Errorf("found is\n%s", found)
		}
		text := ok(t, nil, "fit", "--dataset", dataset, "--dataset", early, "--dir", filepath.Join(dir, "data"), "--leave", "set,speaker")
		for _, want := range []string{"without set", "without speaker", "elsewhere", "how recall@10 over messages changes without a signal", "told "} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in\n%s", want, text)
			}
		}
	})
	t.Run("a conversation of which an earlier run published a part is published whole", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		path := filepath.Join(dir, "part.json")
		first := `{"speaker":"Ana","dia_id":"D1:1","text":"My parrot is called Kiwi."}`
		for _, turns := range []string{first, first + `,{"speaker":"Ana","dia_id":"D1:2","text":"My second parrot is called Mango."}`} {
			apptest.Write(t, path, `[{"sample_id":"part","conversation":{"session_1_date_time":"1:56 pm on 8 May, 2023","session_1":[`+turns+`]},
				"qa":[{"question":"What is my second parrot called?","evidence":["D1:2"],"category":1},
				{"question":"What is my first parrot called?","evidence":["D1:1"],"category":1}]}]`)
			ok(t, nil, "retrieval", "--dataset", path, "--dir", filepath.Join(dir, "data"), "--stored", filepath.Join(dir, "stored.json"))
		}
		stored, err := os.ReadFile(filepath.Join(dir, "stored.json"))
		if err != nil {
			t.Fatal(err)
		}
		if want := `{"part":["D1:1","D1:2"]}`; string(stored) != want {
			t.Errorf("stored is %s, expected %s", stored, want)
		}
	})
	t.Run("with --url it measures a running Eunoe, whose store can be dumped", func(t *testing.T) {
		t.Parallel()
		data := t.TempDir()
		ok(t, nil, "retrieval", "--url", startLocal(t, data).URL, "--dataset", dataset)
		dump := ok(t, nil, "dump", "--store", filepath.Join(data, "eunoe.db"))
		for _, want := range []string{`["facts",`, "I bought a red canoe last week.", "bench-tiny"} {
			if !strings.Contains(dump, want) {
				t.Errorf("%q is not in\n%.2000s", want, dump)
			}
		}
	})
}

// tinyDataset is a small conversation with questions, in both forms of date.
const tinyDataset = `[{"sample_id":"tiny","conversation":{
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
