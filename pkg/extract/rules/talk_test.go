package rules_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// TestATalkInFourLanguages reads testdata/talk.txt, sixty messages of four people who write English, German, Spanish and
// Polish to each other and to an assistant. Each line has its speaker, what is said, and behind "=>" the facts that must
// come of it, without the dates in brackets; "=> -" is none.
func TestATalkInFourLanguages(t *testing.T) {
	t.Parallel()
	body, err := os.ReadFile("testdata/talk.txt")
	if err != nil {
		t.Fatal(err)
	}
	var talk []memory.Message
	var want []string
	for line := range strings.Lines(string(body)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		said, facts, ok := strings.Cut(line, " => ")
		speaker, content, named := strings.Cut(said, ": ")
		if !ok || !named {
			t.Fatalf("line %q has no speaker or no facts", line)
		}
		role := memory.RoleUser
		if speaker == "assistant" {
			role = memory.RoleAssistant
		}
		n := len(talk) + 1
		talk = append(talk, memory.Message{ID: memory.MessageID(fmt.Sprintf("t%02d", n)), Seq: uint64(n), Role: role, Speaker: speaker, Content: content,
			Time: time.Date(2026, 3, 2, 9, n, 0, 0, time.UTC)})
		want = append(want, facts)
	}
	if len(talk) != 60 {
		t.Fatalf("%d messages", len(talk))
	}
	got := make([][]string, len(talk))
	for _, f := range facts(t, talk...) {
		last := f.Sources[len(f.Sources)-1].Seq
		got[last-1] = append(got[last-1], without(f.Text))
	}
	for i, m := range talk {
		if facts := strings.Join(got[i], " | "); facts != strings.TrimPrefix(want[i], "-") {
			t.Errorf("%s: %s\n got  %s\n want %s", m.Speaker, m.Content, facts, want[i])
		}
	}
}
