package ingest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/ingest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// words counts a text's bytes as its tokens, which is easy to predict.
func words(text string) int { return len(text) }

func newIngest(t testing.TB, c *events.Conn, change func(*ingest.Config)) *ingest.Ingest {
	t.Helper()
	cfg := ingest.DefaultConfig()
	cfg.IdleAfter, cfg.IdleTick = 0, 10*time.Millisecond
	if change != nil {
		change(&cfg)
	}
	i, err := ingest.New(cfg, ingest.Deps{Conn: c, Log: zerolog.Nop(), CountTokens: words})
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// start runs an ingest until the test ends or stop is called.
func start(t testing.TB, i *ingest.Ingest) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := i.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	stop = sync.OnceFunc(func() { cancel(); <-done })
	t.Cleanup(stop)
	return stop
}

func say(t testing.TB, c *events.Conn, bank memory.BankID, session memory.SessionID, m memory.Message) uint64 {
	t.Helper()
	if m.Content == "" {
		m.Content = "hello"
	}
	body, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	seq, err := c.PublishMessage(t.Context(), bank, session, body)
	if err != nil {
		t.Fatal(err)
	}
	return seq
}

func flush(t testing.TB, c *events.Conn, bank memory.BankID, session memory.SessionID, upto uint64) uint64 {
	t.Helper()
	seq, err := c.PublishFlush(t.Context(), bank, session, memory.Flush{Upto: upto})
	if err != nil {
		t.Fatal(err)
	}
	return seq
}

// windows reads what is on the work queue, in order.
func windows(t testing.TB, c *events.Conn) []memory.Window {
	t.Helper()
	s, err := c.JS.Stream(t.Context(), c.Naming.Windows())
	if err != nil {
		t.Fatal(err)
	}
	st := s.CachedInfo().State
	var out []memory.Window
	for seq := max(1, st.FirstSeq); seq <= st.LastSeq; seq++ {
		e, err := c.EventAt(t.Context(), c.Naming.Windows(), seq)
		if err != nil {
			t.Fatal(err)
		}
		w, err := e.Window()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, w)
	}
	return out
}

func awaitWindows(t testing.TB, c *events.Conn, n int) []memory.Window {
	t.Helper()
	var got []memory.Window
	natstest.Eventually(t, fmt.Sprintf("%d windows", n), func() bool {
		got = windows(t, c)
		return len(got) >= n
	})
	return got
}

// brief writes windows as "new|context|trigger".
func brief(ws []memory.Window) []string {
	var out []string
	for _, w := range ws {
		s := ""
		for i, m := range w.New {
			if i > 0 {
				s += " "
			}
			s += fmt.Sprint(m.Seq)
			if m.Carry != "" {
				s += string(m.Carry[0])
			}
		}
		s += "|"
		for i, c := range w.Context {
			if i > 0 {
				s += " "
			}
			s += fmt.Sprint(c)
		}
		out = append(out, s+"|"+string(w.Trigger))
	}
	return out
}

func TestIngest(t *testing.T) {
	t.Parallel()

	t.Run("cuts windows by number, by flush and by idleness", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		i := newIngest(t, c, func(cfg *ingest.Config) { cfg.IdleAfter = memory.Duration(50 * time.Millisecond) })
		start(t, i)
		for range 5 {
			say(t, c, "alice", "s", memory.Message{})
		}
		got := awaitWindows(t, c, 3)
		want := []string{"1 2||count", "3 4|1 2|count", "5|1 2 3 4|flush"}
		if d := cmp.Diff(want, brief(got)); d != "" {
			t.Error(d)
		}
		for _, w := range got {
			if w.Bank != "alice" || w.Session != "s" || w.ID != memory.NewWindowID("alice", "s", w.First(), w.Last(), 0) {
				t.Errorf("window %+v", w)
			}
		}
	})
	t.Run("the next owner flushes what the last one left open", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		first := newIngest(t, c, nil)
		stop := start(t, first)
		say(t, c, "alice", "s", memory.Message{})
		natstest.Eventually(t, "the message taken", func() bool { return first.Metrics().Messages.Load() == 1 })
		stop()
		// The session's own settings say never; another session has the new ones.
		start(t, newIngest(t, c, func(cfg *ingest.Config) { cfg.IdleAfter = memory.Duration(time.Millisecond) }))
		say(t, c, "alice", "t", memory.Message{})
		if d := cmp.Diff([]string{"2||flush"}, brief(awaitWindows(t, c, 1))); d != "" {
			t.Error(d)
		}
		flush(t, c, "alice", "s", 0)
		if d := cmp.Diff([]string{"2||flush", "1||flush"}, brief(awaitWindows(t, c, 2))); d != "" {
			t.Error(d)
		}
	})

	t.Run("a session left open by an owner that died is flushed when it was idle for long enough", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		idle := func(cfg *ingest.Config) { cfg.IdleAfter = memory.Duration(300 * time.Millisecond) }
		first := newIngest(t, c, func(cfg *ingest.Config) { idle(cfg); cfg.IdleTick = time.Hour })
		stop := start(t, first)
		say(t, c, "alice", "s", memory.Message{})
		natstest.Eventually(t, "the message taken", func() bool { return first.Metrics().Messages.Load() == 1 })
		stop()
		start(t, newIngest(t, c, idle))
		if d := cmp.Diff([]string{"1||flush"}, brief(awaitWindows(t, c, 1))); d != "" {
			t.Error(d)
		}
	})
}

// TestTokensOfALongText cuts by the tokens of a text whose beginning alone is counted.
func TestTokensOfALongText(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	cfg := ingest.DefaultConfig()
	cfg.IdleAfter, cfg.TriggerEvery, cfg.WindowTokens = 0, 0, 150_000
	var longest atomic.Int64
	i, err := ingest.New(cfg, ingest.Deps{Conn: c, Log: zerolog.Nop(), CountTokens: func(s string) int {
		longest.Store(max(longest.Load(), int64(len(s))))
		return len(s)
	}})
	if err != nil {
		t.Fatal(err)
	}
	start(t, i)
	say(t, c, "b", "s", memory.Message{Content: strings.Repeat("é", 50_000)})
	last := say(t, c, "b", "s", memory.Message{Content: strings.Repeat("é", 60_000)})
	if w := awaitWindows(t, c, 1)[0]; w.Last() != last || w.Trigger != memory.TriggerTokens {
		t.Errorf("window %v", w)
	}
	if longest.Load() > 32<<10 {
		t.Errorf("counted a text of %d bytes", longest.Load())
	}
}
