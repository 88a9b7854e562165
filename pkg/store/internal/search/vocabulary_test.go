package search_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/search"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite"
)

// TestForgottenWordsLeaveMemory forgets a message in one process. Another one that asked for many words holds none of
// those of the bank's messages after it looked, without being asked again.
func TestForgottenWordsLeaveMemory(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "eunoe.db")
	writer, err := sqlite.Open(sqlite.DefaultConfig(path))
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close() //nolint:errcheck // the reader is what counts
	var events []consolidate.MessageEvent
	for i, text := range []string{"a cat sleeps", "a dog barks", "a hamster runs"} {
		m := memory.Message{ID: memory.MessageID(fmt.Sprint(i)), Bank: "b", Session: "s", Role: memory.RoleUser, Content: text, Time: time.Unix(1, 0)}
		events = append(events, consolidate.MessageEvent{Seq: uint64(i + 1), Bank: "b", Session: "s", Stored: m.Time, State: memory.StatePending, Message: &m}) //nolint:gosec // three
	}
	if err := writer.ApplyMessages(t.Context(), 0, 3, events); err != nil {
		t.Fatal(err)
	}
	config := sqlite.DefaultConfig(path)
	config.ReadOnly = true
	reader, err := sqlite.Open(config)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close() //nolint:errcheck // it was only read
	words := recall.Term{Forms: []string{"cat", "dog"}}
	for i := range 40 {
		words.Forms = append(words.Forms, fmt.Sprintf("nowhere%d", i))
	}
	ask := func(want int) {
		t.Helper()
		err := reader.Search(t.Context(), "b", memory.Filter{}, func(s recall.Searcher) error {
			nos, _, err := s.Matching(memory.RecordMessage, words, 10)
			if len(nos) != want {
				t.Errorf("%d messages have one of the words; want %d", len(nos), want)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	held := func(want int) {
		t.Helper()
		if n := search.HeldStems(reader.Store); n != want {
			t.Errorf("the reader holds %d stems; want %d", n, want)
		}
	}
	ask(2)
	held(0) // the first time they are not read
	ask(2)
	held(7)
	w := memory.Write{Bank: "b", Seq: 1, Op: "forget", Kind: memory.WriteForget, Time: time.Unix(2, 0), Forget: &memory.ForgetRequest{}}
	err = writer.ApplyWrites(t.Context(), 0, 1, []memory.Write{w}, func(plan.View, memory.Write) (memory.Changes, error) {
		return memory.Changes{Forgotten: &memory.Forgotten{Messages: []uint64{2}}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := search.DropGone(t.Context(), reader.Store); err != nil {
		t.Fatal(err)
	}
	held(0)
	ask(1)
	ask(1)
	held(5)
}
