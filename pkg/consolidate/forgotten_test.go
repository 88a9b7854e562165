package consolidate_test

import (
	"path/filepath"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite"
)

func (s *stage) conservation(db *sqlite.DB) (c memory.Conservation) {
	s.Helper()
	err := db.Read(s.Context(), "alice", func(r query.Reader) (err error) { c, err = r.Conservation(); return err })
	if err != nil {
		s.Fatal(err)
	}
	return c
}

// TestAForgottenIDStaysUsed publishes a forgotten id again: while the forget waits in a backlog, and after it.
func TestAForgottenIDStaysUsed(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	one := s.say("m1", "I own a boat.")
	s.facts(one, "m1", "Alice owns a boat.")
	s.append(memory.Write{Kind: memory.WriteForget, Op: "forget", Upto: one, Forget: &memory.ForgetRequest{ID: "m1"}})
	s.say("m1", "I own a boat.") // before the forget is applied
	other := s.say("m2", "I own a lathe.")
	early := s.append(memory.Write{Kind: memory.WriteForget, Op: "too early", Upto: one, Forget: &memory.ForgetRequest{ID: "m2"}})
	stop := s.run()
	s.applied(early)
	late := s.say("m1", "I own a boat.") // after it
	s.applied(s.append(memory.Write{Kind: memory.WriteRetain, Op: "wait", Upto: late, Facts: []memory.Fact{}}))
	s.carriedOut()
	stop()
	want := memory.Conservation{Published: 4, Forgotten: 3, Pending: 1}
	equal(t, "the messages", s.conservation(s.db), want)
	var left []uint64
	for _, e := range s.read(s.conn.Naming.Messages()) {
		left = append(left, e.Seq)
	}
	if len(left) != 1 || left[0] != other {
		t.Errorf("the log holds the messages %v; want %d, which was published after the forget", left, other)
	}
	again := openStore(t, filepath.Join(t.TempDir(), "again.db"))
	if err := s.rebuilder(again).Rebuild(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	equal(t, "the messages rebuilt", s.conservation(again), want)
	found, err := again.Verify(t.Context(), true)
	if err != nil || !found.OK {
		t.Errorf("verify finds %q, %v", found.Problems, err)
	}
	a, err1 := s.db.Outcome(t.Context(), "alice", "forget")
	b, err2 := again.Outcome(t.Context(), "alice", "forget")
	if err1 != nil || err2 != nil || a.Receipt == nil || b.Receipt == nil || *a.Receipt != *b.Receipt || a.Receipt.Messages != 1 {
		t.Errorf("the receipt is %+v, rebuilt %+v", a, b)
	}
}
