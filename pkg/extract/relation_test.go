package extract_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

func TestRelations(t *testing.T) {
	t.Parallel()
	in := twoMessages()
	drafts := []extract.Draft{
		{Text: "Ana works at Casa.", Sources: []memory.MessageID{"m1"}, Entities: []memory.EntityID{"person:Ana"}, Relations: []extract.Edge{
			{From: "person:Ana", To: "organization:Casa", Type: memory.RelPartOf, Strength: 0.5},
			{From: "person:Ana", To: "person:ANA", Type: memory.RelCauses}, {From: "", To: "person:bo", Type: memory.RelCauses},
			{From: "person:ana", To: "person:bo", Type: "not a type"}, {From: "person:ana", To: "person:bo", Type: memory.RelCauses, Strength: 2}}},
		{Text: "Casa employs Ana.", Sources: []memory.MessageID{"m2"}, Relations: []extract.Edge{{From: "person:ana", To: "organization:casa", Type: memory.RelPartOf}}},
		{Text: "Refused.", Sources: []memory.MessageID{"m9"}, Relations: []extract.Edge{{From: "person:x", To: "person:y", Type: memory.RelCauses}}},
		{Text: "Ana works at Casa.", Sources: []memory.MessageID{"m1"}, Refused: "no", Relations: []extract.Edge{{From: "person:x", To: "person:y", Type: memory.RelCauses}}},
	}
	facts, refused := extract.Validate(in, "x/1", drafts, redactor{})
	if len(facts) != 2 || len(refused) != 2 || !strings.Contains(refused[1].Reason, "no") {
		t.Fatalf("facts %+v, refused %+v", facts, refused)
	}
	got := extract.Relations(in, drafts, facts, redactor{})
	ids := []memory.FactID{facts[0].ID, facts[1].ID}
	if ids[0] > ids[1] {
		ids[0], ids[1] = ids[1], ids[0]
	}
	want := []memory.Relation{{From: "person:ana", To: "organization:casa", Type: memory.RelPartOf, Strength: 1, Facts: ids}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for _, f := range facts {
		if !strings.Contains(strings.Join(strings.Fields(string(f.Entities[0])+" "+string(f.Entities[len(f.Entities)-1])), " "), "organization:casa") {
			t.Errorf("%q names %v, not what it relates", f.Text, f.Entities)
		}
	}
}

func TestARelationIsForgottenWithItsFacts(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	p.extractor(extract.Func{ID: "edges/1", Do: func(_ context.Context, in extract.Input) (out []extract.Draft, err error) {
		for _, m := range in.New {
			words := strings.Fields(m.Content)
			out = append(out, extract.Draft{Text: m.Content, Sources: []memory.MessageID{m.ID}, Relations: []extract.Edge{
				{From: memory.EntityID("person:" + words[0]), To: memory.EntityID("person:" + words[len(words)-1]), Type: memory.RelRelatedTo}}})
		}
		return out, nil
	}}, nil)
	if _, err := p.conn.PublishMessage(t.Context(), bank, session, []byte(`{"id":"gone","content":"Xenophon admires Zenobia"}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := p.conn.PublishMessage(t.Context(), bank, session, []byte(`{"id":"kept","content":"Ana knows Bo"}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := p.conn.PublishFlush(t.Context(), bank, session, memory.Flush{}); err != nil {
		t.Fatal(err)
	}
	p.until(bank, "both facts", settled(2))
	page, err := p.client.List(t.Context(), bank, wire.ListRequest{Order: "oldest", Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range page.Items {
		if strings.HasPrefix(f.Text, "Xenophon") {
			if _, err := p.client.Forget(t.Context(), bank, memory.ForgetRequest{ID: f.ID}); err != nil {
				t.Fatal(err)
			}
		}
	}
	natstest.Eventually(t, "the log without the forgotten names, and with the others", func() bool {
		var log strings.Builder
		_, err := ordered.Scan(t.Context(), p.conn, p.conn.Naming.Writes(), nil, 0, func(e events.Event) error {
			log.Write(e.Data)
			return nil
		})
		text := strings.ToLower(log.String())
		return err == nil && !strings.Contains(text, "xenophon") && !strings.Contains(text, "zenobia") && strings.Contains(text, `"to":"person:bo"`)
	})
}
