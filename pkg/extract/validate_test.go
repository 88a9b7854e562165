package extract_test

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text/secret"
)

var said = time.Date(2023, 5, 8, 13, 56, 0, 0, time.UTC)

type redactor struct{}

func (redactor) Redact(s string) string { return secret.Redact(s) }

func twoMessages() extract.Input {
	return extract.Input{Bank: "alice", Session: "s", New: []memory.Message{
		{ID: "m1", Seq: 7, Role: memory.RoleUser, Speaker: "Alice", Content: "one", Time: said},
		{ID: "m2", Seq: 9, Role: memory.RoleAssistant, Speaker: "assistant", Content: "two", Time: said.Add(time.Minute), Topic: "tea"},
	}}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	t.Run("a draft becomes a fact with the times of its sources", func(t *testing.T) {
		t.Parallel()
		from, to := said.AddDate(0, -1, 0), said
		facts, refused := extract.Validate(twoMessages(), "x/1", []extract.Draft{{
			Text: " Alice moved\nto Lisbon. ", Sources: []memory.MessageID{"m2", "m1", "m1"}, Occurred: memory.Span{From: &from, To: &to},
			State:    &memory.State{Subject: "person:Alice", Attribute: "Residence", Value: "Lisbon."},
			Entities: []memory.EntityID{"place:Lisbon", "person:alice", "", "place:lisbon"}, Tags: []string{"Move", "move", " "},
		}}, redactor{})
		if len(refused) != 0 || len(facts) != 1 {
			t.Fatalf("facts %+v, refused %+v", facts, refused)
		}
		want := memory.Fact{
			ID: memory.NewFactID("alice", "Alice moved to Lisbon.", memory.KindWorld), Bank: "alice", Session: "s", Text: "Alice moved to Lisbon.",
			Kind: memory.KindWorld, Type: memory.TypeFact, Topic: "tea", Speaker: "Alice", Role: memory.RoleUser, Confidence: 1, Extractor: "x/1",
			Entities: []memory.EntityID{"person:alice", "place:lisbon"}, Tags: []string{"move"},
			State:    &memory.State{Subject: "person:alice", Attribute: "residence", Value: "lisbon"},
			Occurred: memory.Span{From: &from, To: &to}, Said: said.Add(time.Minute),
			Sources: []memory.Source{{Message: "m1", Seq: 7, Said: said, Start: from}, {Message: "m2", Seq: 9, Said: said.Add(time.Minute), Start: from}},
		}
		want.Speaker, want.Role = "assistant", memory.RoleAssistant // of the first source named
		if !reflect.DeepEqual(facts[0], want) {
			t.Errorf("got  %+v\nwant %+v", facts[0], want)
		}
	})
	t.Run("a fact that is no change of state holds from when it was said", func(t *testing.T) {
		t.Parallel()
		from := said.AddDate(-1, 0, 0)
		facts, _ := extract.Validate(twoMessages(), "x/1", []extract.Draft{{Text: "Alice ran.", Sources: []memory.MessageID{"m1"}, Occurred: memory.Span{From: &from}}}, redactor{})
		if len(facts) != 1 || !facts[0].Sources[0].Start.Equal(said) {
			t.Fatalf("got %+v", facts)
		}
	})
	t.Run("two drafts of one statement are one fact", func(t *testing.T) {
		t.Parallel()
		facts, _ := extract.Validate(twoMessages(), "x/1", []extract.Draft{
			{Text: "Alice likes tea.", Sources: []memory.MessageID{"m1"}, Confidence: .5, Tags: []string{"a"}},
			{Text: "alice likes  TEA", Sources: []memory.MessageID{"m2"}, Confidence: .9, Tags: []string{"b"}},
		}, redactor{})
		if len(facts) != 1 || len(facts[0].Sources) != 2 || facts[0].Confidence != .9 || len(facts[0].Tags) != 2 || !facts[0].Said.Equal(said.Add(time.Minute)) {
			t.Fatalf("got %+v", facts)
		}
	})
	t.Run("secrets are replaced in text and keep no state", func(t *testing.T) {
		t.Parallel()
		facts, _ := extract.Validate(twoMessages(), "x/1", []extract.Draft{{Text: "Alice's password is hunter2.", Sources: []memory.MessageID{"m1"},
			State: &memory.State{Subject: "person:alice", Attribute: "password", Value: "hunter2"}}}, redactor{})
		if len(facts) != 1 || strings.Contains(facts[0].Text, "hunter2") || facts[0].State != nil {
			t.Fatalf("got %+v", facts)
		}
	})
}

func TestValidateRefuses(t *testing.T) {
	t.Parallel()
	later := said.Add(time.Hour)
	ok := []memory.MessageID{"m1"}
	for name, d := range map[string]extract.Draft{
		"no text":                           {Sources: ok},
		"punctuation alone":                 {Text: " . ", Sources: ok},
		"text that is no UTF-8":             {Text: "a\xff", Sources: ok},
		"text beyond the limit":             {Text: strings.Repeat("long ", memory.MaxFactText), Sources: ok},
		"no source":                         {Text: "Alice runs."},
		"a source outside the window":       {Text: "Alice runs.", Sources: []memory.MessageID{"m1", "m3"}},
		"a kind that facts cannot have":     {Text: "Alice runs.", Sources: ok, Kind: memory.KindObservation},
		"a malformed type":                  {Text: "Alice runs.", Sources: ok, Type: "No Type"},
		"a confidence above one":            {Text: "Alice runs.", Sources: ok, Confidence: 1.1},
		"a confidence that is no number":    {Text: "Alice runs.", Sources: ok, Confidence: math.NaN()},
		"a time that ends before it begins": {Text: "Alice runs.", Sources: ok, Occurred: memory.Span{From: &later, To: &said}},
		"a speaker beyond the limit":        {Text: "Alice runs.", Sources: ok, Speaker: strings.Repeat("x", 300)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			good := extract.Draft{Text: "Alice swims.", Sources: ok}
			facts, refused := extract.Validate(twoMessages(), "x/1", []extract.Draft{d, good}, redactor{})
			if len(facts) != 1 || facts[0].Text != "Alice swims." {
				t.Errorf("the good draft beside it gave %+v", facts)
			}
			if len(refused) != 1 || refused[0].Outcome != memory.OutcomeRefused || refused[0].Reason == "" || refused[0].Key != "0" {
				t.Errorf("refused %+v", refused)
			}
		})
	}
}

func FuzzValidate(f *testing.F) {
	f.Add("Alice runs.", "m1", "world", "fact", 1.0, "person:alice", "tag", "residence", "Lisbon")
	f.Add("", "m3", "x", "", -1.0, ":", "", "", "")
	f.Add("a\xffb", "m2", "", "T", math.Inf(1), "place:\x00", "\xff", "a\n", "sk-")
	f.Fuzz(func(t *testing.T, text, source, kind, typ string, confidence float64, entity, tag, attribute, value string) {
		in := twoMessages()
		facts, refused := extract.Validate(in, "x/1", []extract.Draft{{Text: text, Sources: []memory.MessageID{memory.MessageID(source)}, Kind: memory.Kind(kind),
			Type: memory.Type(typ), Confidence: confidence, Entities: []memory.EntityID{memory.EntityID(entity)}, Tags: []string{tag},
			State: &memory.State{Subject: memory.EntityID(entity), Attribute: attribute, Value: value}}}, redactor{})
		if len(facts)+len(refused) != 1 {
			t.Fatalf("%d facts and %d refused of one draft", len(facts), len(refused))
		}
		for _, fact := range facts {
			if memory.NormalText(fact.Text) == "" || !utf8.ValidString(fact.Text) || len(fact.Text) > memory.MaxFactText {
				t.Fatalf("text %q", fact.Text)
			}
			if id := fact.Sources[0].Message; id != "m1" && id != "m2" {
				t.Fatalf("source %q", id)
			}
			if !fact.Kind.Valid() || !fact.Type.Valid() || !(fact.Confidence >= 0 && fact.Confidence <= 1) {
				t.Fatalf("fact %+v", fact)
			}
		}
	})
}
