package erasure_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/erasure"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// TestADamagedEventIsNotCalledErased damages a message and a write in the blocks of a stopped broker, and erases them with
// others.
func TestADamagedEventIsNotCalledErased(t *testing.T) {
	t.Parallel()
	s := natstest.StartServer(t)
	c := s.Connect(t)
	if err := c.Reconcile(t.Context(), events.DefaultStreamOptions()); err != nil {
		t.Fatal(err)
	}
	var messages []uint64
	for _, text := range []string{"ett ord om Kalmar", "den gömda skatten i Ystad", "ett ord om Lund"} {
		messages = append(messages, natstest.Publish(t, c, "alice", "s", text))
	}
	write := retained(t, c, "bruten", memory.Fact{ID: "f_1", Text: "Det finns en lönngång i Visby."})
	s.Shutdown()
	for _, word := range []string{"skatten", "lönngång"} {
		damage(t, s.Dir(), word)
	}
	s.Restart(t)
	natstest.Eventually(t, "the broker is back", func() bool {
		_, err := c.EventAt(t.Context(), c.Naming.Messages(), messages[2])
		return err == nil
	})
	q := &queue{}
	for i, seq := range messages {
		q.entries = append(q.entries, erasure.Entry{No: int64(i + 1), Bank: "alice", Stream: "MEM_MESSAGES", Seq: seq})
	}
	q.entries = append(q.entries, erasure.Entry{No: 10, Bank: "alice", Stream: "MEM_WRITES", Seq: write},
		erasure.Entry{No: 11, Bank: "alice", Stream: "MEM_WRITES", Seq: write, Whole: true})
	erase(t, c, q)
	slices.Sort(q.kept)
	if diff := cmp.Diff([]int64{2, 10, 11}, q.kept); diff != "" {
		t.Error(diff)
	}
	gone(t, c, c.Naming.Messages(), messages[0])
	gone(t, c, c.Naming.Messages(), messages[2])
	for _, word := range []string{"den gömda", "i Visby"} {
		if !natstest.OnDisk(t, s.Dir(), word) {
			t.Errorf("%q is not there: the broker can erase what it cannot read", word)
		}
	}
	again := &queue{entries: []erasure.Entry{{No: 7, Bank: "alice", Stream: "MEM_WRITES", Seq: write}, {No: 8, Bank: "alice", Stream: "MEM_MESSAGES", Seq: messages[0]}}}
	if err := erasure.DropDone(t.Context(), c, again); err != nil || len(again.entries) != 1 || again.entries[0].No != 7 {
		t.Errorf("a rebuild leaves %+v, %v", again.entries, err)
	}
}

// damage changes a byte of the record that holds a word, in a block of a stopped broker.
func damage(t *testing.T, dir, word string) {
	t.Helper()
	blocks, err := filepath.Glob(filepath.Join(dir, "jetstream", "*", "streams", "*", "msgs", "*.blk"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range blocks {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if at := bytes.Index(raw, []byte(word)); at >= 0 {
			raw[at] ^= 0x15
			if err := os.WriteFile(path, raw, 0o600); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("no block has %q", word)
}
