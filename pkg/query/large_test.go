package query_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// TestLargeMessagesCanBeRead asks over a broker that takes 1 MiB.
func TestLargeMessagesCanBeRead(t *testing.T) {
	t.Parallel()
	s := serve(t)
	marks := strings.Repeat("<", 180_000)
	bells := strings.Repeat("\x07", 180_000) // six bytes each in JSON
	s.say(memory.Message{ID: "a", Content: "before"}, memory.Message{ID: "marks", Content: marks}, memory.Message{ID: "bells", Content: bells},
		memory.Message{ID: "z", Content: "after"})
	for range 4 {
		s.say(memory.Message{Content: strings.Repeat("word ", 100_000)})
	}
	t.Run("a text of marks of HTML takes its own size in a reply", func(t *testing.T) {
		t.Parallel()
		var item memory.Item
		if err := s.ask("mem.alice.get", `{"id":"marks"}`, &item); err != nil || item.Text != marks || item.Cut {
			t.Errorf("%d bytes, cut %v, %v", len(item.Text), item.Cut, err)
		}
	})
	t.Run("a text that no reply can hold is cut, and says so", func(t *testing.T) {
		t.Parallel()
		var item memory.Item
		if err := s.ask("mem.alice.get", `{"id":"bells"}`, &item); err != nil || !item.Cut || len(item.Text) < 90_000 || !strings.HasPrefix(bells, item.Text) {
			t.Errorf("%d bytes, cut %v, %v", len(item.Text), item.Cut, err)
		}
	})
	t.Run("a list of several such messages is refused, and item by item it names every one", func(t *testing.T) {
		t.Parallel()
		if err := s.ask("mem.alice.list", `{"record":"message"}`, nil); memory.Code(err) != 413 {
			t.Errorf("a page that is too large: %v", err)
		}
		var seen []string
		page := wire.Page[memory.Item]{}
		for range 20 {
			body, err := json.Marshal(wire.ListRequest{Record: memory.RecordMessage, Order: "oldest", Limit: 1, Cursor: page.Next})
			if err != nil {
				t.Fatal(err)
			}
			page = wire.Page[memory.Item]{}
			if err := s.ask("mem.alice.list", string(body), &page); err != nil {
				t.Fatal(err)
			}
			for _, i := range page.Items {
				seen = append(seen, i.ID)
			}
			if page.Next == "" {
				break
			}
		}
		if got := strings.Join(seen, " "); got != "a marks bells z m5 m6 m7 m8" {
			t.Errorf("the list names %s", got)
		}
	})
}
