package query_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

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

// TestAListThatNoReplyCanHoldIsNotRead asks for 40 MB at once. What is read of it says the error.
func TestAListThatNoReplyCanHoldIsNotRead(t *testing.T) {
	t.Parallel()
	s := serve(t)
	at := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	var want []string
	for i := range 200 {
		id := memory.MessageID(fmt.Sprintf("r%03d", i))
		s.say(memory.Message{ID: id, Content: "río " + strings.Repeat("agua ", 40_000), Time: at})
		want = append(want, string(id))
	}
	err := s.ask("mem.alice.list", `{"record":"message","limit":1000}`, nil)
	var read, most int
	if _, scan := fmt.Sscanf(fmt.Sprint(err), "the reply is more than %d bytes and the broker takes %d", &read, &most); memory.Code(err) != 413 || scan != nil || read > 8<<20 || read < most {
		t.Errorf("read %d bytes of 40 MB: %v", read, err)
	}
	if got := s.listed(4); !slices.Equal(got, want) {
		t.Errorf("four at a time: %v", got)
	}
}

// TestALongPageIsWhole lists messages of one moment by pages longer than what is read at a time.
func TestALongPageIsWhole(t *testing.T) {
	t.Parallel()
	s := serve(t)
	at := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	var said []memory.Message
	for i := range 170 {
		said = append(said, memory.Message{ID: memory.MessageID(fmt.Sprintf("k%03d", i)), Content: "kort", Time: at})
	}
	s.say(said...)
	for _, limit := range []int{31, 32, 33, 64, 65, 100, 169, 170, 171, 1000} {
		got := s.listed(limit)
		if len(got) != len(said) || !slices.IsSorted(got) {
			t.Errorf("by pages of %d: %v", limit, got)
		}
	}
}

// listed returns the ids of all messages of alice, the oldest first, by pages of which all but the last are full.
func (s *served) listed(limit int) []string {
	s.t.Helper()
	var out []string
	for r := (wire.ListRequest{Record: memory.RecordMessage, Order: "oldest", Limit: limit}); ; {
		body, err := json.Marshal(r)
		if err != nil {
			s.t.Fatal(err)
		}
		var page wire.Page[memory.Item]
		if err := s.ask("mem.alice.list", string(body), &page); err != nil {
			s.t.Fatal(err)
		}
		if n := len(page.Items); n > limit || n < limit && page.Next != "" {
			s.t.Errorf("a page of %d has %d", limit, n)
		}
		for _, i := range page.Items {
			out = append(out, i.ID)
		}
		if r.Cursor = page.Next; r.Cursor == "" {
			return out
		}
	}
}
