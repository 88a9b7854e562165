package rules_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/extract/rules"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text/secret"
)

type redactor struct{}

func (redactor) Redact(s string) string { return secret.Redact(s) }

// facts runs extraction and validation over a window.
func facts(t testing.TB, messages ...memory.Message) []memory.Fact {
	t.Helper()
	in := extract.Input{Bank: "b", Session: "s", New: messages}
	drafts, err := rules.New().Extract(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	out, refused := extract.Validate(in, rules.Name, drafts, redactor{})
	if len(refused) != 0 {
		t.Fatalf("refused %+v", refused)
	}
	return out
}

func message(id memory.MessageID, seq uint64, role memory.Role, speaker, content string) memory.Message {
	return memory.Message{ID: id, Seq: seq, Role: role, Speaker: speaker, Content: content, Time: said.Add(time.Duration(seq) * time.Minute)}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	t.Run("two speakers and non-alternating roles: each fact has its speaker, time and message", func(t *testing.T) {
		t.Parallel()
		messages := []memory.Message{
			message("a", 1, memory.RoleUser, "Alice", "I adopted a cat."),
			message("b", 2, memory.RoleUser, "Bob", "I bought a canoe."),
			message("c", 5, memory.RoleUser, "Bob", "I painted the kitchen."),
			message("d", 6, memory.RoleAssistant, "assistant", "I booked you a table in Lisbon for 5 June."),
			message("e", 7, memory.RoleUser, "Alice", "I sold the piano."),
		}
		want := []string{"Alice adopted a cat.", "Bob bought a canoe.", "Bob painted the kitchen.", "The assistant booked you a table in Lisbon for 5 June (5 June 2023).", "Alice sold the piano."}
		got := facts(t, messages...)
		if len(got) != len(want) {
			t.Fatalf("%d facts", len(got))
		}
		for i, f := range got {
			m := messages[i]
			if f.Text != want[i] || f.Speaker != m.Speaker || f.Role != m.Role || !f.Said.Equal(m.Time) || len(f.Sources) != 1 || f.Sources[0].Message != m.ID || f.Sources[0].Seq != m.Seq {
				t.Errorf("fact %d is %+v", i, f)
			}
		}
	})
	t.Run("the same transcript yields the same facts, one for each statement", func(t *testing.T) {
		t.Parallel()
		once := facts(t, transcript()...)
		if diff := cmp.Diff(once, facts(t, transcript()...)); diff != "" {
			t.Errorf("a second run differs:\n%s", diff)
		}
		again := transcript()
		for i := range again {
			again[i].ID, again[i].Seq = "again-"+again[i].ID, again[i].Seq+100
		}
		twice := facts(t, append(transcript(), again...)...)
		if len(twice) != len(once) {
			t.Fatalf("%d facts of two copies, %d of one", len(twice), len(once))
		}
		for i := range twice {
			if twice[i].ID != once[i].ID || len(twice[i].Sources) != 2*len(once[i].Sources) {
				t.Errorf("%q rests on %d messages", twice[i].Text, len(twice[i].Sources))
			}
		}
	})
	t.Run("all messages are extracted and a closing thanks cancels nothing", func(t *testing.T) {
		t.Parallel()
		var messages []memory.Message
		for i, city := range []string{"Lisbon", "Porto", "Rome", "Paris", "Vienna", "Oslo", "Madrid", "Berlin"} {
			messages = append(messages, message(memory.MessageID("m"+city), uint64(i+1), memory.RoleUser, "Alice", "I visited "+city+" with my brother."))
		}
		messages = append(messages, message("bye", 20, memory.RoleUser, "Alice", "Thanks, bye!"))
		got := facts(t, messages...)
		if len(got) != 8 {
			t.Fatalf("%d facts of 8 statements: %v", len(got), got)
		}
		for i, f := range got {
			if f.Sources[0].Message != messages[i].ID {
				t.Errorf("fact %q rests on %v", f.Text, f.Sources)
			}
		}
	})
	t.Run("relative times resolve against the message's time, and stay unresolved without one", func(t *testing.T) {
		t.Parallel()
		for expression, want := range map[string]string{
			"yesterday": "2023-05-07 2023-05-07", "last week": "2023-05-01 2023-05-07", "in May": "2023-05-01 2023-05-31", "two years ago": "2021-01-01 2021-12-31",
		} {
			m := by("Alice", "I went to Rome "+expression+".")
			f := facts(t, m)[0]
			if got := f.Occurred.From.Format(time.DateOnly) + " " + f.Occurred.To.Format(time.DateOnly); got != want {
				t.Errorf("%q resolved to %s, want %s", expression, got, want)
			}
			if !strings.Contains(f.Text, "(") {
				t.Errorf("%q cannot be read at another time", f.Text)
			}
			m.Time = time.Time{}
			if f := facts(t, m)[0]; !f.Occurred.IsZero() || strings.Contains(f.Text, "(") {
				t.Errorf("without a time %q resolved to %+v", expression, f.Occurred)
			}
		}
	})
	t.Run("a fact without a type is of kind world", func(t *testing.T) {
		t.Parallel()
		in := extract.Input{Bank: "b", Session: "s", New: []memory.Message{by("Alice", "x")}}
		got, _ := extract.Validate(in, "x/1", []extract.Draft{{Text: "Tea is hot.", Sources: []memory.MessageID{"m1"}}}, redactor{})
		if len(got) != 1 || got[0].Kind != memory.KindWorld || got[0].Type != memory.TypeFact {
			t.Errorf("got %+v", got)
		}
	})
}
