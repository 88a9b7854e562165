package deadletter_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/deadletter"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// letter publishes a payload as a dead letter and returns the stored letter.
func letter(t *testing.T, c *events.Conn, stream, subject string, seq uint64, payload []byte) memory.DeadLetter {
	t.Helper()
	d := memory.DeadLetter{Stage: "ingest", Bank: "alice", Reason: "test", Attempts: 1, Stream: stream, Seq: seq, Subject: subject, Payload: payload,
		First: time.Date(2026, 5, 20, 9, 14, 0, 0, time.UTC), Last: time.Date(2026, 5, 21, 9, 14, 0, 0, time.UTC)}
	if err := deadletter.Publish(t.Context(), c, d); err != nil {
		t.Fatal(err)
	}
	list, err := deadletter.List(t.Context(), c, deadletter.Filter{})
	if err != nil || len(list) == 0 {
		t.Fatalf("%d letters, %v", len(list), err)
	}
	return list[len(list)-1]
}

func TestRetryDead(t *testing.T) {
	t.Parallel()

	t.Run("a message without id or time keeps one identity and its time however often it is sent", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		subject := c.Naming.MessageSubject("alice", "s")
		for range 2 { // the letter was kept although its event was sent: a crash between the two
			d := letter(t, c, c.Naming.Messages(), subject, 1240, []byte(`{"content":"I moved.","mood":{"a":1}}`))
			seq, err := deadletter.Retry(t.Context(), c, d.ID)
			if err != nil {
				t.Fatal(err)
			}
			e, err := c.EventAt(t.Context(), c.Naming.Messages(), seq)
			if err != nil {
				t.Fatal(err)
			}
			m, err := e.Message()
			if err != nil || m.ID != "retry:1240" || !m.Time.Equal(d.First) || m.Content != "I moved." || string(m.Extra["mood"]) != `{"a":1}` {
				t.Errorf("sent %s: %+v, %v", e.Data, m, err)
			}
			// The broker's duplicate window is shorter than that.
			if err := c.Erase(t.Context(), c.Naming.Dead(), d.ID); err != nil {
				t.Fatal(err)
			}
			if err := c.JS.DeleteStream(t.Context(), c.Naming.Dead()); err != nil {
				t.Fatal(err)
			}
			if err := c.Reconcile(t.Context(), events.DefaultStreamOptions()); err != nil {
				t.Fatal(err)
			}
		}
	})
	t.Run("an id, a time, and payloads that are not objects are sent unchanged", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		for i, body := range []string{`{"content":"x","id":"m1","time":"2026-01-01T00:00:00Z"}`, `{"content":`, `[1]`, `null`} {
			d := letter(t, c, c.Naming.Messages(), c.Naming.MessageSubject("alice", "s"), uint64(100+i), []byte(body))
			seq, err := deadletter.Retry(t.Context(), c, d.ID)
			if err != nil {
				t.Fatal(err)
			}
			e, err := c.EventAt(t.Context(), c.Naming.Messages(), seq)
			if err != nil {
				t.Fatal(err)
			}
			var sent, want any
			if json.Unmarshal([]byte(body), &want) == nil && json.Unmarshal(e.Data, &sent) == nil {
				if m, err := e.Message(); err == nil && (m.ID != "m1" || m.Time.Year() != 2026 || m.Time.Month() != time.January) {
					t.Errorf("%s was sent as %s", body, e.Data)
				}
			} else if string(e.Data) != body {
				t.Errorf("%s was sent as %s", body, e.Data)
			}
		}
	})
	t.Run("a payload too long to store is read from its stream, or the letter reports that it is gone", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		body := []byte(`{"content":"` + strings.Repeat("long ", 190_000) + `"}`)
		seq, err := c.PublishMessage(t.Context(), "alice", "s", body)
		if err != nil {
			t.Fatal(err)
		}
		d := letter(t, c, c.Naming.Messages(), c.Naming.MessageSubject("alice", "s"), seq, body)
		if !d.Cut || len(d.Payload) >= len(body) {
			t.Fatalf("the letter keeps %d of %d bytes, cut %v", len(d.Payload), len(body), d.Cut)
		}
		again, err := deadletter.Retry(t.Context(), c, d.ID)
		if err != nil {
			t.Fatal(err)
		}
		e, err := c.EventAt(t.Context(), c.Naming.Messages(), again)
		if err != nil {
			t.Fatal(err)
		}
		if m, err := e.Message(); err != nil || len(m.Content) != 5*190_000 {
			t.Errorf("sent %d bytes, %v", len(e.Data), err)
		}
		d = letter(t, c, c.Naming.Windows(), c.Naming.WindowSubject("alice", "s"), 77, body)
		if _, err := deadletter.Retry(t.Context(), c, d.ID); !errors.Is(err, memory.ErrConflict) {
			t.Errorf("an event that is gone gave %v", err)
		}
		if _, err := deadletter.Get(t.Context(), c, d.ID); err != nil {
			t.Errorf("the letter went: %v", err)
		}
	})
}
