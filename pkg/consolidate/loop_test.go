package consolidate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/consolidatetest"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/rebuild"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/deadletter"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite"
	"github.com/eunoe-memory/eunoe/pkg/text/secret"
)

// stage is a consolidator over a real log and a real store.
type stage struct {
	*testing.T
	conn *events.Conn
	db   *sqlite.DB
	path string
	ops  int
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{T: t, conn: natstest.Start(t), path: filepath.Join(t.TempDir(), "eunoe.db")}
	s.db = openStore(t, s.path)
	return s
}

func openStore(t *testing.T, path string) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(sqlite.DefaultConfig(path))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func (s *stage) consolidator(conn *events.Conn, db *sqlite.DB) *consolidate.Consolidator {
	s.Helper()
	redactor, err := secret.NewRedactor(nil)
	if err != nil {
		s.Fatal(err)
	}
	c, err := consolidate.New(settings(), consolidate.Deps{Conn: conn, Store: db, Redactor: redactor, Log: zerolog.Nop()})
	if err != nil {
		s.Fatal(err)
	}
	return c
}

// rebuilder rebuilds into a store from the log of the stage.
func (s *stage) rebuilder(db *sqlite.DB) *rebuild.Rebuilder {
	s.Helper()
	return newRebuilder(s.T, settings(), consolidate.Deps{Conn: s.conn, Store: db, Log: zerolog.Nop()})
}

func newRebuilder(t *testing.T, cfg consolidate.Config, deps consolidate.Deps) *rebuild.Rebuilder {
	t.Helper()
	var err error
	if deps.Redactor, err = secret.NewRedactor(nil); err != nil {
		t.Fatal(err)
	}
	r, err := rebuild.New(cfg, deps)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// run starts a consolidator and returns a function that stops it and waits for its end.
func (s *stage) run() (stop func()) {
	s.Helper()
	return s.runAs(s.consolidator(natstest.Another(s.T, s.conn), s.db))
}

func (s *stage) runAs(c *consolidate.Consolidator) (stop func()) {
	s.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			s.Errorf("the consolidator ended: %v", err)
		}
	}
	s.Cleanup(stop)
	return stop
}

func (s *stage) say(id, content string) uint64 {
	s.Helper()
	body, _ := json.Marshal(memory.Message{ID: memory.MessageID(id), Speaker: "Alice", Content: content, Time: at(s.ops)})
	seq, err := s.conn.PublishMessage(s.Context(), "alice", "s1", body)
	if err != nil {
		s.Fatal(err)
	}
	return seq
}

// facts appends the end of the window of one message, with these statements.
func (s *stage) facts(seq uint64, id string, statements ...string) uint64 {
	s.Helper()
	s.ops++
	w := memory.Window{ID: memory.NewWindowID("alice", "s1", seq, seq, 0), Trigger: memory.TriggerFlush, New: []memory.WindowMessage{{Seq: seq}}}
	var facts []memory.Fact
	for _, text := range statements {
		f := consolidatetest.Fact(s.T, "Alice", text)
		f.ID = memory.NewFactID("alice", text, f.Kind)
		f.Sources = []memory.Source{{Message: memory.MessageID(id), Seq: seq, Said: at(s.ops), Start: at(s.ops)}}
		facts = append(facts, f)
	}
	return s.append(memory.Write{Kind: memory.WriteWindow, Op: string(w.ID), Upto: seq, Facts: facts,
		Window: &memory.WindowEnd{Window: w, SessionID: "s1", Outcome: memory.WindowFacts}})
}

// retained appends a statement that somebody retains, and returns the event.
func (s *stage) retained(text string) events.Event {
	s.Helper()
	f := consolidatetest.Fact(s.T, "Alice", text)
	f.ID = memory.NewFactID("alice", text, f.Kind)
	write, err := s.conn.EventAt(s.Context(), s.conn.Naming.Writes(), s.append(memory.Write{Kind: memory.WriteRetain, Op: "r", Facts: []memory.Fact{f}}))
	if err != nil {
		s.Fatal(err)
	}
	return write
}

func (s *stage) append(w memory.Write) uint64 {
	s.Helper()
	w.Bank = "alice"
	seq, err := s.conn.AppendWrite(s.Context(), w)
	if err != nil {
		s.Fatal(err)
	}
	return seq
}

// applied waits until the store stands at a write.
func (s *stage) applied(write uint64) {
	s.Helper()
	natstest.Eventually(s.T, fmt.Sprintf("write %d is applied", write), func() bool {
		_, writes, err := s.db.Applied(s.Context())
		return err == nil && writes >= write
	})
}

func (s *stage) has(db *sqlite.DB, text string) bool {
	s.Helper()
	id := memory.NewFactID("alice", text, memory.KindWorld)
	known, err := db.KnownFacts(s.Context(), []memory.FactID{id})
	if err != nil {
		s.Fatal(err)
	}
	return known[id]
}

func TestConsolidator(t *testing.T) {
	t.Parallel()
	t.Run("a write waits for its messages, and what became of it is announced", func(t *testing.T) {
		t.Parallel()
		s := newStage(t)
		heard := make(chan *nats.Msg, 64)
		if _, err := s.conn.NC.ChanSubscribe("mem.alice.change.fact", heard); err != nil {
			t.Fatal(err)
		}
		seq := s.say("m1", "I own a boat.")
		write := s.facts(seq, "m1", "Alice owns a boat.")
		s.run()
		s.applied(write)
		var c memory.Change
		if err := json.Unmarshal((<-heard).Data, &c); err != nil {
			t.Fatal(err)
		}
		want := memory.NewFactID("alice", "Alice owns a boat.", memory.KindWorld)
		if c.Record != string(want) || c.Op != memory.OutcomeAdded || c.Write != write || c.ID == "" {
			t.Errorf("announced %+v", c)
		}
	})
	t.Run("a write that cannot be read or never applied is recorded dead and stepped over", func(t *testing.T) {
		t.Parallel()
		s := newStage(t)
		s.run()
		for _, body := range []string{`{"op":`, `{"op":"x"}`, `{"op":"y","upto":999999,"window":{"new":[{"seq":1}]}}`} {
			if _, err := s.conn.JS.Publish(t.Context(), s.conn.Naming.WriteSubject("alice", memory.WriteWindow), []byte(body)); err != nil {
				t.Fatal(err)
			}
		}
		seq := s.say("m1", "I own a boat.")
		s.applied(s.facts(seq, "m1", "Alice owns a boat."))
		letters, err := deadletter.List(t.Context(), s.conn, deadletter.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "dead letters", len(letters), 3)
		if !s.has(s.db, "Alice owns a boat.") {
			t.Error("the write behind the dead ones was not applied")
		}
	})
	t.Run("messages of a held bank, of which more are always ready, do not keep a write waiting", func(t *testing.T) {
		t.Parallel()
		s := newStage(t)
		const text = "Alice keeps bees."
		if before, err := s.consolidator(s.conn, s.db).BesideHeld(t.Context(), s.retained(text), 300); before > 2 || err != nil || !s.has(s.db, text) {
			t.Errorf("%d batches went before the write: %v", before, err)
		}
	})
	t.Run("a rebuild restores the store byte for byte in its dump", func(t *testing.T) {
		t.Parallel()
		s := newStage(t)
		stop := s.run()
		var last uint64
		for i, text := range []string{"Alice lives in Paris.", "Alice eats raw fish.", "Alice moved to London.", "Alice does not eat raw fish.",
			"Alice paints old boats in the harbour.", "Alice painted old boats in the harbour.", "Alice paints two old boats in the harbour.", "Alice lives in Paris."} {
			id := fmt.Sprintf("m%d", i)
			s.facts(s.say(id, text), id, text)
		}
		s.append(memory.Write{Kind: memory.WriteObserve, Op: "look", Observe: &memory.ObserveRequest{}})
		last = s.append(memory.Write{Kind: memory.WriteConsolidate, Op: "tidy", Consolidate: &memory.ConsolidateRequest{Force: true}})
		s.applied(last)
		stop()
		again := openStore(t, filepath.Join(t.TempDir(), "again.db"))
		if err := s.rebuilder(again).Rebuild(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		var live, rebuilt bytes.Buffer
		if err := errors.Join(s.db.Dump(t.Context(), &live), again.Dump(t.Context(), &rebuilt)); err != nil {
			t.Fatal(err)
		}
		if live.Len() == 0 || !bytes.Equal(live.Bytes(), rebuilt.Bytes()) {
			t.Errorf("live:\n%s\nrebuilt:\n%s", live.String(), rebuilt.String())
		}
	})
}

func TestConformance(t *testing.T) {
	t.Parallel()
	t.Run("a write that comes again changes nothing", func(t *testing.T) {
		t.Parallel()
		s := newStage(t)
		s.run()
		seq := s.say("m1", "I own a boat.")
		s.applied(s.facts(seq, "m1", "Alice owns a boat."))
		before, err := s.db.Counts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		body, _ := json.Marshal(memory.Write{Op: string(memory.NewWindowID("alice", "s1", seq, seq, 0)), Upto: seq,
			Facts:  []memory.Fact{consolidatetest.Fact(t, "Alice", "Alice owns a plane.")},
			Window: &memory.WindowEnd{Window: memory.Window{ID: "w_other", New: []memory.WindowMessage{{Seq: seq}}}, SessionID: "s1", Outcome: memory.WindowFacts}})
		ack, err := s.conn.JS.Publish(t.Context(), s.conn.Naming.WriteSubject("alice", memory.WriteWindow), body)
		if err != nil {
			t.Fatal(err)
		}
		s.applied(ack.Sequence)
		after, err := s.db.Counts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "facts", after["facts"], before["facts"])
		equal(t, "windows", after["windows"], before["windows"])
	})
	t.Run("one of two is active, and the other carries on where it ended", func(t *testing.T) {
		t.Parallel()
		s := newStage(t)
		stop := s.run()
		s.run()
		var last uint64
		for i := range 40 {
			id := fmt.Sprintf("m%d", i)
			last = s.facts(s.say(id, "words"), id, fmt.Sprintf("Alice owns item q%dx.", i))
			if i == 15 {
				s.applied(1)
				stop()
			}
		}
		s.applied(last)
		counts, err := s.db.Counts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "facts", counts["facts"], 40)
		equal(t, "windows", counts["windows"], 40)
	})
	t.Run("forgetting erases the log, and a rebuild has the same facts without the forgotten", func(t *testing.T) {
		t.Parallel()
		s := newStage(t)
		stop := s.run()
		one, two := s.say("m1", "I own a boat and sail to Dover."), s.say("m2", "Dover has cliffs.")
		s.facts(one, "m1", "Alice owns a boat.", "Alice sails to Dover.")
		s.facts(two, "m2", "Dover has chalk cliffs.", "Alice lives in Paris.")
		three := s.say("m3", "I moved to London.")
		s.facts(three, "m3", "Alice moved to London.")
		f := consolidatetest.Fact(t, "Alice", "Alice keeps bees.")
		f.ID = memory.NewFactID("alice", f.Text, f.Kind)
		s.append(memory.Write{Kind: memory.WriteRetain, Op: "by-hand", Facts: []memory.Fact{f}})
		s.applied(s.append(memory.Write{Kind: memory.WriteForget, Op: "forget-boat", Upto: three,
			Forget: &memory.ForgetRequest{ID: string(memory.NewFactID("alice", "Alice owns a boat.", memory.KindWorld))}}))
		natstest.Eventually(t, "the erasures are carried out", func() bool {
			list, err := s.db.Erasures(t.Context(), "", 10)
			return err == nil && len(list) == 0
		})
		if _, err := s.conn.EventAt(t.Context(), s.conn.Naming.Messages(), one); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("the message is still in the log: %v", err)
		}
		end, err := s.conn.LastSeq(t.Context(), s.conn.Naming.Writes())
		if err != nil {
			t.Fatal(err)
		}
		s.applied(end)
		stop()
		again := openStore(t, filepath.Join(t.TempDir(), "again.db"))
		if err := s.rebuilder(again).Rebuild(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		for text, want := range map[string]bool{"Alice owns a boat.": false, "Alice sails to Dover.": false, "Dover has chalk cliffs.": true,
			"Alice lives in Paris.": true, "Alice moved to London.": true, "Alice keeps bees.": true} {
			equal(t, text+" live", s.has(s.db, text), want)
			equal(t, text+" rebuilt", s.has(again, text), want)
		}
	})
}
