package query_test

import (
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// TestChangesWaitForTheReceivedOneAlone leaves a change of another bank in the outbox, which nobody publishes.
func TestChangesWaitForTheReceivedOneAlone(t *testing.T) {
	t.Parallel()
	s := serve(t)
	if _, err := s.conn.PublishMessage(t.Context(), "other", "s", []byte(`{"content":"I keep bees."}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.conn.PublishMessage(t.Context(), "alice", "s", []byte(`{"content":"I keep hens."}`)); err != nil {
		t.Fatal(err)
	}
	messages, _, err := s.db.Applied(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.applyMessages(t.Context(), messages); err != nil {
		t.Fatal(err)
	}
	change := events.BankChange{Bank: "alice", Change: memory.Change{ID: "c1", What: memory.ChangeMessage, Op: memory.OutcomeAdded, Record: "m1", Time: time.Now()}}
	for _, c := range []struct {
		received, published string
		least, most         time.Duration
	}{
		{"c1", "c1", 0, 900 * time.Millisecond},
		{"c2", "", time.Second, 30 * time.Second}, // it never comes
		{"", "", time.Second, 30 * time.Second},   // all that are on their way
	} {
		if c.published != "" {
			if err := s.conn.PublishChanges(t.Context(), []events.BankChange{change}); err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		page, err := s.service.Changes(t.Context(), "alice", wire.ChangesRequest{Received: c.received})
		took := time.Since(began)
		if err != nil || len(page.Items) != 1 || page.Items[0].ID != "c1" {
			t.Errorf("received %q: %+v, %v", c.received, page, err)
		}
		if took < c.least || took > c.most {
			t.Errorf("received %q: answered after %s, expected %s to %s", c.received, took, c.least, c.most)
		}
	}
}
