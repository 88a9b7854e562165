//go:build !race

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/eunoe-memory/eunoe/bench/score"
)

// The bounds of a memory with a language model. The model is scripted: it answers extraction with facts that were published
// of the conversations.

// figuresOf runs a bench command and reads what it prints.
func figuresOf[T any](t *testing.T, args ...string) T {
	t.Helper()
	var out, errs bytes.Buffer
	if code := Execute(context.Background(), os.Environ(), append([]string{args[0], "--json"}, args[1:]...), &out, &errs); code != 0 {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	var f T
	if err := json.Unmarshal(out.Bytes(), &f); err != nil {
		t.Fatalf("%v in %s", err, out.String())
	}
	return f
}

func TestCostOfBuilding(t *testing.T) {
	t.Parallel()
	f := figuresOf[buildFigures](t, "build", "--dataset", inBenchDir(t, "locomo-dev.json"), "--facts", inBenchDir(t, "locomo-dev-facts.jsonl"))
	for _, s := range f.Stages {
		t.Logf("%-9s %4d calls, %7d prompt tokens (%d fixed), %6d completion tokens", s.Stage, s.Calls, s.PromptTokens, s.Fixed, s.CompletionTokens)
	}
	t.Logf("%.1f calls per 1,000 turns, %.1f tokens a turn beyond %.1f of text; built in %s", f.CallsPer1000, f.BeyondPerTurn, float64(f.TextTokens)/float64(f.Turns), f.Took)
	if !f.Equal {
		t.Error("the banks do not report the usage that the model served")
	}
	if f.CallsPer1000 > mostCalls {
		t.Errorf("%.2f calls per 1,000 turns; at most %d are expected", f.CallsPer1000, mostCalls)
	}
	if f.BeyondPerTurn > mostTokens {
		t.Errorf("%.1f tokens a turn beyond the text; at most %d are expected", f.BeyondPerTurn, mostTokens)
	}
	if f.Facts == nil || f.Facts.Answered < f.Facts.Published-f.Facts.Unplaced {
		t.Errorf("facts were not asked for: %+v", f.Facts)
	}
}

func TestRecallOnModelFacts(t *testing.T) {
	t.Parallel()
	f := figuresOf[retrievalFigures](t, "retrieval", "--dataset", inBenchDir(t, "locomo-dev.json"), "--facts", inBenchDir(t, "locomo-dev-facts.jsonl"))
	notBelowRaw(t, f, true)
	if f.Stored < .995 {
		t.Errorf("%.4f of the evidence is stored", f.Stored)
	}
}

// notBelowRaw demands that facts and composites take nothing from what raw messages alone find: the 95% interval of the
// difference reaches 0. With each it does so in every category.
func notBelowRaw(t *testing.T, f retrievalFigures, each bool) {
	t.Helper()
	all, raw := f.Eunoe["1-5"], f.Raw.Raw["1-5"]
	t.Logf("everything: R@10 %.4f, hit@10 %.4f, MRR %.3f; raw messages: R@10 %.4f, hit@10 %.4f, MRR %.3f",
		all["recall@10"], all["hit@10"], all["MRR"], raw["recall@10"], raw["hit@10"], raw["MRR"])
	for _, g := range score.Groups() {
		d, ok := f.Raw.Difference[g.Key]
		if !ok {
			continue
		}
		t.Logf("%-13s everything − raw messages: %+.4f (%+.4f to %+.4f)", g.Name, d[0], d[1], d[2])
		if d[2] < -1e-9 && (each || g.Key == "1-5") {
			t.Errorf("%s: everything finds less than raw messages alone: %+.4f (%+.4f to %+.4f)", g.Name, d[0], d[1], d[2])
		}
	}
	for _, p := range f.Raw.Parts {
		t.Logf("multi-hop, %-29s R@10 %.4f, all@10 %.4f", p.Records+":", p.Recall, p.All)
	}
}

// TestSpeedOfExtractors is not parallel: it runs before the parallel tests, alone.
func TestSpeedOfExtractors(t *testing.T) {
	if os.Getenv("EUNOE_BENCH_DIR") == "" {
		t.Skip("EUNOE_BENCH_DIR is not set: the speed of extractors is NOT measured here")
	}
	binary := filepath.Join(t.TempDir(), "extractor")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "../cmd/extractor").CombinedOutput(); err != nil { //nolint:gosec // its own program
		t.Fatalf("build the extractor: %v: %s", err, out)
	}
	best := 0.0
	for range 4 { // a busy machine can only slow it down, most of all few windows, of which the last wait for one extractor
		f := figuresOf[extractorFigures](t, "extractors", "--binary", binary, "--windows", "60", "--extractors", "1,4")
		one, four := f.Runs[0], f.Runs[1]
		t.Logf("one extractor: %.1f windows/s, four: %.1f, ratio %.2f", one.PerSecond, four.PerSecond, four.Ratio)
		if best = max(best, four.Ratio); best >= leastRatio {
			return
		}
	}
	t.Errorf("four extractors are %.2f times as fast as one; at least %.1f are expected", best, leastRatio)
}
