package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
)

// manyForms asks for the rows that have any of many words, before and after what changes them.
func manyForms(t *testing.T, h *harness) {
	forms := []string{"cat", "hamster", "guinea pig", "t-shirts", "caf\u00e9", "stories", "\u732b", "running", "zebra"}
	check := func() {
		t.Helper()
		for range 3 {
			h.checkManyForms("b", memory.Filter{}, forms)
		}
	}
	h.say("b", memory.Message{Content: "Our CATS ran.", Images: []memory.Image{{Caption: "a guinea pig"}}})
	h.say("c", memory.Message{Content: "Their zebra."})
	f := fact("b", "Ann tells a story of hamsters.", 1)
	h.put("b", memory.Changes{Facts: []memory.Fact{f}})
	check()
	h.say("b", memory.Message{Content: "No zebra, a pig from Guinea in a T-shirt at the cafe."})
	ended := fact("b", "A running zebra.", 2)
	to := at(9)
	ended.Valid[0].To = &to
	h.put("b", memory.Changes{Facts: []memory.Fact{ended}})
	check()
	then := at(5)
	h.checkManyForms("b", memory.Filter{AsOf: &then}, forms)

	// Another wording, of the same fact.
	f.Text = "Ann told of cats."
	h.put("b", memory.Changes{Facts: []memory.Fact{f}})
	check()

	// Who began to read before a forget still finds what went, while others do not.
	h.must(h.Search(context.Background(), "b", memory.Filter{}, func(before recall.Searcher) error {
		if n, err := before.Size(memory.RecordMessage); err != nil || n != 2 { // it reads from here on
			return fmt.Errorf("%d messages: %w", n, errors.Join(err, errors.New("expected 2")))
		}
		h.put("b", memory.Changes{Forgotten: &memory.Forgotten{Messages: []uint64{1}, Facts: []memory.FactID{f.ID}}})
		for i := range 3 { // as many rows as there were
			h.say("b", memory.Message{Content: "Nothing of them."})
			h.put("b", memory.Changes{Facts: []memory.Fact{fact("b", fmt.Sprintf("Nothing of %d.", i), 2)}})
		}
		check()
		for _, rec := range []memory.Record{memory.RecordMessage, memory.RecordFact} {
			if nos, _, err := before.Matching(rec, recall.Term{Forms: h.filled("cat")}, 10); err != nil || len(nos) != 1 {
				t.Errorf("the state before the forget has %d %ss with the word, %v; want 1", len(nos), rec, err)
			}
		}
		return nil
	}))
	check()
	h.say("b", memory.Message{Content: "The cat is back."})
	f = fact("b", "A cat came back.", 4)
	h.put("b", memory.Changes{Facts: []memory.Fact{f}})
	check()
	h.put("b", memory.Changes{Forgotten: &memory.Forgotten{Bank: true, Upto: h.messages}})
	h.say("b", memory.Message{Content: "A hamster in a new bank."})
	check()
}

// known holds that a bank knows the words of its messages and facts, whatever a filter excludes, and no other bank's.
func known(t *testing.T, h *harness) {
	h.say("b", memory.Message{Session: "kitchen", Content: "The kettle whistles."})
	h.say("b", memory.Message{Session: "yard", Content: "A rake and two spades."})
	h.say("other", memory.Message{Content: "Somebody found a thimble."})
	f := fact("b", "Bees live behind the shed.", 2)
	h.put("b", memory.Changes{Facts: []memory.Fact{f}})
	ask := func(session memory.SessionID, words map[string]bool) {
		h.must(h.Search(context.Background(), "b", memory.Filter{Session: session}, func(s recall.Searcher) error {
			for w, want := range words {
				for _, forms := range [][]string{{w}, h.filled(w)} {
					if got, err := s.Known(recall.Term{Forms: forms}); err != nil || got != want {
						t.Errorf("%q and %d other forms, session %q: known is %t, %v", w, len(forms)-1, session, got, err)
					}
				}
			}
			got, err := s.Known(recall.Term{Forms: []string{"nowhere"}, Prefix: "spad"})
			if err == nil && !got {
				t.Error("the beginning of a word is not known")
			}
			return err
		}))
	}
	words := map[string]bool{"kettle": true, "rake": true, "bees": true, "thimble": false, "hammock": false}
	for _, session := range []memory.SessionID{"", "kitchen", "yard", "nobody"} {
		ask(session, words)
	}
	h.put("b", memory.Changes{Forgotten: &memory.Forgotten{Messages: []uint64{1}, Facts: []memory.FactID{f.ID}}})
	ask("yard", map[string]bool{"kettle": false, "rake": true, "bees": false})
}

// filled returns words with so many others that no text has that together they are many.
func (h *harness) filled(words ...string) []string {
	out := slices.Clone(words)
	for i := range 40 {
		out = append(out, fmt.Sprintf("nowhere%d", i))
	}
	return out
}

// checkManyForms compares the rows that have any of many words with those that have each of them.
func (h *harness) checkManyForms(bank memory.BankID, f memory.Filter, words []string) {
	h.Helper()
	err := h.Search(context.Background(), bank, f, func(s recall.Searcher) error {
		for _, rec := range []memory.Record{memory.RecordMessage, memory.RecordFact} {
			var want []int64
			for _, w := range words {
				nos, _, err := s.Matching(rec, recall.Term{Forms: []string{w}}, 1000)
				if err != nil {
					return err
				}
				want = append(want, nos...)
			}
			slices.Sort(want)
			want = slices.Compact(want)
			slices.Reverse(want)
			got, _, err := s.Matching(rec, recall.Term{Forms: h.filled(words...)}, 1000)
			if err != nil {
				return err
			}
			if !slices.Equal(got, want) {
				h.Errorf("any of many words finds %ss %v, each of them %v", rec, got, want)
			}
		}
		return nil
	})
	if !errors.Is(err, memory.ErrNotFound) {
		h.must(err)
	}
}
