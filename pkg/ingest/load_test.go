package ingest_test

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/events/kv"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/ingest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// TestAnOldStateOfASessionIsNotTakenForItsLast has the broker give every state that a session had, as one does whose server lagged
// when the next owner read the bucket.
func TestAnOldStateOfASessionIsNotTakenForItsLast(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	bucket, err := c.JS.Stream(t.Context(), "KV_"+c.Naming.IngestBucket())
	if err != nil {
		t.Fatal(err)
	}
	cfg := bucket.CachedInfo().Config
	cfg.MaxMsgsPerSubject = 64
	if _, err := c.JS.UpdateStream(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	first := newIngest(t, c, nil)
	stop := start(t, first)
	say(t, c, "alice", "s", memory.Message{})
	natstest.Eventually(t, "a session with an open message", func() bool { return first.Metrics().Messages.Load() == 1 })
	say(t, c, "alice", "s", memory.Message{})
	awaitWindows(t, c, 1)
	natstest.Eventually(t, "a session without one", func() bool { return first.Metrics().Messages.Load() == 2 })
	stop()
	start(t, newIngest(t, c, nil))
	say(t, c, "alice", "s", memory.Message{})
	say(t, c, "alice", "s", memory.Message{})
	got := brief(awaitWindows(t, c, 2))
	if d := cmp.Diff([]string{"1 2||count", "3 4|1 2|count"}, got); d != "" {
		t.Error(d)
	}
}

// TestAnEarlierStateOfASessionCutsNoWindow has an owner read a session as it was two messages before, as from a server that lags or
// was parted from the others, and the position as it is.
func TestAnEarlierStateOfASessionCutsNoWindow(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	first := newIngest(t, c, nil)
	stop := start(t, first)
	said := int64(0)
	next := func() {
		t.Helper()
		say(t, c, "alice", "s", memory.Message{})
		said++
		natstest.Eventually(t, "the message is handled", func() bool { return first.Metrics().Messages.Load() == said })
	}
	next()
	var earlier []kv.Record
	err := kv.Open(c, c.Naming.IngestBucket()).Each(t.Context(), "s.>", func(r kv.Record) error {
		earlier = append(earlier, r)
		return nil
	})
	if err != nil || len(earlier) != 1 {
		t.Fatalf("%d sessions are stored, %v", len(earlier), err)
	}
	next()
	next()
	stop()
	part, err := strconv.Atoi(strings.Split(earlier[0].Key, ".")[1])
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- ingest.RunPartitionWith(ctx, newIngest(t, c, nil), part, earlier) }()
	say(t, c, "alice", "s", memory.Message{})
	got := brief(awaitWindows(t, c, 2))
	if d := cmp.Diff([]string{"1 2||count", "3 4|1 2|count"}, got); d != "" {
		t.Error(d)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
