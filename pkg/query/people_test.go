package query_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

func TestPeople(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	say := func(id, speaker, text string) {
		w.say(memory.Message{ID: memory.MessageID(id), Speaker: speaker, Content: text})
	}
	say("m1", "Ilse Brandt", "Ich spiele Geige.")
	say("m2", "Dr. Omar Haddad", "My office hours are on Tuesday.")
	say("m3", "sun_fox", "The parcel goes to the harbour.")
	say("m4", "Björn", "Sailing is what counts.")
	of := func(message, speaker, text string) memory.Fact {
		return memory.Fact{Text: text, Speaker: speaker, Entities: []memory.EntityID{memory.NewEntityID(memory.EntityPerson, speaker)}, Sources: w.from(alice, message)}
	}
	w.know(alice, of("m1", "Ilse Brandt", "Ilse Brandt spielt Geige."), of("m2", "Dr. Omar Haddad", "Omar Haddad works at the clinic."),
		of("m3", "sun_fox", "sun_fox sends parcels to the harbour."), of("m4", "Björn", "Björn loves sailing."),
		of("m1", "Ilse Brandt", "Ilse Brandt is allergic to bees."))
	recall := func(query string) []string { return textsOf(w.recall(alice, wire.RecallRequest{Query: query}).Items) }

	for query, want := range map[string]string{
		"Was spielt Ilse?": "Ilse Brandt spielt Geige.", "qwertz Ilse": "Ilse Brandt spielt Geige.", "Ilse": "Ilse Brandt spielt Geige.", "Frau Brandt": "Ilse Brandt spielt Geige.",
		"Tell me about Omar": "Omar Haddad works at the clinic.", "qwertz Haddad": "Omar Haddad works at the clinic.", "What did Bjorn do?": "Björn loves sailing.",
	} {
		t.Run("a part of a name finds what is known of the person: "+query, func(t *testing.T) {
			t.Parallel()
			if got := recall(query); !slices.Contains(got, want) {
				t.Errorf("got %q", got)
			}
		})
	}
	for _, query := range []string{"What is Björn allergic to?", "What is Jürgen allergic to?", "Is Omar allergic to anything?", "What is Rachel allergic to?", "Where does Ilse work?"} {
		t.Run("nothing is returned as an answer that says just what is asked of another: "+query, func(t *testing.T) {
			t.Parallel()
			for _, text := range recall(query) {
				if strings.Contains(text, "allergic") && !strings.Contains(query, "Ilse") || strings.Contains(text, "works") && strings.Contains(query, "Ilse") {
					t.Errorf("got %q", text)
				}
			}
		})
	}
	t.Run("of a person nobody has heard of nothing is known", func(t *testing.T) {
		t.Parallel()
		for _, query := range []string{"What is Rachel allergic to?", "What is Jürgen allergic to?"} {
			if got := recall(query); len(got) != 0 {
				t.Errorf("%s: %q", query, got)
			}
		}
	})
	t.Run("a name is that of a person who writes it with accents", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t)
		w.know(alice, memory.Fact{Text: "Zoë plays the harp.", Speaker: "Ilse", Entities: []memory.EntityID{"person:zoë"}},
			memory.Fact{Text: "Omar plays the harp.", Speaker: "Omar", Entities: []memory.EntityID{"person:omar"}})
		if got := textsOf(w.recall(alice, wire.RecallRequest{Query: "What does Zoe play?"}).Items); !slices.Equal(got, []string{"Zoë plays the harp."}) {
			t.Errorf("got %q", got)
		}
	})
	t.Run("the question of whom something holds is answered by everyone it holds of", func(t *testing.T) {
		t.Parallel()
		if got := recall("Who is allergic to bees?"); len(got) == 0 || got[0] != "Ilse Brandt is allergic to bees." {
			t.Errorf("got %q", got)
		}
	})
	t.Run("two people of one first name are both meant by it", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t)
		w.know(alice, memory.Fact{Text: "Ilse Brandt lives in Kiel.", Entities: []memory.EntityID{"person:ilse brandt"}},
			memory.Fact{Text: "Ilse Novak lives in Brno.", Entities: []memory.EntityID{"person:ilse novak"}})
		if got := textsOf(w.recall(alice, wire.RecallRequest{Query: "Where does Ilse live?"}).Items); len(got) != 2 {
			t.Errorf("got %q", got)
		}
		for name, want := range map[string]string{"Ilse Brandt": "Ilse Brandt lives in Kiel.", "Ilse Novak": "Ilse Novak lives in Brno."} {
			if got := textsOf(w.recall(alice, wire.RecallRequest{Query: "Where does " + name + " live?"}).Items); len(got) == 0 || got[0] != want {
				t.Errorf("of %s: %q", name, got)
			}
		}
	})
	t.Run("a first name means whom others speak of, too, beside the one who speaks", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t)
		w.say(memory.Message{ID: "m1", Speaker: "Lucía Vega", Content: "Hola a todos."})
		w.know(alice, memory.Fact{Text: "She works in Cádiz.", Entities: []memory.EntityID{"person:lucía romero"}},
			memory.Fact{Text: "Lucía Vega paints.", Speaker: "Lucía Vega", Entities: []memory.EntityID{"person:lucía vega"}, Sources: w.from(alice, "m1")})
		if got := textsOf(w.recall(alice, wire.RecallRequest{Query: "Where does Lucía work?"}).Items); !slices.Contains(got, "She works in Cádiz.") {
			t.Errorf("by the first name: %q", got)
		}
		if got := textsOf(w.recall(alice, wire.RecallRequest{Query: "Where does Lucía Vega work?"}).Items); slices.Contains(got, "She works in Cádiz.") {
			t.Errorf("by another's whole name: %q", got)
		}
	})
}

func TestAnOrdinaryWordIsNobodysName(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.say(memory.Message{ID: "m1", Speaker: "Project Manager", Content: "Let us begin."})
	w.say(memory.Message{ID: "m2", Speaker: "Industrial Designer", Content: "The project budget is twelve thousand."})
	got := textsOf(w.recall(alice, wire.RecallRequest{Query: "What is the project budget?"}).Items)
	if len(got) == 0 || !strings.Contains(got[0], "twelve thousand") {
		t.Errorf("got %q", got)
	}
}

func TestConfidence(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	for i, text := range []string{"I planted tomatoes and basil behind the shed.", "The tomatoes got too much rain.", "My telescope shows the rings of Saturn.",
		"We took the night train to Vienna.", "Saturn was low this evening.", "I sold the old bicycle.", "The shed needs a new roof."} {
		w.say(memory.Message{Speaker: []string{"Ivo", "Petra"}[i%2], Content: text})
	}
	ask := func(r wire.RecallRequest) wire.RecallReply { return w.recall(alice, r) }
	sure := ask(wire.RecallRequest{Query: "What did Ivo plant behind the shed?"})

	t.Run("a question that is answered is surer than one of what nobody spoke of, or of the other person", func(t *testing.T) {
		t.Parallel()
		for _, query := range []string{"Which parliament ratified the fishing treaty?", "What did Petra plant behind the shed?", "Why did the orchestra dismiss its conductor?"} {
			if got := ask(wire.RecallRequest{Query: query}); got.Confidence >= sure.Confidence {
				t.Errorf("%q has %.2f, the question with an answer %.2f", query, got.Confidence, sure.Confidence)
			}
		}
	})
	t.Run("nothing found is no confidence", func(t *testing.T) {
		t.Parallel()
		if got := ask(wire.RecallRequest{Query: "zzyzx"}); got.Confidence != 0 || len(got.Items) != 0 {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("below min_score nothing is returned, and at the confidence the first item is", func(t *testing.T) {
		t.Parallel()
		above := ask(wire.RecallRequest{Query: "What did Ivo plant behind the shed?", MinScore: min(1, sure.Confidence+.01)})
		if len(above.Items) != 0 || above.Confidence != sure.Confidence {
			t.Errorf("above the confidence: %+v", above)
		}
		at := ask(wire.RecallRequest{Query: "What did Ivo plant behind the shed?", MinScore: sure.Confidence})
		if len(at.Items) == 0 || at.Items[0].ID != sure.Items[0].ID || len(at.Items) == len(sure.Items) {
			t.Errorf("at the confidence: %q", textsOf(at.Items))
		}
	})
	t.Run("the context says where little speaks for an answer, and the nearest follows", func(t *testing.T) {
		t.Parallel()
		const query = "Which parliament ratified the fishing treaty this evening?"
		unsure := ask(wire.RecallRequest{Query: query})
		r := w.reflect(wire.ReflectRequest{RecallRequest: wire.RecallRequest{Query: query}})
		if unsure.Confidence >= .1 || len(unsure.Items) == 0 {
			t.Fatalf("got %+v", unsure)
		}
		if !strings.HasPrefix(r.Response, "Nothing known surely bears on this") || len(r.Citations) == 0 {
			t.Errorf("got %q", r.Response)
		}
		if r := w.reflect(wire.ReflectRequest{RecallRequest: wire.RecallRequest{Query: "What did Ivo plant behind the shed?"}}); !strings.HasPrefix(r.Response, "## ") {
			t.Errorf("got %q", r.Response)
		}
	})
}

func TestOfManyPeopleTheNamesOfSomeAreLookedUp(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	for i, m := range []struct{ speaker, text string }{
		{"Ana", "I want to learn how to swim."}, {"Cem", "The neighbours are loud again."}, {"Dora", "To learn Welsh takes a year."},
		{"Ana", "Cem said that Ben may have to close the shop."}, {"Ben", "See you on Sunday."}, {"Dora", "I learn slowly."},
	} {
		w.say(memory.Message{ID: memory.MessageID(fmt.Sprintf("m%d", i)), Session: memory.SessionID(fmt.Sprintf("s%d", i)), Speaker: m.speaker, Content: m.text})
	}
	const want = "Cem said that Ben may have to close the shop."
	if got := textsOf(w.recall(alice, wire.RecallRequest{Query: "What did Ana learn from Cem about Ben?"}).Items); len(got) == 0 || got[0] != want {
		t.Errorf("got %q; expected %q first", got, want)
	}
}
