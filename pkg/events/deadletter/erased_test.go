package deadletter_test

import (
	"encoding/json"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/deadletter"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// TestALetterAboutWhatIsErased publishes letters after a forget has erased what they are about.
func TestALetterAboutWhatIsErased(t *testing.T) {
	t.Parallel()
	letters := func(t *testing.T, c *events.Conn, d memory.DeadLetter) []memory.DeadLetter {
		t.Helper()
		for range 2 { // as a stage that is killed behind the first time does
			if err := deadletter.Publish(t.Context(), c, d); err != nil {
				t.Fatal(err)
			}
		}
		list, err := deadletter.List(t.Context(), c, deadletter.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	t.Run("one about a message that is gone is not kept", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		seq := natstest.Publish(t, c, "alice", "s", "My secret heron.")
		d := memory.DeadLetter{Stage: "ingest", Bank: "alice", Stream: c.Naming.Messages(), Seq: seq, Subject: c.Naming.MessageSubject("alice", "s"),
			Reason: "malformed", Payload: []byte("My secret heron.")}
		if err := c.Erase(t.Context(), c.Naming.Messages(), seq); err != nil {
			t.Fatal(err)
		}
		if list := letters(t, c, d); len(list) > 0 {
			t.Errorf("kept %+v", list)
		}
	})
	t.Run("one about a window that lost a message keeps no answer of a model", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		gone, stays := natstest.Publish(t, c, "alice", "s", "My secret heron."), natstest.Publish(t, c, "alice", "s", "My drum.")
		window := memory.Window{ID: "w", Bank: "alice", Session: "s", New: []memory.WindowMessage{{Seq: gone}, {Seq: stays}}}
		payload, err := json.Marshal(window)
		if err != nil {
			t.Fatal(err)
		}
		d := memory.DeadLetter{Stage: "extract", Bank: "alice", Stream: c.Naming.Windows(), Seq: 1, Subject: "x", Reason: "no facts", Payload: payload,
			Output: "a secret heron"}
		if err := c.Erase(t.Context(), c.Naming.Messages(), gone); err != nil {
			t.Fatal(err)
		}
		list := letters(t, c, d)
		if len(list) == 0 {
			t.Fatal("the window has no letter")
		}
		for _, l := range list {
			if full, err := deadletter.Get(t.Context(), c, l.ID); err != nil || full.Output != "" || full.Reason != "no facts" {
				t.Errorf("letter %+v, %v", full, err)
			}
		}
	})
}
