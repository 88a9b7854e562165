package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/kv"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/ingest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func TestConformance(t *testing.T) {
	t.Parallel()

	t.Run("windows trigger every N per bank and session, exact in size, in order, by role, and off at 0", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		i := newIngest(t, c, func(cfg *ingest.Config) {
			cfg.TriggerEvery, cfg.WindowSize, cfg.WindowTokens = 3, 5, 0
			cfg.RoleFilter = []memory.Role{memory.RoleUser}
		})
		start(t, i)
		// Two banks with a session of the same name, and two sessions of a bank, interleaved.
		for n := range 9 {
			say(t, c, "alice", "s", memory.Message{Content: fmt.Sprint(n)})
			say(t, c, "alice", "t", memory.Message{Role: memory.RoleAssistant, Content: "not counted"})
			say(t, c, "bob", "s", memory.Message{Content: fmt.Sprint(n)})
		}
		got := awaitWindows(t, c, 6)
		byBank := map[memory.BankID][]memory.Window{}
		for _, w := range got {
			byBank[w.Bank] = append(byBank[w.Bank], w)
		}
		if d := cmp.Diff([]string{"1 4 7||count", "10 13 16|4 7|count", "19 22 25|13 16|count"}, brief(byBank["alice"])); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff([]string{"3 6 9||count", "12 15 18|6 9|count", "21 24 27|15 18|count"}, brief(byBank["bob"])); d != "" {
			t.Error(d)
		}

		off := natstest.Start(t)
		start(t, newIngest(t, off, func(cfg *ingest.Config) { cfg.TriggerEvery, cfg.WindowTokens = 0, 0 }))
		for range 30 {
			say(t, off, "alice", "s", memory.Message{})
		}
		flush(t, off, "alice", "s", 0)
		if got := awaitWindows(t, off, 1); len(got) != 1 || len(got[0].New) != 30 {
			t.Errorf("windows %v", brief(got))
		}
	})

	t.Run("an oversize message is a window of its own and its neighbours are unaffected", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		start(t, newIngest(t, c, func(cfg *ingest.Config) { cfg.WindowTokens, cfg.TriggerEvery = 100, 4 }))
		for n := range 9 {
			m := memory.Message{Content: "short"}
			if n == 4 {
				m.Content = fmt.Sprintf("%0200000d", 7)
			}
			say(t, c, "alice", "s", m)
		}
		got := awaitWindows(t, c, 3)
		if d := cmp.Diff([]string{"1 2 3 4||count", "5|1 2 3 4|tokens", "6 7 8 9|4 5|count"}, brief(got)); d != "" {
			t.Error(d)
		}
	})

	t.Run("every message in is in one window or open, whatever the roles", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		start(t, newIngest(t, c, func(cfg *ingest.Config) { cfg.RoleFilter = []memory.Role{memory.RoleUser, memory.RoleTool} }))
		roles := []memory.Role{memory.RoleUser, memory.RoleUser, memory.RoleAssistant, memory.RoleTool, memory.RoleSystem, memory.RoleAssistant, memory.RoleAssistant}
		seen := map[uint64]int{}
		for n := range 70 {
			bank := memory.BankID(fmt.Sprintf("b%d", n%5))
			seen[say(t, c, bank, "s", memory.Message{Role: roles[n*n%len(roles)], Recalled: n%9 == 0})] = 0
		}
		for b := range 5 {
			flush(t, c, memory.BankID(fmt.Sprintf("b%d", b)), "s", 0)
		}
		natstest.Eventually(t, "all messages in windows", func() bool {
			for s := range seen {
				seen[s] = 0
			}
			n := 0
			for _, w := range windows(t, c) {
				for _, m := range w.New {
					seen[m.Seq]++
					n++
				}
			}
			return n >= len(seen)
		})
		for s, n := range seen {
			if n != 1 {
				t.Errorf("message %d is new in %d windows", s, n)
			}
		}
	})

	t.Run("a flush after an automatic cut keeps both windows", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		for range 3 {
			say(t, c, "alice", "s", memory.Message{})
		}
		flush(t, c, "alice", "s", 0)
		start(t, newIngest(t, c, nil)) // one batch
		if d := cmp.Diff([]string{"1 2||count", "3|1 2|flush"}, brief(awaitWindows(t, c, 2))); d != "" {
			t.Error(d)
		}
	})

	t.Run("a crash between any two steps yields the same windows", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		script(t, c)
		want := brief(cutAll(t, c, 1<<30))
		if len(want) < 10 {
			t.Fatalf("the script makes only %v", want)
		}
		for crash := 1; ; crash++ {
			c := natstest.Start(t)
			script(t, c)
			got := brief(cutAll(t, c, crash))
			if d := cmp.Diff(want, got); d != "" {
				t.Fatalf("with a crash at step %d: %s", crash, d)
			}
			if crash >= 40 {
				break
			}
		}
	})
}

// script publishes a conversation with everything in it, to one bank.
func script(t *testing.T, c *events.Conn) {
	t.Helper()
	two := 2
	if err := kv.PutProfile(t.Context(), c, memory.Bank{ID: "alice", Windows: &memory.WindowSettings{TriggerEvery: &two}}); err != nil {
		t.Fatal(err)
	}
	for n := range 24 {
		session := memory.SessionID(fmt.Sprintf("s%d", n%3))
		switch n {
		case 7:
			if _, err := c.PublishMessage(t.Context(), "alice", session, []byte(`{"content":`)); err != nil {
				t.Fatal(err)
			}
		case 11:
			flush(t, c, "alice", session, 0)
		case 13:
			if _, err := c.PublishMessage(t.Context(), "alice", session, []byte(`{"stream":"X","seq":3}`)); err != nil {
				t.Fatal(err)
			}
		default:
			say(t, c, "alice", session, memory.Message{Recalled: n%8 == 0})
		}
	}
	for n := range 3 {
		flush(t, c, "alice", memory.SessionID(fmt.Sprintf("s%d", n)), 0)
	}
}

// atEnd reports whether a partition's position is the end of the stream.
func atEnd(t *testing.T, c *events.Conn, part int) bool {
	t.Helper()
	last, err := c.LastInPartition(t.Context(), part)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := kv.Open(c, c.Naming.IngestBucket()).Get(t.Context(), fmt.Sprintf("p.%d", part))
	return err == nil && string(rec.Value) == fmt.Sprintf(`{"seq":%d}`, last)
}

// cutAll runs the bank's partition over the script, with a crash at one of its
// steps, and returns the windows that came out.
func cutAll(t *testing.T, c *events.Conn, crash int) []memory.Window {
	t.Helper()
	part := c.Naming.PartitionOf("alice")
	step := 0
	for {
		ctx, cancel := context.WithCancel(t.Context())
		i := newIngest(t, c, func(cfg *ingest.Config) { cfg.MaxBatch = 5 })
		done := false
		i = ingest.WithStep(i, func(name string) error {
			if step++; step == crash {
				return ordered.Stop(errors.New("crashed"))
			}
			return nil
		})
		finished := make(chan error, 1)
		go func() { finished <- ingest.RunPartition(ctx, i, part) }()
		var ended error
		natstest.Eventually(t, "the partition at its end or crashed", func() bool {
			select {
			case ended = <-finished:
				return true
			default:
			}
			done = atEnd(t, c, part)
			return done
		})
		cancel()
		if done {
			<-finished
			return windows(t, c)
		}
		if ended == nil {
			t.Fatal("the partition ended by itself")
		}
	}
}

func TestTwoOwnersAtOnceCutTheSameWindows(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	script(t, c)
	want := brief(cutAll(t, c, 1<<30))

	both := natstest.Start(t)
	ctx, cancel := context.WithCancel(t.Context())
	part := both.Naming.PartitionOf("alice")
	ended := make(chan error, 2)
	for range 2 {
		o := natstest.Another(t, both)
		cfg := ingest.DefaultConfig()
		cfg.IdleAfter, cfg.MaxBatch = 0, 3
		i, err := ingest.New(cfg, ingest.Deps{Conn: o, Log: zerolog.Nop(), CountTokens: words})
		if err != nil {
			t.Fatal(err)
		}
		go func() { // as often as it stands down
			for ctx.Err() == nil {
				if err := ingest.RunPartition(ctx, i, part); err != nil && ctx.Err() == nil && !errors.Is(err, memory.ErrConflict) {
					ended <- err
					return
				}
			}
			ended <- nil
		}()
	}
	script(t, both)
	awaitWindows(t, both, len(want))
	natstest.Eventually(t, "both owners done", func() bool { return atEnd(t, both, part) })
	cancel()
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if d := cmp.Diff(want, brief(windows(t, both))); d != "" {
		t.Error(d)
	}
}
