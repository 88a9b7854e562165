package rules_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// TestSingleSentences reads the sentences of facts-dev.json that need no store: what is said in other languages stands
// word for word, numbers survive, and noise makes no fact.
func TestSingleSentences(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("EUNOE_BENCH_DIR")
	if dir == "" {
		t.Skip("EUNOE_BENCH_DIR is not set: the wording of the labelled sentences is NOT measured")
	}
	body, err := os.ReadFile(filepath.Join(dir, "facts-dev.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct{ Kind, Text, Speaker, Must string }
	if err := json.Unmarshal(body, &cases); err != nil {
		t.Fatal(err)
	}
	notWord, bracket := regexp.MustCompile(`[^\pL\pN\pM]+`), regexp.MustCompile(`\([^)]*\d{4}\)`)
	flat := func(s string) string {
		return strings.ToLower(strings.TrimSpace(notWord.ReplaceAllString(bracket.ReplaceAllString(s, ""), " ")))
	}
	for _, c := range cases {
		m := by("Ana", c.Text)
		m.Time = time.Date(2026, 4, 14, 10, 0, 0, 0, time.UTC)
		var got []string
		for _, f := range facts(t, []memory.Message{m}...) {
			got = append(got, f.Text)
		}
		ok := true
		switch c.Kind {
		case "verbatim":
			for _, f := range got {
				ok = ok && strings.Contains(flat(f), flat(c.Text))
			}
		case "keep":
			ok = strings.Contains(strings.Join(got, "\n"), c.Must)
		case "noise":
			ok = len(got) == 0
		}
		if !ok {
			t.Errorf("%s: %q gives %q", c.Kind, c.Text, got)
		}
	}
}
