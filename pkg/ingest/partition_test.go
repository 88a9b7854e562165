package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/deadletter"
	"github.com/eunoe-memory/eunoe/pkg/events/kv"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/ingest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func ptr[T any](v T) *T { return &v }

func profile(t testing.TB, c *events.Conn, b memory.Bank) {
	t.Helper()
	if err := kv.PutProfile(t.Context(), c, b); err != nil {
		t.Fatal(err)
	}
}

func TestBadEvents(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	raw := func(subject, body string) {
		t.Helper()
		if _, err := c.JS.PublishMsg(t.Context(), &nats.Msg{Subject: subject, Data: []byte(body)}); err != nil {
			t.Fatal(err)
		}
	}
	say(t, c, "alice", "s", memory.Message{})
	raw("mem.alice.message.s", `{"content":`)                 // 2: malformed
	raw("mem.alice.message.s", `{"role":"pope","content":1}`) // 3: malformed
	raw("mem.alice.message.s", `{"stream":"X","seq":1}`)      // 4: foreign
	raw("mem.alice.flush.s", `{"stream":"X","seq":1}`)        // 5: foreign, no flush
	raw("mem.alice.flush.s", `{"upto":"x"}`)                  // 6: malformed
	raw("mem.%61lice.message.s", `{"content":"x"}`)           // 7: not canonical
	raw("mem.alice.message.%2e", `{"content":"x"}`)           // 8: not canonical
	raw("mem.admin.message.s", `{"content":"x"}`)             // 9: no bank
	say(t, c, "alice", "s", memory.Message{})
	i := newIngest(t, c, nil)
	start(t, i)
	if d := cmp.Diff([]string{"1 10||count"}, brief(awaitWindows(t, c, 1))); d != "" {
		t.Errorf("the session did not go on: %s", d)
	}
	var letters []memory.DeadLetter
	natstest.Eventually(t, "six dead letters", func() bool {
		var err error
		letters, err = deadletter.List(t.Context(), c, deadletter.Filter{Stage: "ingest"})
		return err == nil && len(letters) == 6 && i.Metrics().Dead.Load() == 6
	})
	got := map[uint64]string{}
	for _, l := range letters {
		if l.MsgID() != fmt.Sprintf("ingest:MEM_MESSAGES:%d", l.Seq) || l.Reason == "" || len(l.Payload) == 0 {
			t.Errorf("letter %+v", l)
		}
		got[l.Seq] = l.Bank
	}
	if d := cmp.Diff(map[uint64]string{2: "alice", 3: "alice", 6: "alice", 7: "%61lice", 8: "alice", 9: "admin"}, got); d != "" {
		t.Error(d)
	}
	if n := i.Metrics().Foreign.Load(); n != 2 {
		t.Errorf("%d foreign events, want 2", n)
	}
}

func TestBankSettings(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	profile(t, c, memory.Bank{ID: "!room:x.org", Windows: &memory.WindowSettings{TriggerEvery: ptr(3), WindowSize: ptr(4), WindowTokens: ptr(-5)}})
	start(t, newIngest(t, c, nil))
	for range 6 {
		say(t, c, "!room:x.org", "a.b", memory.Message{})
	}
	awaitWindows(t, c, 2)
	// A session keeps its settings until a flush.
	profile(t, c, memory.Bank{ID: "!room:x.org", Windows: &memory.WindowSettings{TriggerEvery: ptr(1), WindowSize: ptr(4)}})
	for range 4 {
		say(t, c, "!room:x.org", "a.b", memory.Message{})
	}
	flush(t, c, "!room:x.org", "a.b", 0)
	got := awaitWindows(t, c, 4)
	want := []string{"1 2 3||count", "4 5 6|3|count", "7 8 9|6|count", "10|7 8 9|flush"}
	if d := cmp.Diff(want, brief(got)); d != "" {
		t.Error(d)
	}
	natstest.Eventually(t, "new settings after a flush", func() bool {
		seq := say(t, c, "!room:x.org", "a.b", memory.Message{})
		flush(t, c, "!room:x.org", "a.b", 0)
		var last memory.Window
		natstest.Eventually(t, "its window", func() bool {
			ws := windows(t, c)
			last = ws[len(ws)-1]
			return last.Last() == seq
		})
		return last.Trigger == memory.TriggerCount
	})
}

func TestQuota(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	profile(t, c, memory.Bank{ID: "alice", Quotas: &memory.Quotas{MessagesPerSecond: 0.001}})
	i := newIngest(t, c, nil)
	start(t, i)
	natstest.Eventually(t, "partitions", func() bool { return i.Metrics().Partitions.Load() == events.Partitions })
	for range 4 {
		say(t, c, "alice", "s", memory.Message{})
		say(t, c, "bob", "s", memory.Message{})
	}
	flush(t, c, "alice", "s", 0)
	var got []string
	for _, w := range awaitWindows(t, c, 3) {
		if w.Bank == "alice" {
			got = append(got, brief([]memory.Window{w})...)
		}
	}
	if d := cmp.Diff([]string{"1 3t 5t 7t||flush"}, got); d != "" {
		t.Error(d)
	}
	// A window is published before the batch that cut it is counted.
	natstest.Eventually(t, "three throttled messages are counted", func() bool { return i.Metrics().Throttled.Load() >= 3 })
	want := "# HELP eunoe_ingest_throttled_total Messages over their bank's quota.\n# TYPE eunoe_ingest_throttled_total counter\neunoe_ingest_throttled_total 3\n"
	reg := prometheus.NewRegistry()
	reg.MustRegister(i.Metrics())
	if err := testutil.GatherAndCompare(reg, strings.NewReader(want), "eunoe_ingest_throttled_total"); err != nil {
		t.Error(err)
	}
}

// A crash between a decision and its window, with other settings and quotas
// afterwards, must not let a message be new twice.
func TestChangedSettingsAfterACrash(t *testing.T) {
	t.Parallel()
	for crash := 1; crash <= 40; crash++ {
		c := natstest.Start(t)
		profile(t, c, memory.Bank{ID: "alice", Windows: &memory.WindowSettings{TriggerEvery: ptr(crash%3 + 1)}, Quotas: &memory.Quotas{MessagesPerSecond: float64(crash % 2 * 3), Bytes: int64(crash % 3 * 60)}})
		var messages []uint64
		for n := range 30 {
			session := memory.SessionID(fmt.Sprintf("s%d", n%3))
			if n%10 == 9 {
				flush(t, c, "alice", session, 0)
				continue
			}
			messages = append(messages, say(t, c, "alice", session, memory.Message{}))
		}
		for n := range 3 {
			flush(t, c, "alice", memory.SessionID(fmt.Sprintf("s%d", n)), 0)
		}
		step := 0
		err := ingest.RunPartition(t.Context(), ingest.WithStep(newIngest(t, c, func(cfg *ingest.Config) { cfg.MaxBatch = 7 }), func(string) error {
			if step++; step == min(crash, 24) {
				return ordered.Stop(errors.New("crashed"))
			}
			return nil
		}), c.Naming.PartitionOf("alice"))
		if err == nil {
			t.Fatal("it did not crash")
		}
		profile(t, c, memory.Bank{ID: "alice", Windows: &memory.WindowSettings{TriggerEvery: ptr(5)}, Quotas: &memory.Quotas{MessagesPerSecond: 0.01, Bytes: 40}})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			done <- ingest.RunPartition(ctx, newIngest(t, c, func(cfg *ingest.Config) { cfg.MaxBatch = 2 }), c.Naming.PartitionOf("alice"))
		}()
		counts := map[uint64]int{}
		natstest.Eventually(t, "every message in a window", func() bool {
			clear(counts)
			for _, w := range windows(t, c) {
				for _, m := range w.New {
					counts[m.Seq]++
				}
			}
			return len(counts) == len(messages) && atEnd(t, c, c.Naming.PartitionOf("alice"))
		})
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		for seq, n := range counts {
			if n != 1 {
				t.Errorf("crash at step %d: message %d is new in %d windows", crash, seq, n)
			}
		}
	}
}

func TestTakeover(t *testing.T) {
	t.Parallel()

	t.Run("partitions are balanced, given back at a stop, and no message is lost or doubled", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		first, second := newIngest(t, c, nil), newIngest(t, natstest.Another(t, c), nil)
		stop := start(t, first)
		natstest.Eventually(t, "all partitions with the first", func() bool { return first.Metrics().Partitions.Load() == 16 })
		start(t, second)
		natstest.Eventually(t, "an even share", func() bool {
			return first.Metrics().Partitions.Load() == 8 && second.Metrics().Partitions.Load() == 8
		})
		seen := map[uint64]int{}
		for n := range 200 {
			seen[say(t, c, memory.BankID(fmt.Sprintf("b%d", n%20)), "s", memory.Message{})] = 0
			if n == 100 {
				stop()
			}
		}
		natstest.Eventually(t, "all windows", func() bool {
			clear(seen)
			for _, w := range windows(t, c) {
				for _, m := range w.New {
					seen[m.Seq]++
				}
			}
			return len(seen) == 200
		})
		for s, n := range seen {
			if n != 1 {
				t.Errorf("message %d is new in %d windows", s, n)
			}
		}
	})

	t.Run("the partitions of an owner that vanishes are taken within five seconds", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		doomed := natstest.Another(t, c)
		first := newIngest(t, doomed, nil)
		start(t, first)
		natstest.Eventually(t, "all partitions with the first", func() bool { return first.Metrics().Partitions.Load() == 16 })
		second := newIngest(t, c, nil)
		doomed.NC.Close()
		began := time.Now()
		start(t, second)
		natstest.Eventually(t, "all partitions with the second", func() bool { return second.Metrics().Partitions.Load() == 16 })
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("it took %s", took)
		}
	})
}

func TestConfig(t *testing.T) {
	t.Parallel()
	if err := ingest.DefaultConfig().Validate(); err != nil {
		t.Error(err)
	}
	cfg := ingest.Config{Settings: ingest.Settings{TriggerEvery: -1, WindowTokens: -1, WindowSize: 9999, IdleAfter: -1, RoleFilter: []memory.Role{"pope"}}}
	err := cfg.Validate()
	for _, field := range []string{"trigger_every", "window_tokens", "window_size", "idle_after", "role_filter", "max_batch", "idle_tick"} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s is not named in: %v", field, err)
		}
	}
	if !errors.Is(err, memory.ErrInvalid) {
		t.Error("not invalid")
	}
	if _, err := ingest.New(ingest.DefaultConfig(), ingest.Deps{}); err == nil {
		t.Error("an ingest without a connection was made")
	}
}
