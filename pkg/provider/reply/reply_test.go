package reply_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/reply"
)

func TestItems(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text  string
		want  []string
		notes reply.Notes
	}{
		"plain":                            {`{"facts":[{"t":"a"},{"t":"b"}]}`, []string{`{"t":"a"}`, `{"t":"b"}`}, reply.Notes{}},
		"none":                             {`{"facts": [ ]}`, nil, reply.Notes{}},
		"a bare list":                      {`[{"t":"a"}]`, []string{`{"t":"a"}`}, reply.Notes{}},
		"a bare empty list":                {`[]`, nil, reply.Notes{}},
		"fenced":                           {"```json\n{\"facts\":[{\"t\":\"a\"}]}\n```", []string{`{"t":"a"}`}, reply.Notes{}},
		"prose around it":                  {"Here {as asked} you are: {\"facts\":[{\"t\":\"a\"}]} Anything else?", []string{`{"t":"a"}`}, reply.Notes{}},
		"a trailing comma":                 {`{"facts":[{"t":"a"},]}`, []string{`{"t":"a"}`}, reply.Notes{}},
		"a trailing comma inside an item":  {`{"facts":[{"t":"a",},{"t":"b"}]}`, []string{`{"t":"a"}`, `{"t":"b"}`}, reply.Notes{Repaired: true}},
		"cut off inside an item":           {`{"facts":[{"t":"a"},{"t":"b and`, []string{`{"t":"a"}`}, reply.Notes{Truncated: true}},
		"cut off between items":            {`{"facts":[{"t":"a"},`, []string{`{"t":"a"}`}, reply.Notes{Truncated: true}},
		"cut off before the first":         {`{"facts":[{"t":"a`, nil, reply.Notes{Truncated: true}},
		"items of other types":             {`{"facts":["x", 3, null, {"t":"a"}]}`, []string{`"x"`, `3`, `null`, `{"t":"a"}`}, reply.Notes{}},
		"brackets in strings":              {`{"facts":[{"t":"a ] } [ \" {"}]}`, []string{`{"t":"a ] } [ \" {"}`}, reply.Notes{}},
		"an unquoted key":                  {`{facts:[{"t":"a"}]}`, []string{`{"t":"a"}`}, reply.Notes{}},
		"the key in a text before":         {`The "facts": see {"facts":[{"t":"a"}]}`, []string{`{"t":"a"}`}, reply.Notes{}},
		"null instead of a list":           {`{"facts":null}`, nil, reply.Notes{}},
		"an escape at the end of the text": {`{"facts":["a\`, nil, reply.Notes{Truncated: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			items, notes, err := reply.Items(c.text, "facts")
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, i := range items {
				var compact any
				if err := json.Unmarshal(i, &compact); err != nil {
					t.Fatalf("item %s: %v", i, err)
				}
				got = append(got, strings.ReplaceAll(string(i), `": "`, `":"`))
			}
			if strings.Join(got, "|") != strings.Join(c.want, "|") || notes != c.notes {
				t.Errorf("got %q %+v, want %q %+v", got, notes, c.want, c.notes)
			}
		})
	}
	for name, text := range map[string]string{
		"nothing":               "",
		"prose":                 "I found no facts, sorry.",
		"an object without it":  `{"error":"overloaded"}`,
		"an empty object":       `{}`,
		"a number under it":     `{"facts": 3}`,
		"a table of commas":     "text,source\n\"a, b\",1\n",
		"more than may be read": strings.Repeat(" ", 5<<20) + `{"facts":[]}`,
	} {
		t.Run(name+" is no list", func(t *testing.T) {
			t.Parallel()
			if items, _, err := reply.Items(text, "facts"); !errors.Is(err, memory.ErrInvalid) {
				t.Errorf("got %s, %v", items, err)
			}
		})
	}
}

func TestObject(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text     string
		want     string
		repaired bool
	}{
		"plain":            {`{"answer":"yes"}`, `"yes"`, false},
		"fenced":           {"```\n{\"answer\":\"yes\"}\n```", `"yes"`, false},
		"behind another":   {`{"thought":"hm"} {"answer":"yes"}`, `"yes"`, false},
		"inside another":   {`{"result":{"answer":"yes"}}`, `"yes"`, false},
		"single quotes":    {`{'answer': 'yes'}`, `"yes"`, true},
		"a trailing comma": {`Sure: {"answer":"yes",} ok`, `"yes"`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			obj, repaired, err := reply.Object(c.text, "answer")
			if err != nil || string(obj["answer"]) != c.want || repaired != c.repaired {
				t.Errorf("got %s, %v, %v", obj, repaired, err)
			}
		})
	}
	for _, text := range []string{"", "yes", "[1,2]", `{"other":1}`, "null"} {
		if obj, _, err := reply.Object(text, "answer"); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%q: got %v, %v", text, obj, err)
		}
	}
}

func TestHostileAnswersCostLittle(t *testing.T) {
	t.Parallel()
	for _, piece := range []string{"[{'", "{", `{"a":`, "'", `"`, "[,", `{"facts":[{'a':`} {
		text := strings.Repeat(piece, (1<<20)/len(piece))
		began := time.Now()
		if _, _, err := reply.Items(`{"facts":[`+text+"}]}", "facts"); err != nil && !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%q: %v", piece, err)
		}
		if _, _, err := reply.Object(text+"}", "facts"); err != nil && !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%q: %v", piece, err)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("a megabyte of %q took %s", piece, took)
		}
	}
}

func FuzzItems(f *testing.F) {
	for _, s := range []string{`{"facts":[{"t":"a"}]}`, "```json\n[1,{\"a\":[", `{"facts":[{'a':1,},"x\`, `facts:[}]`, "\xff{\"facts\":[\"\xfe\"]}", `{"facts":[[[[[[`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		items, _, err := reply.Items(text, "facts")
		if err != nil && !errors.Is(err, memory.ErrInvalid) {
			t.Fatalf("error %v", err)
		}
		for _, i := range items {
			if !json.Valid(i) || !utf8.Valid(i) {
				t.Fatalf("item %q is no JSON", i)
			}
		}
		if _, _, err := reply.Object(text); err != nil && !errors.Is(err, memory.ErrInvalid) {
			t.Fatalf("error %v", err)
		}
	})
}
