package llm_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/extract/llm"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text/secret"
)

// malformed are answers that are not as they were asked for, about two messages, and what becomes of each: the
// statements kept with their sources, how many items are refused, and whether the answer is of no use.
var malformed = map[string]struct {
	answer    string
	kept      []string
	refused   int
	truncated bool
	useless   bool
}{
	"as asked":                      {answer: `{"facts":[{"s":[1],"f":"A."}]}`, kept: []string{"A. m1"}},
	"nothing to tell":               {answer: `{"facts":[]}`},
	"a bare empty list":             {answer: `[]`},
	"fenced":                        {answer: "```json\n{\"facts\":[{\"s\":[2],\"f\":\"A.\"}]}\n```", kept: []string{"A. m2"}},
	"a bare list":                   {answer: `[{"s":[1],"f":"A."},{"s":[1,2],"f":"B."}]`, kept: []string{"A. m1", "B. m1 m2"}},
	"prose around":                  {answer: "Sure! Here:\n{\"facts\":[{\"s\":[1],\"f\":\"A.\"}]}\nHope it helps.", kept: []string{"A. m1"}},
	"a trailing comma":              {answer: `{"facts":[{"s":[1],"f":"A.",},]}`, kept: []string{"A. m1"}},
	"single quotes":                 {answer: `{'facts':[{'s':[1],'f':'A.'}]}`, kept: []string{"A. m1"}},
	"long field names":              {answer: `{"data":[{"source_id":1,"fact":"A."}]}`, kept: []string{"A. m1"}},
	"a source as a string":          {answer: `{"facts":[{"s":"2","f":"A."},{"s":["1"],"f":"B."}]}`, kept: []string{"A. m2", "B. m1"}},
	"a source as a number":          {answer: `{"facts":[{"s":2.0,"f":"A."}]}`, kept: []string{"A. m2"}},
	"no source":                     {answer: `{"facts":[{"f":"A."},{"s":[],"f":"B."},{"s":null,"f":"C."},{"s":[1],"f":"D."}]}`, kept: []string{"D. m1"}, refused: 3},
	"a source outside the window":   {answer: `{"facts":[{"s":[3],"f":"A."},{"s":[0],"f":"B."},{"s":[1,9],"f":"C."},{"s":[-1],"f":"D."},{"s":[1],"f":"E."}]}`, kept: []string{"E. m1"}, refused: 4},
	"a source that is no number":    {answer: `{"facts":[{"s":["m1"],"f":"A."},{"s":[1.5],"f":"B."},{"s":{"a":1},"f":"C."},{"s":[[1]],"f":"D."},{"s":[2],"f":"E."}]}`, kept: []string{"E. m2"}, refused: 4},
	"no statement":                  {answer: `{"facts":[{"s":[1]},{"s":[1],"f":" . "},{"s":[1],"f":["A"]},{"s":[1],"f":"B."}]}`, kept: []string{"B. m1"}, refused: 3},
	"items of other types":          {answer: `{"facts":["A.",7,null,[1],{"s":[1],"f":"B."}]}`, kept: []string{"B. m1"}, refused: 4},
	"an item that is no JSON":       {answer: `{"facts":[{"s":[1],"f":"A."},{"s":[2] "f":::},{"s":[2],"f":"C."}]}`, kept: []string{"A. m1", "C. m2"}, refused: 1},
	"a confidence of nothing":       {answer: `{"facts":[{"s":[1],"f":"A.","c":0},{"s":[1],"f":"B.","c":"high"}]}`, kept: []string{"B. m1"}, refused: 1},
	"duplicates":                    {answer: `{"facts":[{"s":[1],"f":"A."},{"s":[2],"f":"a"}]}`, kept: []string{"A. m1 m2"}},
	"cut off in an item":            {answer: `{"facts":[{"s":[1],"f":"A."},{"s":[2],"f":"B`, kept: []string{"A. m1"}, truncated: true},
	"cut off before the first item": {answer: `{"facts":[{"s":[1],"f`, truncated: true},
	"all items refused":             {answer: `{"facts":[{"s":[9],"f":"A."}]}`, refused: 1, useless: true},
	"nothing":                       {answer: "  ", useless: true},
	"prose":                         {answer: "I cannot help with that.", useless: true},
	"a list that is none":           {answer: `{"facts":"none"}`, useless: true},
	"an object without the list":    {answer: `{"result":"ok"}`, useless: true},
	"CSV":                           {answer: "source,fact\n1,\"Ana said \"\"hi,\nthere\"\"\"\n2,B.\n", useless: true},
}

// checkAnswers holds cases of malformed to what they promise.
func checkAnswers(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		c, ok := malformed[name]
		if !ok {
			t.Fatalf("no case %q", name)
		}
		in := input("Ana: one", "Bo: two")
		got, err := llm.Parse(c.answer, in.New)
		if (err != nil) != c.useless || err != nil && !errors.Is(err, memory.ErrInvalid) || got.Truncated != c.truncated {
			t.Errorf("%s: got %+v, %v", name, got, err)
			continue
		}
		facts, refused := extract.Validate(in, "x/1", got.Drafts, plain{})
		var kept []string
		for _, f := range facts {
			s := f.Text
			for _, id := range f.MessageIDs() {
				s += " " + string(id)
			}
			kept = append(kept, s)
		}
		if !slices.Equal(kept, c.kept) || len(refused) != c.refused {
			t.Errorf("%s: kept %q and refused %+v; want %q and %d", name, kept, refused, c.kept, c.refused)
		}
	}
}

type plain struct{}

func (plain) Redact(s string) string { return secret.Redact(s) }

func TestParse(t *testing.T) {
	t.Parallel()
	t.Run("every field is read", func(t *testing.T) {
		t.Parallel()
		got, err := llm.Parse(`{"facts":[{"s":[2,1],"f":"Ana moved to Porto.","y":"Failure Pattern","k":"Opinion","e":["Person:Ana","place:Porto","Bo","Casa Azul"],"d":"2023-05","c":"0.7",
			"g":["move"],"p":" her  home ","v":["Ana","home","place:Porto"],"o":["asked","failure","0.4"],"r":[["Ana","part of","organization:Casa"],["person:Ana","causes",""]]}]}`,
			talk("Ana: x", "Bo: y"))
		if err != nil {
			t.Fatal(err)
		}
		from, to := time.Date(2023, 5, 1, 0, 0, 0, 0, time.UTC), time.Date(2023, 6, 1, 0, 0, 0, 0, time.UTC).Add(-time.Microsecond)
		want := extract.Draft{
			Text: "Ana moved to Porto.", Kind: memory.KindOpinion, Type: memory.TypeFailurePattern, Confidence: 0.7, Tags: []string{"move"}, Topic: "her home",
			Entities: []memory.EntityID{"person:ana", "place:porto", "person:bo", "other:casa azul"}, Occurred: memory.Span{From: &from, To: &to},
			State:   &memory.State{Subject: "person:ana", Attribute: "home", Value: "Porto"},
			Outcome: &memory.Result{Strategy: "asked", Result: "failure", Surprise: 0.4}, Sources: []memory.MessageID{"m2", "m1"},
			Relations: []extract.Edge{{From: "person:ana", To: "organization:casa", Type: memory.RelPartOf}},
		}
		if !reflect.DeepEqual(got.Drafts, []extract.Draft{want}) {
			t.Errorf("got  %+v\nwant %+v", got.Drafts[0], want)
		}
	})
	t.Run("objects are taken where lists were asked for", func(t *testing.T) {
		t.Parallel()
		got, err := llm.Parse(`[{"sources":"1, 2","text":"A.","entities":[{"type":"person","name":"Ana"}],"state":{"subject":"Ana","attribute":"job","value":"cook"},
			"outcome":{"strategy":"s","result":"partial"},"relations":[{"from":"Ana","type":"causes","to":"concept:joy"}]}]`, talk("Ana: x", "Bo: y"))
		if err != nil || got.Usable != 1 {
			t.Fatalf("got %+v, %v", got, err)
		}
		d := got.Drafts[0]
		if len(d.Sources) != 2 || d.State == nil || d.State.Subject != "person:ana" || d.Outcome == nil || d.Outcome.Result != "partial" || len(d.Relations) != 1 || d.Entities[0] != "person:ana" {
			t.Errorf("got %+v", d)
		}
	})
	t.Run("nothing in an answer chooses bank, session or ids", func(t *testing.T) {
		t.Parallel()
		in := input("Ana: x")
		got, err := llm.Parse(`{"bank":"bob","subject":"mem.bob.write","facts":[{"s":[1],"f":"A.","id":"f_1","bank":"bob","session":"s9","speaker":"Eve","key":"k","extractor":"e","ops":["o"],"said":"2001-01-01T00:00:00Z","metadata":{"a":1}}]}`, in.New)
		if err != nil {
			t.Fatal(err)
		}
		facts, _ := extract.Validate(in, "x/1", got.Drafts, plain{})
		f := facts[0]
		if f.Bank != "alice" || f.Session != "s1" || f.ID != memory.NewFactID("alice", "A.", memory.KindWorld) || f.Speaker != "Ana" || f.Key != "" || f.Extractor != "x/1" || f.Ops != nil || !f.Said.Equal(day) || f.Metadata != nil {
			t.Errorf("got %+v", f)
		}
	})
	t.Run("an answer of more facts than one may hold is cut, and says so", func(t *testing.T) {
		t.Parallel()
		got, err := llm.Parse("["+strings.Repeat(`{"s":[1],"f":"A."},`, memory.MaxFacts+5)+"]", talk("Ana: x"))
		if err != nil || got.Usable != memory.MaxFacts || got.Drafts[memory.MaxFacts].Refused == "" || len(got.Drafts) != memory.MaxFacts+1 {
			t.Errorf("%d usable of %d, %v", got.Usable, len(got.Drafts), err)
		}
	})
	t.Run("an error holds no word of the answer", func(t *testing.T) {
		t.Parallel()
		for _, answer := range []string{"my hovercraft", `{"facts":"hovercraft"}`, `{"facts":[{"f":"hovercraft"}]}`, `{"facts":[{"s":["hovercraft"],"f":"x"}]}`} {
			if _, err := llm.Parse(answer, talk("Ana: x")); err == nil || strings.Contains(err.Error(), "hovercraft") {
				t.Errorf("%q gave %v", answer, err)
			}
		}
	})
}

func TestWhen(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"2023":                      "2023-01-01T00:00:00Z 2023-12-31T23:59:59.999999Z",
		" 2023-02 ":                 "2023-02-01T00:00:00Z 2023-02-28T23:59:59.999999Z",
		"2024-02-29":                "2024-02-29T00:00:00Z 2024-02-29T23:59:59.999999Z",
		"2023-05-07T10:30":          "2023-05-07T10:30:00Z 2023-05-07T10:30:00Z",
		"2023-05-07T10:30:00+02:00": "2023-05-07T08:30:00Z 2023-05-07T08:30:00Z",
		"2023-05/2023-07":           "2023-05-01T00:00:00Z 2023-07-31T23:59:59.999999Z",
		"2020 to 2021-03-01":        "2020-01-01T00:00:00Z 2021-03-01T23:59:59.999999Z",
		"2023-05-07/":               "2023-05-07T00:00:00Z -",
		"../2023":                   "- 2023-12-31T23:59:59.999999Z",
		"yesterday":                 "2023-05-07T00:00:00Z 2023-05-07T23:59:59.999999Z",
		"last Friday":               "2023-05-05T00:00:00Z 2023-05-05T23:59:59.999999Z",
		"2023-07/2023-05":           "- -", "2023-02-30": "- -", "0000": "- -", "9999": "- -", "soon": "- -", "": "- -", "/": "- -", strings.Repeat("2023 ", 40): "- -",
	} {
		s := llm.ParseSpan(in, day)
		show := func(t *time.Time) string {
			if t == nil {
				return "-"
			}
			return t.Format(time.RFC3339Nano)
		}
		if got := show(s.From) + " " + show(s.To); got != want {
			t.Errorf("%q is %s, want %s", in, got, want)
		}
	}
	if s := llm.ParseSpan("yesterday", time.Time{}); !s.IsZero() {
		t.Errorf("yesterday of no day is %v", s)
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range malformed {
		f.Add(c.answer, 2)
	}
	f.Add(`{"facts":[{"s":[1],"f":"x","d":"2023-05/2023-06","v":["a","b","c"],"r":[["a","b","c"]]}]}`, 1)
	f.Fuzz(func(t *testing.T, answer string, n int) {
		n = max(1, min(n, 20))
		var words []string
		for i := range n {
			words = append(words, fmt.Sprintf("S%d: x", i%3))
		}
		in := input(words...)
		got, err := llm.Parse(answer, in.New)
		if err != nil && (!errors.Is(err, memory.ErrInvalid) || got.Usable != 0) {
			t.Fatalf("%+v with %v", got, err)
		}
		window := map[memory.MessageID]bool{}
		for _, m := range in.New {
			window[m.ID] = true
		}
		usable := 0
		for _, d := range got.Drafts {
			if d.Refused != "" {
				continue
			}
			usable++
			if memory.NormalText(d.Text) == "" || len(d.Sources) == 0 || !d.Kind.Valid() || !d.Type.Valid() || !(d.Confidence > 0 && d.Confidence <= 1) {
				t.Fatalf("an unsound draft %+v", d)
			}
			if o := d.Occurred; o.From != nil && o.To != nil && o.To.Before(*o.From) {
				t.Fatalf("a time that ends before it begins: %v", o)
			}
			for _, id := range d.Sources {
				if !window[id] {
					t.Fatalf("source %q is outside the window", id)
				}
			}
		}
		if usable != got.Usable {
			t.Fatalf("%d usable are called %d", usable, got.Usable)
		}
		facts, refused := extract.Validate(in, "x/1", got.Drafts, plain{})
		if len(facts)+len(refused) > len(got.Drafts) {
			t.Fatalf("%d facts and %d refused of %d drafts", len(facts), len(refused), len(got.Drafts))
		}
		again, _ := llm.Parse(answer, in.New)
		if !reflect.DeepEqual(got, again) {
			t.Fatal("read twice, it reads differently")
		}
	})
}
