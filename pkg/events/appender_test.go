package events_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func endOf(op string) memory.Write {
	return memory.Write{Bank: "alice", Kind: memory.WriteUsage, Op: op, Usage: []memory.StageUsage{{Stage: "extract"}}}
}

func TestAppender(t *testing.T) {
	t.Parallel()
	t.Run("appends in the order given, and says where each stands", func(t *testing.T) {
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
	t.Run("what gathers meanwhile is stored as one batch, and few are not", func(t *testing.T) {
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
			_, err := conn.Scan(t.Context(), conn.Naming.Writes(), nil, 0, func(e events.Event) error {
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
	t.Run("adds none twice, and says which were there", func(t *testing.T) {
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
	t.Run("refuses one without an op, and ends with the caller's context", func(t *testing.T) {
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

func TestTurns(t *testing.T) {
	t.Parallel()
	t.Run("take effect in the order of the stream, whatever handler is done first", func(t *testing.T) {
		t.Parallel()
		conn := natstest.Start(t)
		const n = 40
		for i := range n {
			publishWindow(t, conn, uint64(i+1))
		}
		var mu sync.Mutex
		var order []uint64
		together, most := 0, 0
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			done <- conn.Work(ctx, events.WorkConfig{Durable: "turns", Concurrency: 8, InTurn: true, Backoff: events.Backoff{Min: time.Millisecond, Max: time.Millisecond}},
				func(ctx context.Context, e events.Event) error {
					mu.Lock()
					together++
					most = max(most, together)
					mu.Unlock()
					defer func() { mu.Lock(); together--; mu.Unlock() }()
					if e.Seq%7 == 3 && e.Attempt == 1 {
						return errors.New("ahead of its turn")
					}
					turn := events.TurnOf(ctx)
					if err := turn.Wait(ctx); err != nil {
						return err
					}
					mu.Lock()
					order = append(order, e.Seq)
					mu.Unlock()
					turn.Pass()
					turn.Pass()
					return nil
				})
		}()
		natstest.Eventually(t, "all windows are handled", func() bool { mu.Lock(); defer mu.Unlock(); return len(order) == n })
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		first := slices.DeleteFunc(slices.Clone(order), func(s uint64) bool { return s%7 == 3 })
		if !slices.IsSorted(first) {
			t.Errorf("the order was %v", order)
		}
		if most < 2 {
			t.Error("handlers did not run at once")
		}
	})
	t.Run("wait for nobody where there are none", func(t *testing.T) {
		t.Parallel()
		turn := events.TurnOf(t.Context())
		if err := turn.Wait(t.Context()); err != nil {
			t.Error(err)
		}
		turn.Pass()
	})
}

func publishWindow(t *testing.T, conn *events.Conn, seq uint64) {
	t.Helper()
	w := memory.Window{ID: memory.NewWindowID("alice", "s", seq, seq, 0), Bank: "alice", Session: "s", New: []memory.WindowMessage{{Seq: seq}}, Trigger: memory.TriggerCount}
	if err := conn.PublishWindow(t.Context(), w); err != nil {
		t.Fatal(err)
	}
}
