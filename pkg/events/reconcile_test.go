package events_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func config(t testing.TB, c *events.Conn, stream string) jetstream.StreamConfig {
	t.Helper()
	s, err := c.JS.Stream(t.Context(), stream)
	if err != nil {
		t.Fatal(err)
	}
	return s.CachedInfo().Config
}

func TestReconcile(t *testing.T) {
	t.Parallel()

	t.Run("several processes create the streams concurrently, and a repeat changes nothing", func(t *testing.T) {
		t.Parallel()
		s := natstest.StartServer(t)
		var wg sync.WaitGroup
		for range 6 {
			c := s.Connect(t)
			wg.Go(func() {
				if err := c.Reconcile(t.Context(), events.DefaultStreamOptions()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		c := s.Connect(t)
		before := config(t, c, "MEM_MESSAGES")
		if err := c.Reconcile(t.Context(), events.DefaultStreamOptions()); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(before, config(t, c, "MEM_MESSAGES")); d != "" {
			t.Error(d)
		}
		if before.Duplicates != 100*time.Millisecond || before.AllowRollup || before.AllowMsgTTL || before.AllowMsgSchedules || before.DenyDelete {
			t.Errorf("publishers may do too much: %+v", before)
		}
	})

	t.Run("it corrects what can be corrected and leaves operators' settings alone", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		cfg := config(t, c, "MEM_CHANGES")
		cfg.MaxAge, cfg.Subjects, cfg.AllowRollup, cfg.Metadata = time.Hour, []string{"other"}, true, map[string]string{"team": "x"}
		if _, err := c.JS.UpdateStream(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
		if err := c.Reconcile(t.Context(), events.StreamOptions{ChangesAge: 48 * time.Hour, ChangesBytes: 5 << 20}); err != nil {
			t.Fatal(err)
		}
		got := config(t, c, "MEM_CHANGES")
		if got.MaxAge != 48*time.Hour || got.MaxBytes != 5<<20 || got.Subjects[0] != "mem.*.change.*" || got.AllowRollup || got.Metadata["team"] != "x" {
			t.Errorf("%+v", got)
		}
	})

	t.Run("it rejects what cannot be corrected and shows the difference", func(t *testing.T) {
		t.Parallel()
		c := natstest.StartServer(t).Connect(t)
		wrong := c.Naming.Streams(events.DefaultStreamOptions())[2]
		wrong.Storage, wrong.Retention = jetstream.MemoryStorage, jetstream.InterestPolicy
		if _, err := c.JS.CreateStream(t.Context(), wrong); err != nil {
			t.Fatal(err)
		}
		err := c.Reconcile(t.Context(), events.DefaultStreamOptions())
		if !errors.Is(err, memory.ErrConflict) {
			t.Fatalf("%v", err)
		}
		for _, part := range []string{"MEM_WRITES", "storage: is Memory, expected File", "retention: is Interest, expected Limits"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q is not in: %v", part, err)
			}
		}
		if got := config(t, c, "MEM_MESSAGES"); len(got.Subjects) != 2 {
			t.Error("the other streams were not made")
		}
	})

	t.Run("streams follow the prefix", func(t *testing.T) {
		t.Parallel()
		s := natstest.StartServer(t)
		for _, prefix := range []string{"mem", "team-7"} {
			c, err := events.Connect(t.Context(), events.ConnConfig{URL: s.ClientURL(), Prefix: prefix, Log: zerolog.Nop()})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if err := c.Reconcile(t.Context(), events.DefaultStreamOptions()); err != nil {
				t.Fatal(err)
			}
			natstest.Publish(t, c, "alice", "s", "x")
			if last, err := c.LastMessage(t.Context(), "alice"); last != 1 || err != nil {
				t.Errorf("%s: %d, %v", prefix, last, err)
			}
		}
	})

	t.Run("options out of range are named", func(t *testing.T) {
		t.Parallel()
		err := events.StreamOptions{Replicas: 9, ChangesAge: -1, ChangesBytes: -1}.Validate()
		for _, field := range []string{"replicas", "changes_age", "changes_bytes"} {
			if err == nil || !strings.Contains(err.Error(), field) {
				t.Errorf("%s is not named in: %v", field, err)
			}
		}
	})
}

func TestConnect(t *testing.T) {
	t.Parallel()

	t.Run("waits for a server that is not up yet", func(t *testing.T) {
		t.Parallel()
		s := natstest.StartServer(t)
		url := s.ClientURL()
		s.Shutdown()
		type result struct {
			c   *events.Conn
			err error
		}
		got := make(chan result, 1)
		go func() {
			c, err := events.Connect(t.Context(), events.ConnConfig{URL: url, Log: zerolog.Nop()})
			if err == nil {
				err = c.Reconcile(t.Context(), events.DefaultStreamOptions())
			}
			got <- result{c, err}
		}()
		s.Restart(t)
		r := <-got
		if r.err != nil {
			t.Fatal(r.err)
		}
		r.c.Close()
	})

	t.Run("fails when its time is over", func(t *testing.T) {
		t.Parallel()
		s := natstest.StartServer(t)
		url := s.ClientURL()
		s.Shutdown()
		if _, err := events.Connect(t.Context(), events.ConnConfig{URL: url, Wait: 100 * time.Millisecond, Log: zerolog.Nop()}); !errors.Is(err, memory.ErrUnavailable) {
			t.Errorf("%v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := events.Connect(ctx, events.ConnConfig{URL: url, Log: zerolog.Nop()}); err == nil {
			t.Error("it connected to nothing")
		}
	})

	t.Run("works without a socket", func(t *testing.T) {
		t.Parallel()
		s := natstest.StartServer(t)
		c, err := events.Connect(t.Context(), events.ConnConfig{InProcess: s, Log: zerolog.Nop()})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.Reconcile(t.Context(), events.DefaultStreamOptions()); err != nil {
			t.Error(err)
		}
	})

	t.Run("refuses a prefix that is no token", func(t *testing.T) {
		t.Parallel()
		if _, err := events.Connect(t.Context(), events.ConnConfig{Prefix: "a.b"}); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%v", err)
		}
	})
}
