package client_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func many(n int) []memory.Message {
	out := make([]memory.Message, n)
	for i := range out {
		out[i] = memory.Message{ID: memory.MessageID(fmt.Sprintf("m%d", i)), Role: memory.RoleUser, Speaker: "Alice",
			Content: fmt.Sprintf("On day %d I repaired the greenhouse and wrote it down in my diary.", i)}
	}
	return out
}

func TestPublishAll(t *testing.T) {
	t.Parallel()
	t.Run("stores every message in order and returns its sequence", func(t *testing.T) {
		t.Parallel()
		conn, c := start(t)
		seqs, err := c.PublishAll(t.Context(), "alice", "s", many(1200))
		if err != nil {
			t.Fatal(err)
		}
		next := 0
		_, err = ordered.Scan(t.Context(), conn, conn.Naming.Messages(), nil, 0, func(e events.Event) error {
			m, err := e.Message()
			if err != nil || m.ID != memory.MessageID(fmt.Sprintf("m%d", next)) || seqs[next] != e.Seq {
				t.Errorf("event %d is %q, number %d was acknowledged at %d", e.Seq, m.ID, next, seqs[next])
			}
			next++
			return nil
		})
		if err != nil || next != 1200 {
			t.Errorf("the log has %d messages: %v", next, err)
		}
	})
	t.Run("sends nothing when one message is wrong, and names it", func(t *testing.T) {
		t.Parallel()
		conn, c := start(t)
		list := many(5)
		list[3].Content = ""
		_, err := c.PublishAll(t.Context(), "alice", "s", list)
		if !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), "message 3") || !strings.Contains(err.Error(), "content") {
			t.Errorf("err = %v", err)
		}
		if last, err := conn.LastMessage(t.Context(), "alice"); err != nil || last != 0 {
			t.Errorf("the log ends at %d: %v", last, err)
		}
	})
	t.Run("says which messages were not acknowledged", func(t *testing.T) {
		t.Parallel()
		conn, _ := start(t)
		if err := conn.JS.DeleteStream(t.Context(), conn.Naming.Messages()); err != nil {
			t.Fatal(err)
		}
		cfg := client.DefaultConfig()
		cfg.Timeout = 300 * time.Millisecond
		c, err := client.New(cfg, client.Deps{Conn: conn})
		if err != nil {
			t.Fatal(err)
		}
		seqs, err := c.PublishAll(t.Context(), "alice", "s", many(3))
		if err == nil || len(seqs) != 3 || seqs[0]+seqs[1]+seqs[2] != 0 {
			t.Errorf("seqs %v, err %v", seqs, err)
		}
	})
}
