package main_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
)

// tinyFacts are what a language model might have written of tinyDataset.
const tinyFacts = `{"sample_id":"tiny","session":"session_1","speaker":"Ben","fact":"Ben bought a red canoe in early May 2023.","evidence":"D1:2"}
{"sample_id":"tiny","session":"session_1","speaker":"Ben","fact":"Ben paddles a canoe and feels fine.","evidence":"D1:2"}
{"sample_id":"tiny","session":"session_1","speaker":"Ana","fact":"Ana adopted a green parrot called Kiwi.","evidence":["D1:3"]}
{"sample_id":"tiny","session":"session_2","speaker":"Ben","fact":"Ben sold the red canoe to his neighbour Olga.","evidence":"D2:1"}
{"sample_id":"tiny","session":"session_2","speaker":"Ana","fact":"Ana's parrot Kiwi whistles the anthem.","evidence":["D1:3","D2:2"]}
{"sample_id":"tiny","session":"session_2","speaker":"Ana","fact":"Ana moved to the moon.","evidence":"D9:9"}
`

// published writes the fixture and its facts and gives the flags that name them.
func published(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	dataset, facts := filepath.Join(dir, "tiny.json"), filepath.Join(dir, "tiny-facts.jsonl")
	apptest.Write(t, dataset, tinyDataset)
	apptest.Write(t, facts, tinyFacts)
	return []string{"--dataset", dataset, "--facts", facts}
}

func TestBenchBuild(t *testing.T) {
	t.Parallel()
	t.Run("it counts the calls and tokens of each stage, and the banks say the same as the model", func(t *testing.T) {
		t.Parallel()
		type usage struct {
			Stage, Model                  string
			Calls, Failed                 int
			Prompt                        int `json:"prompt_tokens"`
			Completion                    int `json:"completion_tokens"`
			Fixed                         int `json:"fixed_tokens"`
			Published, Answered, Unplaced int
		}
		f := apptest.Decode[struct {
			Conversations, Turns int
			TextTokens           int `json:"text_tokens"`
			Stages               []usage
			Total, Facts         usage
			Calls                float64 `json:"calls_per_1000_turns"`
			Tokens               float64 `json:"tokens_per_turn"`
			Beyond               float64 `json:"tokens_per_turn_beyond_text"`
			Equal                bool    `json:"usage_equal"`
		}](t, ok(t, []string{"EUNOE_MODEL=openai:another", "EUNOE_RERANK_URL=http://192.0.2.1"}, append([]string{"build", "--json"}, published(t)...)...))
		if f.Conversations != 1 || f.Turns != 5 || f.TextTokens < 40 || f.TextTokens > 70 || !f.Equal || f.Facts.Published != 6 || f.Facts.Answered != 5 || f.Facts.Unplaced != 1 {
			t.Errorf("got %+v", f)
		}
		stages, sum := map[string]usage{}, usage{}
		for _, s := range f.Stages {
			stages[s.Stage] = s
			sum.Calls, sum.Prompt, sum.Completion = sum.Calls+s.Calls, sum.Prompt+s.Prompt, sum.Completion+s.Completion
			if s.Fixed <= 0 || s.Fixed >= s.Prompt || s.Completion <= 0 || s.Failed != 0 {
				t.Errorf("%s: %+v", s.Stage, s)
			}
		}
		if stages["extract"].Calls != 2 || stages["observe"].Calls != 1 {
			t.Errorf("two sessions are two windows, and what the facts show is asked once: %+v", f.Stages)
		}
		if sum.Calls != f.Total.Calls || sum.Prompt != f.Total.Prompt || sum.Completion != f.Total.Completion {
			t.Errorf("the sum is %+v, the total %+v", sum, f.Total)
		}
		tokens := float64(sum.Prompt+sum.Completion) / 5
		beyond := tokens - float64(f.TextTokens)/5 // rounded in another order
		if f.Calls != 200*float64(sum.Calls) || f.Tokens != tokens || math.Abs(f.Beyond-beyond) > 1e-9 {
			t.Errorf("got %v calls per 1,000 turns, %v and %v tokens a turn of %+v", f.Calls, f.Tokens, f.Beyond, sum)
		}
	})
	t.Run("its table names every stage, the bounds and what is compared", func(t *testing.T) {
		t.Parallel()
		out := ok(t, nil, append([]string{"build"}, published(t)...)...)
		for _, want := range []string{"\nextract  2 ", "\nobserve  1 ", "\nall ", "1 conversations, 5 turns", "the banks say the same as the model", "6 published, 5 answered, 1 without a turn",
			"at most 51", "at most 72", "LightMem tells of 298 calls and 851.8k tokens for LoCoMo's 5882 turns: 50.7 calls per 1,000 turns and 144.8 tokens a turn"} {
			if !strings.Contains(out, want) {
				t.Errorf("%q is not in\n%s", want, out)
			}
		}
	})
	t.Run("consolidated after each session, it is asked what the facts show each time", func(t *testing.T) {
		t.Parallel()
		out := ok(t, nil, append([]string{"build", "--each-session"}, published(t)...)...)
		for _, want := range []string{"\nextract  2 ", "\nobserve  2 ", "the banks say the same as the model"} {
			if !strings.Contains(out, want) {
				t.Errorf("%q is not in\n%s", want, out)
			}
		}
	})
	t.Run("what it cannot do is a usage error", func(t *testing.T) {
		t.Parallel()
		flags := published(t)
		for says, args := range map[string][]string{
			"EUNOE_BENCH_DIR": {}, "--facts": flags[:2], "one dataset": append([]string{"--dataset", flags[1]}, flags...), "line 1": {"--dataset", flags[1], "--facts", flags[1]},
		} {
			if r := run(t, nil, append([]string{"build"}, args...)...); r.code != 2 || !strings.Contains(r.err, says) {
				t.Errorf("%v: exit code %d, %s", args, r.code, r.err)
			}
		}
	})
}

func TestBenchFacts(t *testing.T) {
	t.Parallel()
	type figures struct {
		Questions int
		Stored    float64
		Eunoe     map[string]map[string]float64
		Raw       struct {
			Raw        map[string]map[string]float64
			Difference map[string][3]float64
			Parts      []struct {
				Records   string
				Questions int
				Recall    float64 `json:"recall@10"`
				All       float64 `json:"all@10"`
			}
		}
	}
	t.Run("a memory of published facts is held against raw messages, question by question", func(t *testing.T) {
		t.Parallel()
		f := apptest.Decode[figures](t, ok(t, nil, append([]string{"retrieval", "--json"}, published(t)...)...))
		if f.Questions != 3 || f.Stored != 1 || f.Eunoe["1-5"]["recall@10"] == 0 || f.Raw.Raw["1-5"]["recall@10"] == 0 {
			t.Errorf("got %+v", f)
		}
		for _, group := range []string{"1", "2", "4", "1-4", "1-5"} {
			d, there := f.Raw.Difference[group]
			want := f.Eunoe[group]["recall@10"] - f.Raw.Raw[group]["recall@10"]
			if !there || d[1] > d[0] || d[2] < d[0] || d[0]-want > 1e-9 || want-d[0] > 1e-9 {
				t.Errorf("group %s: %v; the difference is %v", group, d, want)
			}
		}
		var names []string
		for _, p := range f.Raw.Parts {
			names = append(names, p.Records)
			if p.Questions != 1 || p.Recall < p.All {
				t.Errorf("got %+v", p)
			}
		}
		if want := "messages; everything; messages, facts; messages, composites; messages, facts, composites; facts; facts, composites"; strings.Join(names, "; ") != want {
			t.Errorf("got %q", names)
		}
	})
	t.Run("the tables say what is held against what", func(t *testing.T) {
		t.Parallel()
		flags := published(t)
		for _, args := range [][]string{flags, {flags[0], flags[1], "--raw"}} {
			out := ok(t, nil, append([]string{"retrieval"}, args...)...)
			for _, want := range []string{"eunoe\n", "raw messages alone\n", "everything − raw messages, recall@10 paired by question", "multi-hop questions by what is asked for", "facts, composites "} {
				if !strings.Contains(out, want) {
					t.Errorf("%v: %q is not in\n%s", args, want, out)
				}
			}
		}
		if out := ok(t, nil, "retrieval", flags[0], flags[1]); strings.Contains(out, "raw messages") {
			t.Errorf("raw messages were not asked for:\n%s", out)
		}
	})
	t.Run("what does not go together is a usage error", func(t *testing.T) {
		t.Parallel()
		flags := published(t)
		for says, more := range map[string][]string{"--records": {"--records", "fact"}, "--strategies": {"--strategies", "keyword=1"}, "--url": {"--url", "nats://127.0.0.1:1"}, "one dataset": {"--dataset", "x"}} {
			if r := run(t, nil, append(append([]string{"retrieval"}, flags...), more...)...); r.code != 2 || !strings.Contains(r.err, says) {
				t.Errorf("%v: exit code %d, %s", more, r.code, r.err)
			}
		}
	})
}

func TestBenchExtractors(t *testing.T) {
	t.Parallel()
	t.Run("it measures each number of extractors against the first", func(t *testing.T) {
		t.Parallel()
		f := apptest.Decode[struct {
			Latency   string
			Processes bool
			Runs      []struct {
				Extractors, Windows int
				PerSecond           float64 `json:"windows_per_second"`
				Ratio               float64
			}
		}](t, ok(t, nil, "extractors", "--json", "--latency", "30ms", "--windows", "4", "--extractors", "1,2"))
		if f.Latency != "30ms" || f.Processes || len(f.Runs) != 2 {
			t.Fatalf("got %+v", f)
		}
		one, two := f.Runs[0], f.Runs[1]
		if one.Extractors != 1 || one.Windows != 4 || one.Ratio != 1 || two.Extractors != 2 || two.Windows != 8 || two.Ratio != two.PerSecond/one.PerSecond {
			t.Errorf("got %+v", f.Runs)
		}
		if one.PerSecond <= 0 || one.PerSecond > 1000.0/30 || two.PerSecond > 2000.0/30 {
			t.Errorf("a model of 30 ms cannot give %+v", f.Runs)
		}
	})
	t.Run("an extractor that ends is an error that says what it said", func(t *testing.T) {
		t.Parallel()
		script := filepath.Join(t.TempDir(), "extractor")
		apptest.Write(t, script, "#!/bin/sh\necho \"$EUNOE_MODEL is too slow\" >&2\nexit 1\n")
		if err := os.Chmod(script, 0o700); err != nil { //nolint:gosec // it is to run
			t.Fatal(err)
		}
		r := run(t, nil, "extractors", "--binary", script, "--extractors", "1")
		if r.code == 0 || !strings.Contains(r.err, "openai:scripted is too slow") {
			t.Errorf("exit code %d, %s", r.code, r.err)
		}
	})
	t.Run("what it cannot do is a usage error", func(t *testing.T) {
		t.Parallel()
		for _, args := range [][]string{{"--windows", "0"}, {"--latency", "-1s"}, {"--extractors", "0"}, {"--binary", filepath.Join(t.TempDir(), "none")}} {
			if r := run(t, nil, append([]string{"extractors"}, args...)...); r.code != 2 || !strings.Contains(r.err, args[0]) {
				t.Errorf("%v: exit code %d, %s", args, r.code, r.err)
			}
		}
	})
}
