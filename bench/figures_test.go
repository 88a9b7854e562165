//go:build !race

package main

import (
	"os"
	"path/filepath"
	"testing"
)

// The bounds of recall on labelled conversations, without a model. Under the race detector these tests would take
// minutes and tell nothing more.

// inBenchDir returns the path of a file in EUNOE_BENCH_DIR, and skips the test where there is none.
func inBenchDir(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("EUNOE_BENCH_DIR")
	if dir == "" {
		t.Skip("EUNOE_BENCH_DIR is not set: recall is NOT measured here; set it to a folder with " + name)
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("recall is NOT measured here: %v", err)
	}
	return path
}

func measure(t *testing.T, args ...string) retrievalFigures {
	t.Helper()
	return figuresOf[retrievalFigures](t, append([]string{"retrieval"}, args...)...)
}

// TestFactsOfLabelledSentences holds what becomes of labelled sentences, each published to a bank of its own.
func TestFactsOfLabelledSentences(t *testing.T) {
	t.Parallel()
	f := figuresOf[sentenceFigures](t, "sentences", "--dataset", inBenchDir(t, "facts-dev.json"))
	least := map[string]float64{"date": .95, "change": .9} // of all others: every one
	if len(f.Kinds) != 8 {
		t.Errorf("kinds of sentences: %+v", f.Kinds)
	}
	for _, k := range f.Kinds {
		t.Logf("%-8s %d of %d", k.Kind, k.Right, k.Asked)
		bound, ok := least[k.Kind]
		if !ok {
			bound = 1
		}
		if float64(k.Right) < bound*float64(k.Asked) {
			t.Errorf("%s: %d of %d are right, at least %.2f is expected; misses %q", k.Kind, k.Right, k.Asked, bound, f.Misses)
		}
	}
}

// TestRecallInOtherLanguages asks small talks that were written for this test, 20 questions a language whose words are
// inflected otherwise than in the answers.
func TestRecallInOtherLanguages(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"de", "es", "fr", "ru", "ja"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			f := measure(t, "--dataset", filepath.Join("testdata", "own-"+language+".json"), "--baseline", "bm25").Sets[0]
			t.Logf("hit@10 %.3f, MRR %.3f; plain BM25 %.3f, %.3f", f.Eunoe["hit@10"], f.Eunoe["MRR"], f.Baseline["hit@10"], f.Baseline["MRR"])
			if f.Eunoe["hit@10"] < 1 || f.Eunoe["MRR"] < .85 {
				t.Errorf("hit@10 is %.3f, MRR %.3f; at least 1 and .85 are expected", f.Eunoe["hit@10"], f.Eunoe["MRR"])
			}
		})
	}
}
