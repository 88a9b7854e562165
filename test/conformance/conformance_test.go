package conformance_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

func ptr[T any](v T) *T { return &v }

func TestConformance(t *testing.T) {
	t.Parallel()
	conformRemembering(t)
	t.Run("making a bank that exists is a conflict; reading or erasing an unknown one is not found", func(t *testing.T) {
		t.Parallel()
		w := start(t)
		if _, err := w.SetBank(t.Context(), "alice", wire.BankUpdate{Create: true, Name: ptr("Alice")}); err != nil {
			t.Fatal(err)
		}
		_, err := w.SetBank(t.Context(), "alice", wire.BankUpdate{Create: true, Name: ptr("Other")})
		if !errors.Is(err, memory.ErrConflict) {
			t.Errorf("made twice: %v", err)
		}
		if b, err := w.Bank(t.Context(), "alice"); err != nil || b.Name != "Alice" {
			t.Errorf("after the conflict: %+v, %v", b, err)
		}
		if _, err := w.Bank(t.Context(), "nobody"); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("read: %v", err)
		}
		if _, err := w.Admin().Erase(t.Context(), "nobody"); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("erase: %v", err)
		}
	})
	t.Run("a profile survives a restart byte for byte and observe works after it", func(t *testing.T) {
		t.Parallel()
		w := start(t)
		text := "Größe \"quoted\" <b>&amp; 日本語 🦑\n\ttabbed \\ back  two spaces "
		made, err := w.SetBank(t.Context(), "alice", wire.BankUpdate{Disposition: &memory.Disposition{Skepticism: 5, Literalism: 1, Empathy: 2},
			Description: &text, Background: ptr(text + text)})
		if err != nil {
			t.Fatal(err)
		}
		likes(t, w, "alice")
		w.restart(t)
		read, err := w.Bank(t.Context(), "alice")
		if err != nil {
			t.Fatal(err)
		}
		if read.Disposition != (memory.Disposition{Skepticism: 5, Literalism: 1, Empathy: 2}) || read.Description != text || read.Background != text+text {
			t.Errorf("read %+v", read)
		}
		a, errA := json.Marshal(made)
		b, errB := json.Marshal(read)
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("before %s\nafter  %s", a, b)
		}
		if _, err := w.Observe(t.Context(), "alice", wire.ObserveRequest{}); err != nil {
			t.Errorf("observe: %v", err)
		}
	})
	t.Run("retain without a key returns an id; with one it is an upsert within its bank", func(t *testing.T) {
		t.Parallel()
		w := start(t)
		if r := w.retain(t, "alice", memory.FactInput{Text: "Alice likes tea."}); r[0].ID == "" || r[0].Outcome != memory.OutcomeAdded {
			t.Errorf("without a key: %+v", r)
		}
		city := memory.FactInput{Key: "city", Text: "Alice lives in Paris."}
		first := w.retain(t, "alice", city)[0]
		again := w.retain(t, "alice", city)[0]
		if first.ID != again.ID || first.Key != "city" {
			t.Errorf("first %+v, again %+v", first, again)
		}
		before := len(w.facts(t, "alice"))
		moved := w.retain(t, "alice", memory.FactInput{Key: "city", Text: "Alice lives in London."})[0]
		if moved.ID == first.ID || moved.Outcome != memory.OutcomeSuperseded {
			t.Errorf("other text under the key: %+v", moved)
		}
		live := w.facts(t, "alice")
		if len(live) != before || slices.ContainsFunc(live, func(i memory.Item) bool { return i.ID == first.ID }) {
			t.Errorf("live facts: %+v", live)
		}
		other := w.retain(t, "bob", city)[0]
		if other.ID == first.ID || other.Outcome != memory.OutcomeAdded {
			t.Errorf("the same key in another bank: %+v", other)
		}
		if live := w.facts(t, "alice"); len(live) != before {
			t.Errorf("the other bank changed this one: %+v", live)
		}
	})
	t.Run("reflect groups by kind, keeps the budget in whole items, and is valid UTF-8", func(t *testing.T) {
		t.Parallel()
		w := start(t)
		w.retain(t, "alice",
			memory.FactInput{Text: "Alice planted a lemon tree in her garden.", Kind: memory.KindWorld},
			memory.FactInput{Text: "The agent ordered a lemon tree for Alice.", Kind: memory.KindExperience},
			memory.FactInput{Text: "Alice believes that every lemon tree needs music: ワルツ 🎶 and patience, day after day.", Kind: memory.KindOpinion})
		whole := reflect(t, w, "alice", 2000)
		for _, section := range []string{"## Facts", "## Experiences", "## Opinions"} {
			if strings.Count(whole.Response, section) != 1 {
				t.Errorf("%q stands %d times in\n%s", section, strings.Count(whole.Response, section), whole.Response)
			}
		}
		for tokens := 1; tokens <= whole.Tokens+5; tokens++ {
			r := reflect(t, w, "alice", tokens)
			if !utf8.ValidString(r.Response) {
				t.Errorf("%d tokens: not UTF-8: %q", tokens, r.Response)
			}
			if len(r.Citations) > 0 && text.CountTokens(r.Response) > tokens {
				t.Errorf("%d tokens: the response has %d:\n%s", tokens, text.CountTokens(r.Response), r.Response)
			}
			for _, c := range r.Citations {
				if !strings.Contains(r.Response, c.Text) {
					t.Errorf("%d tokens: %q is cut in\n%s", tokens, c.Text, r.Response)
				}
			}
		}
	})
	t.Run("each trait changes what reflect returns, and one out of range is refused", func(t *testing.T) {
		t.Parallel()
		w := start(t)
		w.publish(t, "alice", "chat", "Alice", "I moved to Lisbon in May.", "I feel sad about the rain in Lisbon.")
		w.retain(t, "alice", memory.FactInput{Text: "Lisbon may be too loud for Alice.", Kind: memory.KindOpinion, Confidence: ptr(0.4)})
		give := func(d memory.Disposition) string {
			t.Helper()
			if _, err := w.SetBank(t.Context(), "alice", wire.BankUpdate{Disposition: &d}); err != nil {
				t.Fatal(err)
			}
			r, err := w.Reflect(t.Context(), "alice", wire.ReflectRequest{RecallRequest: wire.RecallRequest{Query: "What about Alice in Lisbon?"}, Style: "context"})
			if err != nil {
				t.Fatal(err)
			}
			return r.Response
		}
		for trait, pair := range map[string][2]memory.Disposition{
			"skepticism": {{Skepticism: 1, Literalism: 3, Empathy: 3}, {Skepticism: 5, Literalism: 3, Empathy: 3}},
			"literalism": {{Skepticism: 3, Literalism: 1, Empathy: 3}, {Skepticism: 3, Literalism: 5, Empathy: 3}},
			"empathy":    {{Skepticism: 3, Literalism: 3, Empathy: 1}, {Skepticism: 3, Literalism: 3, Empathy: 5}},
		} {
			if low, high := give(pair[0]), give(pair[1]); low == high {
				t.Errorf("%s changes nothing:\n%s", trait, low)
			}
		}
		for _, d := range []memory.Disposition{{Skepticism: 0, Literalism: 3, Empathy: 3}, {Skepticism: 3, Literalism: 6, Empathy: 3}, {Skepticism: 3, Literalism: 3, Empathy: -1}} {
			if _, err := w.SetBank(t.Context(), "alice", wire.BankUpdate{Disposition: &d}); !errors.Is(err, memory.ErrInvalid) {
				t.Errorf("%+v: %v", d, err)
			}
		}
	})
	t.Run("erasing a bank leaves nothing of what was said, in no file", func(t *testing.T) {
		t.Parallel()
		w := start(t)
		w.publish(t, "alice", "chat", "Alice", "My parrot is called Quetzalvogel.", "Quetzalvogel lives in Zanzibarstrasse.")
		w.retain(t, "alice", memory.FactInput{Text: "Quetzalvogel eats mango.", Key: "food"})
		w.retain(t, "bob", memory.FactInput{Text: "Bob likes mango."})
		if !holds(t, w.dir, "uetzalvogel") {
			t.Fatal("the word is nowhere to begin with")
		}
		r, err := w.Admin().Erase(t.Context(), "alice")
		if err == nil && r.Pending {
			r, err = w.WaitForgotten(t.Context(), "alice", r.Op)
		}
		if err != nil {
			t.Fatal(err)
		}
		if r.Messages != 2 || r.Facts == 0 {
			t.Errorf("the receipt is %+v", r)
		}
		natstest.Eventually(t, "the words are in no file", func() bool { return !holds(t, w.dir, "uetzalvogel") && !holds(t, w.dir, "anzibarstrasse") })
		if _, err := w.Bank(t.Context(), "alice"); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("the bank: %v", err)
		}
		if _, err := w.Recall(t.Context(), "alice", wire.RecallRequest{Query: "Quetzalvogel"}); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("recall: %v", err)
		}
		if live := w.facts(t, "bob"); len(live) != 1 {
			t.Errorf("the other bank holds %+v", live)
		}
		if v, err := w.Admin().Verify(t.Context(), wire.VerifyRequest{}); err != nil || len(v.Problems) > 0 {
			t.Errorf("verify: %+v, %v", v, err)
		}
	})
	t.Run("a restart with default settings keeps everything", func(t *testing.T) {
		t.Parallel()
		w := start(t)
		w.publish(t, "alice", "chat", "Alice", "I live in Paris.", "I am allergic to shellfish.", "I moved to London.")
		w.retain(t, "alice", memory.FactInput{Text: "Alice likes tea.", Key: "drink"})
		before := everything(t, w, "alice")
		w.restart(t)
		if after := everything(t, w, "alice"); after != before {
			t.Errorf("before\n%s\nafter\n%s", before, after)
		}
	})
}

// likes returns a bank enough to observe.
func likes(t *testing.T, w *pipeline, bank memory.BankID) {
	t.Helper()
	for _, food := range []string{"apples", "pears", "plums"} {
		w.retain(t, bank, memory.FactInput{Text: "Alice likes " + food + ".", Type: memory.TypePreference, Entities: []string{"person:Alice"}})
	}
}

func reflect(t *testing.T, w *pipeline, bank memory.BankID, tokens int) wire.ReflectReply {
	t.Helper()
	r, err := w.Reflect(t.Context(), bank, wire.ReflectRequest{RecallRequest: wire.RecallRequest{Query: "lemon tree", MaxTokens: &tokens}, Style: "context"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// holds reports whether any file below dir holds the word, in any letter case
// of its first letter (which the caller leaves out).
func holds(t *testing.T, dir, word string) bool {
	t.Helper()
	found := false
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // files come and go while the broker runs
		}
		b, err := os.ReadFile(p)
		if err == nil && bytes.Contains(bytes.ToLower(b), []byte(strings.ToLower(word))) {
			found = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// everything returns what all reads of a bank answer, as text.
func everything(t *testing.T, w *pipeline, bank memory.BankID) string {
	t.Helper()
	var b strings.Builder
	add := func(v any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		line, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	for _, r := range memory.Records {
		add(w.List(t.Context(), bank, wire.ListRequest{Record: r, Limit: 100}))
	}
	add(w.Tree(t.Context(), bank, wire.TreeRequest{}))
	add(w.Entities(t.Context(), bank, wire.EntitiesRequest{}))
	add(w.Bank(t.Context(), bank))
	st := w.settled(t, bank)
	st.Lag = 0
	add(st, nil)
	found, err := w.Recall(t.Context(), bank, wire.RecallRequest{Query: "Where does Alice live?", Now: ptr(w.facts(t, bank)[0].Said.UTC())})
	found.Recall, found.Took = "", 0
	add(found, err)
	return b.String()
}
