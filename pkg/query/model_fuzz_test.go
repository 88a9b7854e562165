package query_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// parrot is a language model that answers every call with the same text, as text and as the arguments of every tool,
// streamed on request.
type parrot struct{ text string }

func (parrot) Name() string { return "test:parrot" }

func (m *parrot) Complete(_ context.Context, p memory.Prompt) (memory.Completion, error) {
	if len(p.Tools) == 0 {
		return memory.Completion{Text: m.text}, nil
	}
	var list []memory.ToolCall
	for _, tool := range p.Tools {
		list = append(list, memory.ToolCall{Name: tool.Name, Arguments: m.text})
	}
	return memory.Completion{Text: m.text, Calls: list}, nil
}

// FuzzModelAnswers checks for arbitrary model answers that the reply is well-formed, uses the request's bank only, and
// cites existing items only.
func FuzzModelAnswers(f *testing.F) {
	for _, s := range []string{`{"judgements":[{"n":1,"score":0.9}]}`, `{"enough":false,"queries":["Porto","Bob"]}`, `{"answer":"Lisbon [1, 9].","citations":[2,"f_x"]}`,
		`{"queries":["Porto"],"from":"2026-05-20"}`, `{"ids":[1,2,3]}`, `[`, "\xff[1]", `{"answer":"\ud83c`} {
		f.Add(s)
	}
	m := &parrot{}
	w := newFixtureWith(f, query.DefaultConfig(), func(d *query.Deps) { d.Answerer, d.Judge = m, m })
	furnish(w)
	f.Fuzz(func(t *testing.T, text string) {
		m.text = text
		r := wire.RecallRequest{Query: "Where does Alice live?", Judge: &wire.Judge{}, Adequacy: 2}
		found, err := w.service.Recall(context.Background(), alice, r)
		if err != nil || found.Items == nil {
			t.Fatalf("recall: %+v, %v", found, err)
		}
		for _, item := range found.Items {
			if strings.Contains(item.Text, "4711") {
				t.Fatalf("recalled %q", item.Text)
			}
		}
		got, err := w.service.Reflect(context.Background(), alice, wire.ReflectRequest{RecallRequest: wire.RecallRequest{Query: "Where does Alice live?"}, MaxTurns: ptr(2)})
		if err != nil || !utf8.ValidString(got.Response) || strings.TrimSpace(got.Response) == "" || got.Citations == nil {
			t.Fatalf("reflect: %+v, %v", got, err)
		}
		for _, c := range got.Citations {
			item, err := w.service.Get(context.Background(), alice, wire.GetRequest{ID: c.ID})
			if err != nil || item.Text != c.Text {
				t.Fatalf("cites %+v: %v", c, err)
			}
		}
		for _, id := range got.FactsUsed {
			if !slices.ContainsFunc(got.Citations, func(c wire.Citation) bool { return c.ID == id }) {
				t.Fatalf("%s was used and is not cited", id)
			}
		}
	})
}
