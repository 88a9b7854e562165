package query_test

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/verify"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// publishes sends messages to the log and waits until they are in the store.
func (s *served) publishes(n int) {
	s.t.Helper()
	var last uint64
	for i := range n {
		seq, err := s.conn.PublishMessage(context.Background(), "alice", "s", fmt.Appendf(nil, `{"id":"p%d","content":"I like tea number %d."}`, i, i))
		if err != nil {
			s.t.Fatal(err)
		}
		last = seq
	}
	natstest.Eventually(s.t, "the messages are applied and their changes sent", func() bool {
		messages, _, err := s.db.Applied(context.Background())
		if err != nil || messages < last {
			return false
		}
		q, err := s.db.Queues(context.Background())
		return err == nil && q[0].Changes == 0
	})
}

func TestVerifyAgainstTheLog(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	check := func(s *served, r verify.Options) wire.Verification {
		t.Helper()
		r.Patience = cmp.Or(r.Patience, 300*time.Millisecond)
		v, err := verify.Store(ctx, s.conn, s.db, r)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	says := func(t *testing.T, v wire.Verification, want string) {
		t.Helper()
		if v.OK || len(v.Problems) != 1 || !strings.Contains(v.Problems[0], want) {
			t.Errorf("problems are %q, want %q alone", v.Problems, want)
		}
	}
	t.Run("a message that the log lost is named", func(t *testing.T) {
		t.Parallel()
		s := serve(t)
		s.consolidates()
		s.publishes(30)
		if v := check(s, verify.Options{Full: true}); !v.OK {
			t.Fatalf("at first: %q", v.Problems)
		}
		if err := s.conn.Erase(ctx, s.conn.Naming.Messages(), 17); err != nil {
			t.Fatal(err)
		}
		says(t, check(s, verify.Options{}), "the log holds the messages of the store (500 of them looked up): broken (17)")
		says(t, check(s, verify.Options{Full: true}), "the log holds every message of the store: broken (17)")
	})
	t.Run("a write that the log lost is named, in full, and one that repeats an op is not", func(t *testing.T) {
		t.Parallel()
		s := serve(t)
		s.consolidates()
		var last uint64
		for i := range 12 {
			seq, err := s.conn.AppendWrite(ctx, memory.Write{Bank: "bob", Kind: memory.WriteRetain, Op: fmt.Sprintf("op%d", i%10),
				Time: time.Date(2026, 5, 1, 0, 0, i, 0, time.UTC), Facts: []memory.Fact{{Text: fmt.Sprintf("Bob owns boat %d.", i%10)}}})
			if err != nil {
				t.Fatal(err)
			}
			last = seq
		}
		natstest.Eventually(t, "the writes are applied and their changes sent", func() bool {
			_, writes, err := s.db.Applied(ctx)
			q, failed := s.db.Queues(ctx)
			return err == nil && failed == nil && writes == last && q[0].Changes == 0
		})
		if v := check(s, verify.Options{Full: true}); !v.OK {
			t.Fatalf("at first: %q", v.Problems)
		}
		for _, seq := range []uint64{1, 7, last} { // the last one repeats the second
			if err := s.conn.Erase(ctx, s.conn.Naming.Writes(), seq); err != nil {
				t.Fatal(err)
			}
		}
		says(t, check(s, verify.Options{Full: true}), "the log holds every write of the store: broken 2 times (1, 7)")
		if v := check(s, verify.Options{}); !v.OK {
			t.Errorf("without full: %q", v.Problems)
		}
	})
	t.Run("a message that the store has no account of is named, in full", func(t *testing.T) {
		t.Parallel()
		s := serve(t)
		for i := range 3 {
			if _, err := s.conn.PublishMessage(ctx, "alice", "s", fmt.Appendf(nil, `{"content":"tea %d"}`, i)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.conn.PublishMessage(ctx, "alice", "s", []byte(`{"stream":"X","seq":3}`)); err != nil { // a foreign one
			t.Fatal(err)
		}
		if err := s.db.ApplyMessages(ctx, 0, 4, nil); err != nil { // the position moves, the messages do not come
			t.Fatal(err)
		}
		says(t, check(s, verify.Options{Full: true}), "the store accounts for every message of the log: broken 3 times (1, 2, 3)")
	})
	t.Run("a forgotten message is missed in neither", func(t *testing.T) {
		t.Parallel()
		s := serve(t)
		s.consolidates()
		s.publishes(5)
		var gone wire.ForgetReply
		if err := s.ask("mem.alice.forget", `{"id":"p1","wait":"10s"}`, &gone); err != nil || gone.Messages != 1 {
			t.Fatalf("forget answered %+v, %v", gone, err)
		}
		// The erasure from the log is pending first, and done afterwards.
		if v := check(s, verify.Options{Full: true, Patience: 30 * time.Second}); !v.OK {
			t.Errorf("before the erasure: %q", v.Problems)
		}
		if err := s.conn.Erase(ctx, s.conn.Naming.Messages(), 2); err != nil {
			t.Fatal(err)
		}
		if v := check(s, verify.Options{Full: true, Patience: 30 * time.Second}); !v.OK {
			t.Errorf("after the erasure: %q", v.Problems)
		}
		if err := s.ask("mem.admin.erase", `{"bank":"alice","wait":"10s"}`, nil); err != nil {
			t.Fatal(err)
		}
		if v := check(s, verify.Options{Full: true, Patience: 30 * time.Second}); !v.OK {
			t.Errorf("after the bank was erased, and the log not yet: %q", v.Problems)
		}
	})
	t.Run("a store that is ahead of its log is named", func(t *testing.T) {
		t.Parallel()
		s := serve(t)
		if err := s.db.ApplyMessages(ctx, 0, 9, nil); err != nil {
			t.Fatal(err)
		}
		says(t, check(s, verify.Options{}), "MEM_MESSAGES ends at 0, the store stands at 9")
	})
	t.Run("queues that nobody works on are named, unless nobody is meant to", func(t *testing.T) {
		t.Parallel()
		s := serve(t)
		s.say(memory.Message{ID: "m1", Content: "tea"}) // in the store alone, with its change
		v := check(s, verify.Options{})
		if !strings.Contains(strings.Join(v.Problems, "\n"), "1 changes wait") {
			t.Errorf("problems are %q", v.Problems)
		}
		v = check(s, verify.Options{Stopped: true})
		if strings.Contains(strings.Join(v.Problems, "\n"), "wait") {
			t.Errorf("on a stopped store problems are %q", v.Problems)
		}
	})
}
