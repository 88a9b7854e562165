package memory_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

var stored = time.Date(2026, 5, 20, 9, 14, 0, 123456789, time.UTC)

func TestParseMessage(t *testing.T) {
	t.Parallel()
	t.Run("fills what a publisher leaves out", func(t *testing.T) {
		t.Parallel()
		m, err := memory.ParseMessage("alice", "s", 7, stored, []byte(`{"content":"hello"}`))
		if err != nil {
			t.Fatal(err)
		}
		if m.ID != "seq:7" || m.Role != memory.RoleUser || m.Speaker != "user" || !m.Time.Equal(memory.At(stored)) {
			t.Fatalf("got %+v", m)
		}
	})
	t.Run("keeps fields it does not know", func(t *testing.T) {
		t.Parallel()
		m, err := memory.ParseMessage("alice", "s", 7, stored, []byte(`{"content":"hello","mood":"calm"}`))
		if err != nil {
			t.Fatal(err)
		}
		if string(m.Extra["mood"]) != `"calm"` || len(m.Extra) != 1 {
			t.Fatalf("extra = %v", m.Extra)
		}
	})
	t.Run("an image stands for content", func(t *testing.T) {
		t.Parallel()
		m, err := memory.ParseMessage("alice", "s", 7, stored, []byte(`{"images":[{"caption":"a cat"},{"caption":"a dog"}]}`))
		if err != nil || m.Caption() != "a cat\na dog" {
			t.Fatalf("caption %q, %v", m.Caption(), err)
		}
	})
	for name, c := range map[string]struct{ body, field string }{
		"malformed JSON":             {`{"content":`, ""},
		"an array":                   {`["content"]`, ""},
		"a wrong type":               {`{"content":5}`, "content"},
		"no content":                 {`{}`, "content"},
		"empty content":              {`{"content":"  "}`, "content"},
		"an unknown role":            {`{"content":"a","role":"boss"}`, "role"},
		"an over-long id":            {`{"content":"a","id":"` + strings.Repeat("x", 129) + `"}`, "id"},
		"an id with a control":       {`{"content":"a","id":"a\u0000b"}`, "id"},
		"the reserved id form":       {`{"content":"a","id":"seq:9"}`, "id"},
		"a time without zone":        {`{"content":"a","time":"2026-05-20T09:14:00"}`, "time"},
		"an image without reference": {`{"images":[{}]}`, "images.0"},
		"invalid UTF-8":              {"{\"content\":\"\xff\"}", ""},
		"text after the object":      {`{"content":"a"} x`, ""},
	} {
		t.Run("refuses "+name+" and names the field", func(t *testing.T) {
			t.Parallel()
			_, err := memory.ParseMessage("alice", "s", 7, stored, []byte(c.body))
			var fe *memory.FieldError
			if !errors.As(err, &fe) || !errors.Is(err, memory.ErrInvalid) || fe.Field != c.field {
				t.Fatalf("err = %v (%#v)", err, fe)
			}
		})
	}
}

func TestIsForeign(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bool{
		`{"stream":"MEM_MESSAGES","seq":4}`:               true,
		`{"stream":"X","seq":4,"domain":"hub"}`:           true,
		`{"stream":"X","seq":4,"content":"my own words"}`: false,
		`{"seq":4}`: false,
		`nonsense`:  false,
	} {
		if got := memory.IsForeign([]byte(body)); got != want {
			t.Errorf("IsForeign(%s) = %v", body, got)
		}
	}
}

func TestFactIDFoldsForm(t *testing.T) {
	t.Parallel()
	base := memory.NewFactID("b", "Alice lives in Paris.", memory.KindWorld)
	for _, same := range []string{"alice  lives in PARIS", "Alice lives in Paris!", " Alice\tlives in Paris. ", "Ａlice lives in Paris"} {
		if memory.NewFactID("b", same, memory.KindWorld) != base {
			t.Errorf("%q is another fact", same)
		}
	}
	for _, other := range []memory.FactID{
		memory.NewFactID("c", "Alice lives in Paris.", memory.KindWorld),
		memory.NewFactID("b", "Alice lives in Paris.", memory.KindOpinion),
		memory.NewFactID("b", "Alice lives in Rome.", memory.KindWorld),
	} {
		if other == base {
			t.Error("another bank, kind or text gave the same id")
		}
	}
}

func TestCompositeIDIgnoresOrder(t *testing.T) {
	t.Parallel()
	a := memory.NewCompositeID("b", 1, []string{"x", "y"})
	if a != memory.NewCompositeID("b", 1, []string{"y", "x"}) || a == memory.NewCompositeID("b", 2, []string{"x", "y"}) {
		t.Fatal("the id must depend on bank, level and the set of members alone")
	}
}

func TestEntityIDs(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]memory.EntityID{
		"person:Alice":        "person:alice",
		"Person: Alice  Bell": "person:alice bell",
		"Alice, the cook":     "other:alice, the cook",
		"concept:a:b":         "concept:a:b",
		"http://example":      "other:http://example",
	} {
		got, err := memory.ParseEntityID("entities", in)
		if err != nil || got != want {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
}

func TestVectorRoundTrip(t *testing.T) {
	t.Parallel()
	v := memory.Vector{0.5, -1, 3.25}
	b, _ := json.Marshal(v)
	var got memory.Vector
	if err := json.Unmarshal(b, &got); err != nil || memory.Cosine(v, got) < 0.999999 || len(got) != 3 {
		t.Fatalf("%v %v", got, err)
	}
	if memory.Cosine(v, memory.Vector{1}) != 0 {
		t.Error("vectors of another size must not be near")
	}
}

func TestDisposition(t *testing.T) {
	t.Parallel()
	if err := memory.DefaultDisposition().Validate(); err != nil {
		t.Fatal(err)
	}
	for _, d := range []memory.Disposition{{0, 3, 3}, {3, 6, 3}, {3, 3, -1}} {
		if err := d.Validate(); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%+v: %v", d, err)
		}
	}
}

func FuzzParseMessage(f *testing.F) {
	f.Add([]byte(`{"content":"hello","images":[{"caption":"a"}],"time":"2026-05-20T09:14:00Z"}`))
	f.Add([]byte(`{"id":"a","role":"tool","content":"\u0000","metadata":{"a":[1]}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		m, err := memory.ParseMessage("b", "s", 1, stored, body)
		if err != nil {
			if !errors.Is(err, memory.ErrInvalid) {
				t.Fatalf("error without a meaning: %v", err)
			}
			return
		}
		if m.ID == "" || m.Speaker == "" || m.Time.IsZero() || !m.Role.Valid() {
			t.Fatalf("accepted but not whole: %+v", m)
		}
	})
}

func FuzzNormalText(f *testing.F) {
	f.Add("Alice  lives in Paris!?")
	f.Fuzz(func(t *testing.T, s string) {
		once := memory.NormalText(s)
		if twice := memory.NormalText(once); twice != once {
			t.Fatalf("%q -> %q -> %q", s, once, twice)
		}
	})
}

func TestReadableNames(t *testing.T) {
	t.Parallel()
	for body, want := range map[string][2]string{
		`{"id":"a","speaker":"Ann","content":5}`:        {"a", "Ann"},
		`{"Speaker":"Ann","role":"king","content":"x"}`: {"", "Ann"},
		`{"id":"a","content":""}`:                       {"a", "user"},
		`{"role":"tool","content":""}`:                  {"", "tool"},
		`{"speaker":"Ann","id":"a","content":"I ow`:     {"a", "Ann"},
		`{"speaker":"Ann"} and more`:                    {"", "Ann"},
		`{"speaker":["Ann"],"id":7}`:                    {"", ""},
		`["speaker","Ann"]`:                             {"", ""},
		``:                                              {"", ""},
		`{"speaker":"` + strings.Repeat("a", 300) + `","id":"a\u0001"}`: {"", ""},
	} {
		if id, speaker := memory.ReadableNames([]byte(body)); string(id) != want[0] || speaker != want[1] {
			t.Errorf("%.40s: %q and %q", body, id, speaker)
		}
	}
}
