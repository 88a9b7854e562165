package events_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func newPublisher(t testing.TB, c *events.Conn) *events.Publisher {
	t.Helper()
	p, err := events.NewPublisher(events.DefaultPublisherConfig(), c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPublisher(t *testing.T) {
	t.Parallel()

	t.Run("stores a message as it was given, with an id and no Nats-Msg-Id", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		p := newPublisher(t, c)
		in := memory.Message{Role: memory.RoleUser, Speaker: "Alice", Content: "I moved to Lisbon in May.", Metadata: map[string]any{"channel": "general"}, Extra: map[string]json.RawMessage{"mood": json.RawMessage(`"good"`), "content": json.RawMessage(`"not this"`)}}
		seq, err := p.Publish(t.Context(), "!room:x", "s", in)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Messages(t.Context(), []uint64{seq})
		if err != nil {
			t.Fatal(err)
		}
		if h := got[seq].Header.Get("Nats-Msg-Id"); h != "" {
			t.Errorf("it has the Nats-Msg-Id %s", h)
		}
		m, err := got[seq].Message()
		if err != nil || m.ID == "" || strings.HasPrefix(string(m.ID), "seq:") {
			t.Fatalf("%+v, %v", m, err)
		}
		if m.Content != in.Content || m.Bank != "!room:x" || m.Session != "s" || cmp.Diff(m.Extra, map[string]json.RawMessage{"mood": json.RawMessage(`"good"`)}) != "" {
			t.Errorf("%+v", m)
		}
	})

	t.Run("checks before it publishes", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		p := newPublisher(t, c)
		for _, bad := range []struct {
			bank    memory.BankID
			session memory.SessionID
			m       memory.Message
			want    error
		}{
			{"alice", "s", memory.Message{}, memory.ErrInvalid},
			{"admin", "s", memory.Message{Content: "x"}, memory.ErrInvalid},
			{"", "s", memory.Message{Content: "x"}, memory.ErrInvalid},
			{"alice", "", memory.Message{Content: "x"}, memory.ErrInvalid},
			{"alice", "s", memory.Message{Content: "x", ID: "seq:1"}, memory.ErrInvalid},
			{"alice", "s", memory.Message{Content: "x", Role: "pope"}, memory.ErrInvalid},
			{"alice", "s", memory.Message{Content: "x", Metadata: map[string]any{"f": func() {}}}, memory.ErrInvalid},
			{"alice", "s", memory.Message{Content: strings.Repeat("x", 2<<20)}, memory.ErrTooLarge},
		} {
			if _, err := p.Publish(t.Context(), bad.bank, bad.session, bad.m); !errors.Is(err, bad.want) {
				t.Errorf("%q %q: %v", bad.bank, bad.session, err)
			}
			if err := p.PublishAsync(t.Context(), bad.bank, bad.session, bad.m, nil); !errors.Is(err, bad.want) {
				t.Errorf("%q %q: %v", bad.bank, bad.session, err)
			}
		}
		if _, err := p.Flush(t.Context(), "admin", "s"); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("flush: %v", err)
		}
		if last, err := c.LastSeq(t.Context(), c.Naming.Messages()); last != 0 || err != nil {
			t.Errorf("%d, %v", last, err)
		}
	})

	t.Run("imports in the order of the calls, bounded in flight", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		p := newPublisher(t, c)
		const n = 3000
		var settled atomic.Int64
		for i := range n {
			if err := p.PublishAsync(t.Context(), "alice", "s", memory.Message{ID: memory.MessageID(fmt.Sprint("m", i)), Content: "x"}, func(seq uint64, err error) {
				if err != nil || seq != uint64(i+1) {
					t.Errorf("message %d: %d, %v", i, seq, err)
				}
				settled.Add(1)
			}); err != nil {
				t.Fatal(err)
			}
		}
		p.Wait()
		if settled.Load() != n {
			t.Errorf("%d settled", settled.Load())
		}
	})

	t.Run("publishes again what was called a duplicate, or was not taken in time", func(t *testing.T) {
		t.Parallel()
		s := natstest.StartServer(t)
		c := s.Connect(t)
		// A stream that is not there answers nothing; a responder in its place says duplicate, twice.
		var asked atomic.Int64
		sub, err := c.NC.Subscribe("mem.*.message.*", func(m *nats.Msg) {
			if asked.Add(1) < 3 {
				_ = m.Respond([]byte(`{"stream":"MEM_MESSAGES","seq":5,"duplicate":true}`))
				return
			}
			_ = m.Respond([]byte(`{"stream":"MEM_MESSAGES","seq":9}`))
		})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = sub.Unsubscribe() }()
		p := newPublisher(t, c)
		if seq, err := p.Publish(t.Context(), "alice", "s", memory.Message{Content: "x"}); seq != 9 || err != nil {
			t.Errorf("%d, %v", seq, err)
		}
		asked.Store(0)
		if err := p.PublishAsync(t.Context(), "alice", "s", memory.Message{Content: "x"}, func(seq uint64, err error) {
			if seq != 9 || err != nil {
				t.Errorf("%d, %v", seq, err)
			}
		}); err != nil {
			t.Error(err)
		}
		p.Wait()
	})

	t.Run("gives up when nobody takes it in time", func(t *testing.T) {
		t.Parallel()
		c := natstest.StartServer(t).Connect(t) // no streams
		cfg := events.DefaultPublisherConfig()
		cfg.Patience = 200 * time.Millisecond
		p, err := events.NewPublisher(cfg, c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Publish(t.Context(), "alice", "s", memory.Message{Content: "x"}); !errors.Is(err, memory.ErrUnavailable) {
			t.Errorf("%v", err)
		}
		if _, err := events.NewPublisher(events.PublisherConfig{}, c); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%v", err)
		}
	})
}

func TestWrites(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	w := memory.Write{Bank: "alice", Kind: memory.WriteConsolidate, Op: "op1", Consolidate: &memory.ConsolidateRequest{}}
	first, err := c.AppendWrite(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := c.AppendWrite(t.Context(), w); again != first || err != nil {
		t.Errorf("the same op is %d, %v; want %d", again, err, first)
	}
	other := w
	other.Bank = "bob"
	if seq, err := c.AppendWrite(t.Context(), other); seq == first || err != nil {
		t.Errorf("the same op of another bank is %d, %v", seq, err)
	}
	e, err := c.EventAt(t.Context(), c.Naming.Writes(), first)
	if err != nil {
		t.Fatal(err)
	}
	got, err := e.Write()
	if err != nil || got.Bank != "alice" || got.Kind != memory.WriteConsolidate || got.Op != "op1" || got.Seq != first || got.Time.IsZero() {
		t.Errorf("%+v, %v", got, err)
	}
	if e.What != "consolidate" || e.Kind != "write" {
		t.Errorf("%+v", e)
	}
	// Appended anew it is another event, once.
	anew, err := c.AppendWrite(t.Context(), got)
	if err != nil || anew == first {
		t.Errorf("anew %d, %v", anew, err)
	}
	if again, err := c.AppendWrite(t.Context(), got); again != anew || err != nil {
		t.Errorf("anew again %d, %v; want %d", again, err, anew)
	}
	if last, err := c.LastWrite(t.Context(), "alice"); last != anew || err != nil {
		t.Errorf("the last write is %d, %v", last, err)
	}
	if last, err := c.LastWrite(t.Context(), "nobody"); last != 0 || err != nil {
		t.Errorf("nobody's last write is %d, %v", last, err)
	}
	if _, err := c.AppendWrite(t.Context(), memory.Write{Bank: "alice"}); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("without an op: %v", err)
	}

	ch := memory.Change{ID: "e_1", What: memory.ChangeFact, Op: memory.OutcomeAdded, Record: "f_1"}
	for range 2 {
		if err := c.PublishChange(t.Context(), "alice", ch); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := c.Scan(t.Context(), c.Naming.Changes(), []string{c.Naming.BankKind("alice", events.KindChange)}, 0, func(e events.Event) error {
		if e.What != "fact" || e.Bank != "alice" {
			t.Errorf("%+v", e)
		}
		return nil
	}); n != 1 || err != nil {
		t.Errorf("a change that was sent twice is there %d times, %v", n, err)
	}
}

func TestDeadLetters(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	bury := func(bank, stage string, seq uint64, subject string, payload []byte) {
		t.Helper()
		d := events.DeadLetter{Stage: stage, Bank: bank, Stream: "MEM_X", Seq: seq, Subject: subject, Payload: payload, Reason: "because", First: time.Unix(1, 0).UTC(), Last: time.Unix(2, 0).UTC()}
		for range 2 { // a repeat is one
			if err := c.PublishDead(t.Context(), d); err != nil {
				t.Fatal(err)
			}
		}
	}
	bury("alice", "ingest", 1, "mem.alice.message.s", []byte(`{"content":"now fine"}`))
	bury("alice", "extract", 2, "mem.alice.window.s", []byte(`{"new":[{"seq":4}],"context":[3]}`))
	bury("bob", "extract", 3, "mem.bob.window.s", []byte(`{}`))
	bury("%61", "ingest", 4, "mem.%61.message.s", []byte{0xff, 0x00})
	bury("carol", "ingest", 5, "nowhere", make([]byte, 1<<20))

	list := func(f events.DeadFilter) (ids []uint64) {
		t.Helper()
		l, err := c.DeadLetters(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range l {
			ids = append(ids, d.ID)
		}
		return ids
	}
	for _, q := range []struct {
		f    events.DeadFilter
		want []uint64
	}{
		{events.DeadFilter{}, []uint64{1, 2, 3, 4, 5}},
		{events.DeadFilter{Bank: "alice"}, []uint64{1, 2}},
		{events.DeadFilter{Stage: "extract"}, []uint64{2, 3}},
		{events.DeadFilter{Bank: "%61"}, []uint64{4}},
		{events.DeadFilter{After: 2, Limit: 2}, []uint64{3, 4}},
		{events.DeadFilter{Bank: "nobody"}, nil},
	} {
		if d := cmp.Diff(q.want, list(q.f)); d != "" {
			t.Errorf("%+v: %s", q.f, d)
		}
	}
	d, err := c.DeadLetter(t.Context(), 4)
	if err != nil || d.Bank != "%61" || string(d.Payload) != "\xff\x00" || d.Reason != "because" || !d.Last.Equal(time.Unix(2, 0)) {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err := c.DeadLetter(t.Context(), 2); err != nil || cmp.Diff([]uint64{3, 4}, d.Messages(c.Naming)) != "" {
		t.Errorf("the messages %v, %v", d.Messages(c.Naming), err)
	}
	if d, err := c.DeadLetter(t.Context(), 5); err != nil || !strings.Contains(d.Reason, "cut") {
		t.Errorf("a large one: %s, %v", d.Reason, err)
	}
	if seq, err := c.RetryDead(t.Context(), 1); seq != 1 || err != nil {
		t.Errorf("sent again as %d, %v", seq, err)
	}
	if n := pending(t, c); n != 0 {
		t.Errorf("%d windows wait", n)
	}
	if _, err := c.RetryDead(t.Context(), 1); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("once more: %v", err)
	}
	if n, err := c.RetryAllDead(t.Context(), events.DeadFilter{}); n != 3 || err == nil {
		t.Errorf("sent %d again, %v", n, err)
	}
	if n, err := c.DropAllDead(t.Context(), events.DeadFilter{}); n != 1 || err != nil {
		t.Errorf("dropped %d, %v", n, err)
	}
	if err := c.DropDead(t.Context(), 5); err != nil {
		t.Errorf("dropped once more: %v", err)
	}
	if l := list(events.DeadFilter{}); l != nil {
		t.Errorf("left %v", l)
	}
}

func TestEraseLeavesNoBytes(t *testing.T) {
	t.Parallel()
	s := natstest.StartServer(t)
	c := s.Connect(t)
	if err := c.Reconcile(t.Context(), events.DefaultStreamOptions()); err != nil {
		t.Fatal(err)
	}
	seq := publish(t, c, "alice", "s", "a secret word")
	publish(t, c, "alice", "s", "an open word")
	if !onDisk(t, s.Dir(), "secret word") {
		t.Fatal("the word is nowhere before it is erased")
	}
	for range 2 {
		if err := c.Erase(t.Context(), c.Naming.Messages(), seq); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Erase(t.Context(), c.Naming.Messages(), 999); err != nil {
		t.Errorf("what was never there: %v", err)
	}
	if _, err := c.EventAt(t.Context(), c.Naming.Messages(), seq); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("%v", err)
	}
	if err := c.Erase(t.Context(), "NOWHERE", 1); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("%v", err)
	}
	if onDisk(t, s.Dir(), "secret word") {
		t.Error("the word is still in the stream's files")
	}
	if !onDisk(t, s.Dir(), "open word") {
		t.Error("another event went with it")
	}
}

func TestADroppedProfileLeavesNoBytes(t *testing.T) {
	t.Parallel()
	s := natstest.StartServer(t)
	c := s.Connect(t)
	if err := c.Reconcile(t.Context(), events.DefaultStreamOptions()); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"first words", "second words", "third words"} {
		if err := c.PutProfile(t.Context(), memory.Bank{ID: "alice", Instructions: text}); err != nil {
			t.Fatal(err)
		}
	}
	if onDisk(t, s.Dir(), "first words") || onDisk(t, s.Dir(), "second words") || !onDisk(t, s.Dir(), "third words") {
		t.Error("not the newest profile alone is there")
	}
	if err := c.DropProfile(t.Context(), "alice"); err != nil {
		t.Fatal(err)
	}
	if onDisk(t, s.Dir(), "third words") {
		t.Error("the profile is still there")
	}
}

// onDisk reports whether a word is in any file below dir.
func onDisk(t *testing.T, dir, word string) bool {
	t.Helper()
	found := false
	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // a file that was just replaced
		}
		data, err := os.ReadFile(path)
		found = found || err == nil && bytes.Contains(data, []byte(word))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return found
}

func TestProfilesAndBuckets(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	for _, bank := range []memory.BankID{"!room:x.org", "日本", "a=b"} {
		if b, ok, err := c.Profile(t.Context(), bank); ok || err != nil || b.ID != bank || b.Disposition != memory.DefaultDisposition() {
			t.Errorf("before: %+v %v %v", b, ok, err)
		}
		if err := c.PutProfile(t.Context(), memory.Bank{ID: bank, Instructions: "be brief", Version: 7}); err != nil {
			t.Fatal(err)
		}
		if b, ok, err := c.Profile(t.Context(), bank); !ok || err != nil || b.ID != bank || b.Instructions != "be brief" || b.Version != 7 {
			t.Errorf("after: %+v %v %v", b, ok, err)
		}
		kv, err := c.JS.KeyValue(t.Context(), c.Naming.BankBucket()) // as any other program reads it
		if err != nil {
			t.Fatal(err)
		}
		if e, err := kv.Get(t.Context(), events.Key(string(bank))); err != nil || !strings.Contains(string(e.Value()), "be brief") {
			t.Errorf("by the key-value API: %v", err)
		}
		for range 2 {
			if err := c.DropProfile(t.Context(), bank); err != nil {
				t.Fatal(err)
			}
		}
		if _, ok, err := c.Profile(t.Context(), bank); ok || err != nil {
			t.Errorf("dropped: %v %v", ok, err)
		}
	}

	b := c.Bucket(c.Naming.IngestBucket())
	rec := events.Record{Key: "a.b", Value: []byte("1")}
	rev, err := b.Put(t.Context(), rec)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Put(t.Context(), rec); !errors.Is(err, memory.ErrConflict) {
		t.Errorf("a second first write: %v", err)
	}
	rec.Revision = rev
	all := []events.Record{rec, {Key: "a.c", Value: []byte{}}, {Key: "x", Value: []byte("3")}}
	if err := b.PutAll(t.Context(), all); err != nil || all[0].Revision <= rev || all[1].Revision == 0 {
		t.Errorf("%+v, %v", all, err)
	}
	if err := b.PutAll(t.Context(), []events.Record{rec}); !errors.Is(err, memory.ErrConflict) {
		t.Errorf("over an old revision: %v", err)
	}
	var keys []string
	if err := b.Each(t.Context(), "a.>", func(r events.Record) error { keys = append(keys, r.Key); return nil }); err != nil || cmp.Diff([]string{"a.b", "a.c"}, keys) != "" {
		t.Errorf("%v, %v", keys, err)
	}
	if err := b.Delete(t.Context(), rec); !errors.Is(err, memory.ErrConflict) {
		t.Errorf("deleting an old revision: %v", err)
	}
	if err := b.Delete(t.Context(), all[0]); err != nil {
		t.Error(err)
	}
	gone, err := b.Get(t.Context(), "a.b")
	if err != nil || gone.Value != nil {
		t.Errorf("%+v, %v", gone, err)
	}
	gone.Value = []byte("again")
	if _, err := b.Put(t.Context(), gone); err != nil {
		t.Errorf("after a delete: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Get(ctx, "a.b"); err == nil {
		t.Error("it read with a context that had ended")
	}
}
