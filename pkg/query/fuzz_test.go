package query_test

import (
	"context"
	"errors"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// FuzzRecall sends arbitrary questions to a bank: the result is a reply or an error that names the problem, and never
// another bank's memory.
func FuzzRecall(f *testing.F) {
	for _, q := range []string{"tea", `") OR bank : "b2" --`, "a AND b NOT c*", "\x00\xff", "茶 喝茶", "🎉", "NEAR(tea train, 3)", "{content}: tea", "^tea + - *"} {
		f.Add(q)
	}
	w := newFixture(f)
	w.say(memory.Message{ID: "mine", Content: "My favourite tea is green."}, memory.Message{Bank: "bob", ID: "theirs", Content: "My favourite tea is black, says b2."})
	w.know(alice, memory.Fact{Text: "Alice likes tea.", Entities: []memory.EntityID{"person:alice"}, Sources: w.from(alice, "mine")})
	w.know("bob", memory.Fact{Text: "Bob likes tea.", Entities: []memory.EntityID{"person:bob"}, Sources: w.from("bob", "theirs")})
	f.Fuzz(func(t *testing.T, q string) {
		reply, err := w.service.Recall(context.Background(), alice, wire.RecallRequest{Query: q, Explain: true})
		if err != nil {
			if !errors.Is(err, memory.ErrInvalid) {
				t.Fatalf("%q: %v", q, err)
			}
			return
		}
		for _, item := range reply.Items {
			if item.ID == "theirs" || item.Text == "Bob likes tea." {
				t.Fatalf("%q returns %+v", q, item)
			}
		}
	})
}

// FuzzCursor pages with arbitrary cursors.
func FuzzCursor(f *testing.F) {
	f.Add("")
	f.Add("eyJsIjoibGlzdCBmYWN0ICIsImEiOi0xLCJuIjoxfQ")
	w := newFixture(f)
	w.know(alice, memory.Fact{Text: "Alice likes tea."})
	f.Fuzz(func(t *testing.T, cursor string) {
		for _, err := range []error{
			second(w.service.List(context.Background(), alice, wire.ListRequest{Cursor: cursor})),
			second(w.service.Tree(context.Background(), alice, wire.TreeRequest{Cursor: cursor})),
			second(w.service.Banks(context.Background(), "", wire.BanksRequest{Cursor: cursor})),
		} {
			if err != nil && !errors.Is(err, memory.ErrInvalid) {
				t.Fatalf("%q: %v", cursor, err)
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }
