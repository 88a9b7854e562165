package events_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func endOf(op string) memory.Write {
	return memory.Write{Bank: "alice", Kind: memory.WriteUsage, Op: op, Usage: []memory.StageUsage{{Stage: "extract"}}}
}

func TestAppender(t *testing.T) {
	t.Parallel()
	t.Run("appends in the given order, and returns each sequence", func(t *testing.T) {
		t.Parallel()
		conn := natstest.Start(t)
		log, err := conn.JS.Stream(t.Context(), conn.Naming.Writes())
		if err != nil {
			t.Fatal(err)
		}
		a := events.NewAppender(conn)
		var all []*events.Appending
		for i := range 700 { // more than one batch
			all = append(all, a.Append(t.Context(), endOf(fmt.Sprintf("op-%d", i))))
		}
		for i, p := range all {
			seq, stored, err := p.Wait(t.Context())
			if err != nil || !stored || seq != uint64(i+1) {
				t.Fatalf("write %d stands at %d, stored %v: %v", i, seq, stored, err)
			}
			if i%100 > 0 {
				continue
			}
			msg, err := log.GetMsg(t.Context(), seq)
			if err != nil || !strings.Contains(string(msg.Data), fmt.Sprintf(`"op-%d"`, i)) {
				t.Fatalf("at %d stands %+v: %v", seq, msg, err)
			}
		}
	})
	t.Run("writes that accumulate are stored as one batch, and a few are stored one by one", func(t *testing.T) {
		t.Parallel()
		for _, c := range []struct {
			writes  int
			batched bool
		}{{3, false}, {500, true}} {
			conn := natstest.Start(t)
			a := events.NewAppender(conn)
			var all []*events.Appending
			for i := range c.writes {
				all = append(all, a.Append(t.Context(), endOf(fmt.Sprintf("op-%d", i))))
			}
			for i, p := range all {
				if seq, _, err := p.Wait(t.Context()); err != nil || seq != uint64(i+1) {
					t.Fatalf("write %d stands at %d: %v", i, seq, err)
				}
			}
			batched := 0
			_, err := ordered.Scan(t.Context(), conn, conn.Naming.Writes(), nil, 0, func(e events.Event) error {
				if e.Header.Get("Nats-Batch-Id") != "" {
					batched++
				}
				return nil
			})
			if err != nil || (batched > 0) != c.batched {
				t.Errorf("%d of %d writes came in a batch: %v", batched, c.writes, err)
			}
		}
	})
	t.Run("appends none twice, and reports which already existed", func(t *testing.T) {
		t.Parallel()
		conn := natstest.Start(t)
		if _, err := conn.AppendWrite(t.Context(), endOf("op-2")); err != nil {
			t.Fatal(err)
		}
		a := events.NewAppender(conn)
		var all []*events.Appending
		for i := range 5 {
			all = append(all, a.Append(t.Context(), endOf(fmt.Sprintf("op-%d", i))))
		}
		var there []int
		for i, p := range all {
			_, stored, err := p.Wait(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if !stored {
				there = append(there, i)
			}
		}
		if !slices.Equal(there, []int{2}) {
			t.Errorf("there before were %v", there)
		}
		s, err := conn.JS.Stream(t.Context(), conn.Naming.Writes())
		if err != nil || s.CachedInfo().State.Msgs != 5 {
			t.Errorf("%d writes are in the log: %v", s.CachedInfo().State.Msgs, err)
		}
	})
	t.Run("rejects a write without an op, and ends with the caller's context", func(t *testing.T) {
		t.Parallel()
		conn := natstest.Start(t)
		a := events.NewAppender(conn)
		if _, _, err := a.Append(t.Context(), memory.Write{Bank: "alice"}).Wait(t.Context()); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("without an op: %v", err)
		}
		conn.NC.Close()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, stored, err := a.Append(ctx, endOf("late")).Wait(ctx); err == nil || stored {
			t.Errorf("stored %v: %v", stored, err)
		}
	})
}
