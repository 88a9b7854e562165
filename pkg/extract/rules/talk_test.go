package rules_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// readTalk reads the messages of a talk, a minute apart, and what stands behind "=>" in their lines.
func readTalk(t *testing.T, file string) (talk []memory.Message, want []string) {
	t.Helper()
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
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
		want = append(want, strings.TrimPrefix(facts, "-"))
	}
	if len(talk) != 60 {
		t.Fatalf("%d messages", len(talk))
	}
	return talk, want
}

// compareTalk extracts a talk and compares the facts of each message, as show writes them, with what is wanted.
func compareTalk(t *testing.T, talk []memory.Message, want []string, show func(memory.Fact) string) {
	t.Helper()
	got := make([][]string, len(talk))
	for _, f := range facts(t, talk...) {
		last := f.Sources[len(f.Sources)-1].Seq
		got[last-1] = append(got[last-1], show(f))
	}
	for i, m := range talk {
		if facts := strings.Join(got[i], " | "); facts != want[i] {
			t.Errorf("%s: %s\n got  %s\n want %s", m.Speaker, m.Content, facts, want[i])
		}
	}
}

// TestATalkInFourLanguages reads testdata/talk.txt, sixty messages of four people who write English, German, Spanish and
// Polish to each other and to an assistant. Each line has its speaker, what is said, and behind "=>" the facts that must
// come of it, without the dates in brackets; "=> -" is none.
func TestATalkInFourLanguages(t *testing.T) {
	t.Parallel()
	talk, want := readTalk(t, "testdata/talk.txt")
	compareTalk(t, talk, want, func(f memory.Fact) string { return without(f.Text) })
}

// TestTheDatesOfATalkInFourLanguages reads testdata/talk-dates.txt and talk-house.txt: sixty messages each in English,
// German, Spanish and French, with the days that their facts name.
func TestTheDatesOfATalkInFourLanguages(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"testdata/talk-dates.txt", "testdata/talk-house.txt"} {
		talk, want := readTalk(t, file)
		for i, m := range talk {
			if rest, ok := strings.CutPrefix(want[i], "="); ok {
				want[i] = m.Speaker + ": " + m.Content + rest
			}
		}
		compareTalk(t, talk, want, func(f memory.Fact) string { return without(f.Text) + daysOf(f) })
	}
}

// daysOf writes the days that a fact names as talk-dates.txt has them.
func daysOf(f memory.Fact) string {
	if f.Occurred.IsZero() {
		return ""
	}
	from, to := f.Occurred.From.Format(time.DateOnly), f.Occurred.To.Format(time.DateOnly)
	if from == to {
		return " @" + from
	}
	return " @" + from + ".." + to
}
