package events_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func TestRestore(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	r := events.NewRestorer(c)
	remove := func(names ...string) {
		t.Helper()
		for _, name := range names {
			if err := c.JS.DeleteStream(t.Context(), name); err != nil {
				t.Fatal(err)
			}
		}
	}
	restored := func(what string) {
		t.Helper()
		if err := r.Restore(t.Context()); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		for _, name := range c.Naming.AllStreams() {
			if _, err := c.JS.Stream(t.Context(), name); err != nil {
				t.Errorf("%s: %s: %v", what, name, err)
			}
		}
	}
	restored("nothing is missing")
	remove(c.Naming.AllStreams()...)
	restored("everything is missing and nothing was kept")

	natstest.Publish(t, c, "alice", "s", "I keep bees.")
	restored("a message is kept")
	remove("KV_MEM_LEASES", "MEM_WRITES")
	restored("an empty log of writes is missing")

	remove("KV_MEM_LEASES", "MEM_MESSAGES")
	err := r.Restore(t.Context())
	if !errors.Is(err, memory.ErrConflict) || !strings.Contains(err.Error(), "MEM_MESSAGES") {
		t.Errorf("a log with a message is missing: %v", err)
	}
	if _, err := c.JS.Stream(t.Context(), "MEM_MESSAGES"); err == nil {
		t.Error("it was made anew")
	}
}
