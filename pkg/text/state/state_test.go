package state_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/text/state"
)

func TestStatements(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, subject, attribute, value string }{ // no attribute = states nothing
		{"I live in New York City and like it.", "I", "residence", "new york city"},
		{"The user's e-mail address is ana@example.org.", "The user", "e-mail address", "ana@example.org"},
		{"Ana has two small cats.", "Ana", "number of small cat", "2"},
		{"Ana is 34 years old.", "Ana", "age", "34"},
		{"Ana does not work at Acme any more.", "Ana", "employer", "not acme"},
		{"Ana does not work at Acme.", "", "", ""},
		{"Bob hopes that Ana lives in Lisbon.", "", "", ""},
		{"Does Ana live in Lisbon?", "", "", ""},
		{`Ana said "I live in Lisbon".`, "", "", ""},
	} {
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			got := slices.Collect(state.Statements(c.text))
			if c.attribute == "" {
				if len(got) != 0 {
					t.Fatalf("states %+v, want nothing", got)
				}
				return
			}
			if len(got) == 0 || got[0].Subject != c.subject || got[0].Attribute != c.attribute || got[0].Value != c.value {
				t.Fatalf("states %+v, want %s, %s, %s", got, c.subject, c.attribute, c.value)
			}
		})
	}
}

// A question asks for a state by its form or by its name, and not because a word of it stands in the name of something else.
func TestAsked(t *testing.T) {
	t.Parallel()
	names := []string{"age", "email", "residence", "vehicle"}
	for question, want := range map[string]string{
		"What's my address?":                         "residence",
		"Could you tell me Olga's address?":          "residence",
		"What's my email address?":                   "email",
		"Which IP address has the printer?":          "",
		"Which car do I have?":                       "vehicle",
		"What kind of car is mine?":                  "vehicle",
		"Which car insurance did I take?":            "",
		"What did the mechanic say about the car?":   "",
		"What is Olga's age?":                        "age",
		"At what age did Olga learn to ride a bike?": "",
		"How old is she?":                            "age",
	} {
		if got := strings.Join(state.Asked(question, names), " "); got != want {
			t.Errorf("%q asks for %q; expected %q", question, got, want)
		}
	}
}

func TestDraftForms(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]state.Statement{
		"Ana's sister Lena moved to Porto.":      {Subject: "Ana", Relation: "'s sister Lena", Attribute: "residence", Value: "porto"},
		"Ana became a high school teacher.":      {Subject: "Ana", Attribute: "job", Value: "high school teacher"},
		"Ana's dog is called Rex.":               {Subject: "Ana", Attribute: "dog's name", Value: "rex"},
		"Ana's favorite food ever is the sushi.": {Subject: "Ana", Attribute: "favourite food", Value: "sushi"},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			for _, f := range state.DraftForms() {
				if st, ok := f.Match(text); ok {
					if st.Text = ""; st != want {
						t.Errorf("states %+v, want %+v", st, want)
					}
					return
				}
			}
			t.Error("has no form")
		})
	}
}

func TestChangeOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, subject, of string // no of = no change
		kind              state.ChangeKind
	}{
		{"Mira stopped drinking coffee.", "Mira", "drink coffe", state.EndOfAny},
		{"Mira said: Unfortunately, the recital was cancelled.", "", "recit", state.EndOfPlan},
		{"Mira has finally sold the old canoe.", "Mira", "old cano", state.EndOfPossession},
		{"Mira broke up with Jonas in June.", "Mira", "jona", state.EndOfRelation},
		{"Mira was fired from the bakery.", "Mira", "bakeri", state.EndOfWork},
		{"Mira never quit the choir.", "", "", 0},
		{"Mira is back, and cancelled the rental.", "Mira", "rental", state.EndOfPlan},
		{"Mira traded in the tandem for a scooter.", "Mira", "tandem", state.EndOfPossession},
		{"The lease has expired.", "", "leas", state.EndOfAny},
		{"Did Mira quit the choir?", "", "", 0},
		{"If Mira quits the choir, Paul sings.", "", "", 0},
		{"Mira was off.", "", "", 0},
	} {
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			got, ok := state.ChangeOf(c.text)
			if ok != (c.of != "") || got.Subject != c.subject || strings.Join(got.Of, " ") != c.of || got.Kind != c.kind {
				t.Errorf("change %+v, %v", got, ok)
			}
		})
	}
	if r, ok := state.RevisionOf("Ich spiele nicht mehr Geige.", "de"); !ok || r.Cues&state.NoLonger == 0 || strings.Join(r.Words, " ") != "spiele geige" {
		t.Errorf("revision %+v, %v", r, ok)
	}
	if r, ok := state.RevisionOf("Spielst du Geige?", "de"); ok {
		t.Errorf("a question revises %+v", r)
	}
	if st := slices.Collect(state.Statements("If Mira lives in Oslo, Paul visits.")); len(st) > 0 {
		t.Errorf("a condition states %+v", st)
	}
}

func TestWordsOfOneFormAreAlike(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"wohnung", "wohnungen", true}, {"haus", "maus", false}, {"кошка", "кошку", true}, {"кошка", "мышка", false}, {"été", "étés", true},
		{"ça", "çà", false}, {"dog", "dot", false}, {"cat", "catwalk", false}, {"über", "überall", true}, {"über", "überallhin", false},
		{"京都", "京都市", true}, {"京都", "東京", false}, {"スキー場", "スキー", true}, {"1234", "12345", false}, {"żaba", "żaby", true}, {"", "a", false}, {"", "", true},
	} {
		if got, back := state.Alike(c.a, c.b), state.Alike(c.b, c.a); got != c.want || back != c.want {
			t.Errorf("%q and %q are alike: %t, and the other way round %t; expected %t", c.a, c.b, got, back, c.want)
		}
	}
}
