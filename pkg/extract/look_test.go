package extract

import (
	"context"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
)

// TestOneLooksAtATime plays a broker that takes long to tell how far the stores are: handlers that come meanwhile wait
// for the one that asks, and the next asks when it has ended, even without an answer.
func TestOneLooksAtATime(t *testing.T) {
	t.Parallel()
	f := newFlow(natstest.Start(t))
	overdue := func() bool {
		f.read = time.Now().Add(-time.Hour)
		return f.due()
	}
	if !overdue() {
		t.Fatal("nobody looks at first")
	}
	if overdue() {
		t.Error("a second one looks while the first waits for its answer")
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	f.look(gone)
	if f.looked {
		t.Error("a look that was broken off counts as one")
	}
	if !overdue() {
		t.Error("nobody looks again after a look that was broken off")
	}
	f.look(t.Context())
	if !f.looked || !overdue() {
		t.Error("nobody looks again after a look")
	}
}
