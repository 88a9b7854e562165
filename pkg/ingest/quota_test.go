package ingest_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/ingest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func TestQuotaOfBytes(t *testing.T) {
	t.Parallel()
	t.Run("what was stored before the quota was set counts, and no other bank's", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		part := c.Naming.PartitionOf("alice")
		end := func() {
			t.Helper()
			natstest.Eventually(t, "the end of the partition", func() bool { return atEnd(t, c, part) })
		}
		say(t, c, "alice", "s", memory.Message{Content: "12345"})
		say(t, c, "alice", "s", memory.Message{Content: "1234", Images: []memory.Image{{Caption: "6"}}})
		say(t, c, "bob", "s", memory.Message{Content: "1234567890"})
		stop := start(t, newIngest(t, c, nil))
		end()
		stop()
		profile(t, c, memory.Bank{ID: "alice", Quotas: &memory.Quotas{Bytes: 14}})
		start(t, newIngest(t, c, nil))
		say(t, c, "alice", "s", memory.Message{Content: "1234"})
		end() // what comes from here on was never seen before
		say(t, c, "alice", "s", memory.Message{Content: "1"})
		flush(t, c, "alice", "s", 0)
		end()
		var got []string
		for _, w := range windows(t, c) {
			if w.Bank == "alice" {
				got = append(got, brief([]memory.Window{w})...)
			}
		}
		if d := cmp.Diff([]string{"1 2||count", "4 5t|1 2|flush"}, got); d != "" {
			t.Error(d)
		}
	})
	t.Run("a bank over its bytes is counted anew after a while, for forgetting makes room", func(t *testing.T) {
		t.Parallel()
		var l ingest.Limiter
		noon := time.Date(2026, 5, 20, 12, 0, 0, 0, time.UTC)
		stored, counted := int64(0), 0
		count := func() (int64, error) { counted++; return stored, nil }
		var throttled []uint64
		decide := func(seq uint64, bytes int, after time.Duration, limit int64) {
			t.Helper()
			over, err := l.Decide(ingest.Event{Seq: seq, Bytes: bytes, Stored: noon.Add(after)}, 0, limit, 0, count)
			if err != nil {
				t.Fatal(err)
			}
			if over {
				throttled = append(throttled, seq)
			}
		}
		decide(1, 60, 0, 100)
		decide(2, 60, time.Second, 100)
		decide(3, 1, 59*time.Second, 100)
		stored = 30 // two were forgotten
		decide(4, 60, time.Minute, 100)
		decide(5, 60, time.Minute+time.Second, 100)
		decide(6, 60, time.Minute+2*time.Second, 0)
		decide(7, 60, time.Minute+3*time.Second, 1000)
		if want := []uint64{2, 3, 5}; !slices.Equal(throttled, want) || counted != 3 {
			t.Errorf("throttled %v, want %v; counted %d times, want 3", throttled, want, counted)
		}
		if over, err := l.Decide(ingest.Event{Seq: 5, Bytes: 60}, 0, 0, 0, count); err != nil || !over {
			t.Errorf("asked again, it decides otherwise: %v, %v", over, err)
		}
		broken := errors.New("away")
		var fresh ingest.Limiter
		if _, err := fresh.Decide(ingest.Event{Seq: 1, Bytes: 1}, 0, 1, 0, func() (int64, error) { return 0, broken }); !errors.Is(err, broken) {
			t.Errorf("a count that fails: %v", err)
		}
	})
}
