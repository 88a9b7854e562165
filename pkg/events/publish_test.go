package events_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
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

	t.Run("publishes again after a false duplicate or a timeout", func(t *testing.T) {
		t.Parallel()
		s := natstest.StartServer(t)
		c := s.Connect(t)
		// A missing stream sends no answer; a responder in its place answers duplicate, twice.
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

	t.Run("fails when nobody acknowledges it in time", func(t *testing.T) {
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

func TestWhatIsNotAcknowledgedIsPublishedAgain(t *testing.T) {
	t.Parallel()
	const bank, session = "b", "s"
	for name, publish := range map[string]func(context.Context, *events.Conn) (uint64, error){
		"message with an id": func(ctx context.Context, c *events.Conn) (uint64, error) {
			return c.PublishIdentified(ctx, bank, session, []byte(`{"id":"m1","content":"I moved to Lisbon."}`))
		},
		"flush": func(ctx context.Context, c *events.Conn) (uint64, error) {
			return c.PublishFlush(ctx, bank, session, memory.Flush{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := natstest.Start(t)
			stored := acknowledges(t, c, false)
			ctx, cancel := context.WithTimeout(t.Context(), natstest.Patience)
			defer cancel()
			type result struct {
				seq uint64
				err error
			}
			done := make(chan result, 1)
			go func() {
				seq, err := publish(ctx, c)
				done <- result{seq, err}
			}()
			natstest.Eventually(t, "it is stored", func() bool { return stored() > 0 })
			acknowledges(t, c, true)
			r := <-done
			if r.err != nil || r.seq < 2 || r.seq != stored() {
				t.Errorf("the acknowledged one has sequence %d of %d: %v", r.seq, stored(), r.err)
			}
		})
	}

	t.Run("a message without an id is not", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		stored := acknowledges(t, c, false)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // more than it is waited for one acknowledgement
		defer cancel()
		if _, err := c.PublishMessage(ctx, bank, session, []byte(`{"content":"I moved to Lisbon."}`)); err == nil || ctx.Err() == nil {
			t.Errorf("it came back before its time: %v", err)
		}
		if n := stored(); n != 1 {
			t.Errorf("it is stored %d times", n)
		}
	})
}

// acknowledges makes the stream of messages acknowledge what it stores, or not, and returns a function that says what it stored last.
func acknowledges(t *testing.T, c *events.Conn, yes bool) (stored func() uint64) {
	t.Helper()
	s, err := c.JS.Stream(t.Context(), c.Naming.Messages())
	if err != nil {
		t.Fatal(err)
	}
	cfg := s.CachedInfo().Config
	cfg.NoAck = !yes
	if s, err = c.JS.UpdateStream(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	return func() uint64 {
		info, err := s.Info(t.Context())
		if err != nil {
			t.Error(err)
			return 0
		}
		return info.State.LastSeq
	}
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
	// Appended again, it is one new event.
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
		if err := c.PublishChanges(t.Context(), []events.BankChange{{Bank: "alice", Change: ch}}); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := ordered.Scan(t.Context(), c, c.Naming.Changes(), []string{c.Naming.BankKind("alice", events.KindChange)}, 0, func(e events.Event) error {
		if e.What != "fact" || e.Bank != "alice" {
			t.Errorf("%+v", e)
		}
		return nil
	}); n != 1 || err != nil {
		t.Errorf("a change that was sent twice is there %d times, %v", n, err)
	}
}

func TestEraseLeavesNoBytes(t *testing.T) {
	t.Parallel()
	s := natstest.StartServer(t)
	c := s.Connect(t)
	if err := c.Reconcile(t.Context(), events.DefaultStreamOptions()); err != nil {
		t.Fatal(err)
	}
	seq := natstest.Publish(t, c, "alice", "s", "a secret word")
	natstest.Publish(t, c, "alice", "s", "an open word")
	if !natstest.OnDisk(t, s.Dir(), "secret word") {
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
	if natstest.OnDisk(t, s.Dir(), "secret word") {
		t.Error("the word is still in the stream's files")
	}
	if !natstest.OnDisk(t, s.Dir(), "open word") {
		t.Error("another event went with it")
	}
}

func TestAWriteThatIsTooLargeGoesWithoutItsLastVectors(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	w := memory.Write{Bank: "alice", Kind: memory.WriteWindow, Op: "w_1"}
	for i := range 100 {
		v := make(memory.Vector, 3072)
		v[i] = 1
		w.Facts = append(w.Facts, memory.Fact{ID: memory.FactID(fmt.Sprintf("f_%d", i)), Text: fmt.Sprintf("Fact %d.", i), Model: "large", Vector: v})
	}
	seq, err := c.AppendWrite(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	e, err := c.EventAt(t.Context(), "MEM_WRITES", seq)
	if err != nil {
		t.Fatal(err)
	}
	got, err := e.Write()
	if err != nil || len(got.Facts) != 100 {
		t.Fatalf("%d facts, %v", len(got.Facts), err)
	}
	with := 0
	for i, f := range got.Facts {
		if f.Text != w.Facts[i].Text || (f.Vector == nil) != (f.Model == "") || f.Vector != nil && (with != i || f.Vector[i] != 1) {
			t.Errorf("fact %d is %q of model %q with a vector of %d", i, f.Text, f.Model, len(f.Vector))
		}
		if f.Vector != nil {
			with++
		}
	}
	if with < 60 || with > 64 {
		t.Errorf("%d of 100 facts have a vector; 64 would fit without anything else", with)
	}
	if w.Facts[99].Vector == nil {
		t.Error("the facts of the caller lost their vectors")
	}
	w.Op, w.Facts[0].Text = "w_2", strings.Repeat("long ", 300_000)
	if _, err := c.AppendWrite(t.Context(), w); !errors.Is(err, memory.ErrTooLarge) {
		t.Errorf("a write that is too large without vectors: %v", err)
	}
}
