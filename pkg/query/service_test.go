package query_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/hashed"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// served is a fixture whose service answers on a real broker and whose store applies the streams.
type served struct {
	*fixture
	conn *events.Conn
	nc   *nats.Conn // a bot's own connection
}

func serve(t *testing.T) *served { return serveWith(t, func(*query.Deps) {}) }

func serveWith(t *testing.T, change func(*query.Deps)) *served {
	t.Helper()
	conn := natstest.Start(t)
	w := newFixtureWith(t, query.DefaultConfig(), func(d *query.Deps) {
		d.Conn, d.Now = conn, time.Now
		change(d)
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.service.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the service stopped with %v", err)
		}
	})
	s := &served{fixture: w, conn: conn, nc: natstest.Another(t, conn).NC}
	select {
	case <-w.service.Ready():
	case err := <-done:
		done <- nil
		t.Fatalf("the service ended before it was ready: %v", err)
	}
	return s
}

// consolidates applies messages and writes from the streams until the test ends.
func (s *served) consolidates() {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if err := s.catchUp(ctx); err != nil && ctx.Err() == nil {
				s.t.Errorf("apply the streams: %v", err)
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	s.t.Cleanup(func() { cancel(); <-done })
}

func (s *served) catchUp(ctx context.Context) error {
	messages, writes, err := s.db.Applied(ctx)
	if err == nil {
		err = s.applyMessages(ctx, messages)
	}
	if err != nil {
		return err
	}
	var ws []memory.Write
	last, err := ordered.Scan(ctx, s.conn, s.conn.Naming.Writes(), nil, writes, func(e events.Event) error {
		w, err := e.Write()
		ws = append(ws, w)
		return err
	})
	if err == nil && last > writes {
		err = s.db.ApplyWrites(ctx, writes, last, ws, planHashed)
	}
	if err != nil {
		return err
	}
	return s.carryOut(ctx)
}

// applyMessages applies the messages of the stream after a sequence.
func (s *served) applyMessages(ctx context.Context, messages uint64) error {
	var list []consolidate.MessageEvent
	last, err := ordered.Scan(ctx, s.conn, s.conn.Naming.Messages(), nil, messages, func(e events.Event) error {
		if m, err := e.Message(); err == nil && strings.Contains(e.Subject, ".message.") {
			list = append(list, consolidate.MessageEvent{Seq: e.Seq, Bank: m.Bank, Session: m.Session, Stored: e.Stored, State: memory.StatePending, Message: &m})
		}
		return nil
	})
	if err == nil && last > messages {
		err = s.db.ApplyMessages(ctx, messages, last, list)
	}
	return err
}

// carryOut drains the queues that commits fill, like a consolidator whose changes nobody receives.
func (s *served) carryOut(ctx context.Context) error {
	changes, err := s.db.Outbox(ctx, 0, 1000)
	if err == nil && len(changes) > 0 {
		err = s.db.Sent(ctx, changes[len(changes)-1].No)
	}
	if err != nil {
		return err
	}
	erasures, err := s.db.Erasures(ctx, "", 1000)
	if err == nil && len(erasures) > 0 {
		var done []int64
		for _, e := range erasures {
			done = append(done, e.No)
		}
		err = s.db.Erased(ctx, done)
	}
	return err
}

// planHashed plans writes with the hashed embedder, which needs no model.
func planHashed(v plan.View, w memory.Write) (memory.Changes, error) {
	cfg := plan.DefaultConfig()
	cfg.Thresholds = hashed.New().Thresholds()
	return plan.Plan(v, w, cfg)
}

// ask sends a request as a bot does and decodes the reply into out; it returns the error of the reply.
func (s *served) ask(subject, body string, out any) error {
	s.t.Helper()
	m, err := s.nc.Request(subject, []byte(body), natstest.Patience)
	if err != nil {
		s.t.Fatalf("%s: %v", subject, err)
	}
	if code := m.Header.Get(micro.ErrorCodeHeader); code != "" {
		var f wire.Fault
		if err := json.Unmarshal(m.Data, &f); err != nil {
			s.t.Fatalf("%s: the error has no body: %s", subject, m.Data)
		}
		return f.Err()
	}
	if out != nil {
		if err := memory.Decode(m.Data, out); err != nil {
			s.t.Fatalf("%s: %v in %s", subject, err, m.Data)
		}
	}
	return nil
}

func TestService(t *testing.T) {
	t.Parallel()
	t.Run("a retained fact is recalled with its write seen", func(t *testing.T) {
		t.Parallel()
		s := serve(t)
		s.consolidates()
		var kept wire.RetainReply
		if err := s.ask("mem.alice.retain", `{"facts":[{"key":"k","text":"Alice is allergic to shellfish.","type":"constraint"}],"wait":"10s"}`, &kept); err != nil {
			t.Fatal(err)
		}
		if len(kept.Results) != 1 || kept.Results[0].Outcome != memory.OutcomeAdded || kept.Write == 0 || kept.Op == "" {
			t.Fatalf("retain answered %+v", kept)
		}
		var found wire.RecallReply
		if err := s.ask("mem.alice.recall", `{"query":"What is Alice allergic to?","after_write":1}`, &found); err != nil {
			t.Fatal(err)
		}
		if !found.Fresh || len(found.Items) != 1 || found.Items[0].Text != "Alice is allergic to shellfish." {
			t.Fatalf("recall answered %+v", found)
		}
	})
	t.Run("a published message is recalled as soon as it is stored", func(t *testing.T) {
		t.Parallel()
		s := serve(t)
		s.consolidates()
		ack, err := s.conn.PublishMessage(context.Background(), "alice", "s1", []byte(`{"content":"I moved to Lisbon in May."}`))
		if err != nil {
			t.Fatal(err)
		}
		var found wire.RecallReply
		body, _ := json.Marshal(map[string]any{"query": "Lisbon", "after": ack, "wait": "10s"})
		if err := s.ask("mem.alice.recall", string(body), &found); err != nil {
			t.Fatal(err)
		}
		if !found.Fresh || len(found.Items) != 1 || found.Seen < ack {
			t.Fatalf("recall answered %+v", found)
		}
		var st wire.Status
		if err := s.ask("mem.alice.status", ``, &st); err != nil {
			t.Fatal(err)
		}
		if st.Settled || st.Messages.Last != ack || st.Conservation.Pending != 1 || len(st.Waiting) != 1 {
			t.Fatalf("status is %+v", st)
		}
	})

	t.Run("status counts a backlog of messages and writes that nobody applies", func(t *testing.T) {
		t.Parallel()
		s := serve(t)
		const n = 150
		for i := range n {
			if _, err := s.conn.PublishMessage(context.Background(), "alice", "s1", []byte(`{"content":"I moved to Lisbon."}`)); err != nil {
				t.Fatal(err)
			}
			if _, err := s.conn.PublishMessage(context.Background(), "bob", "s1", []byte(`{"content":"Me too."}`)); err != nil {
				t.Fatal(err)
			}
			w := memory.Write{Bank: "alice", Kind: memory.WriteBank, Op: fmt.Sprint("op", i), Profile: &memory.BankUpdate{}}
			if _, err := s.conn.AppendWrite(context.Background(), w); err != nil {
				t.Fatal(err)
			}
		}
		s.say(memory.Message{Bank: "alice", Content: "I moved to Lisbon."}) // the first event of the stream
		var st wire.Status
		if err := s.ask("mem.alice.status", ``, &st); err != nil {
			t.Fatal(err)
		}
		if st.Settled || st.Conservation.Published != n || st.Conservation.Pending != n || st.Writes.Pending != n {
			t.Errorf("status is %+v", st)
		}
	})
	t.Run("a mixed batch reports each fact, fills in kind and vector, and a repeat answers the same", func(t *testing.T) {
		t.Parallel()
		s := serve(t)
		s.consolidates()
		const batch = `{"op":"batch-1","wait":"10s","facts":[
			{"key":"a","text":"Alice plays chess."},
			{"key":"b","text":"Alice plays chess."},
			{"key":"c","text":"Bob said so.","sources":["no-such-message"]}]}`
		var first, second wire.RetainReply
		if err := s.ask("mem.alice.retain", batch, &first); err != nil {
			t.Fatal(err)
		}
		outcomes := map[string]memory.Outcome{}
		for _, r := range first.Results {
			outcomes[r.Key] = r.Outcome
		}
		if outcomes["a"] != memory.OutcomeAdded || outcomes["b"] != memory.OutcomeMerged || outcomes["c"] != memory.OutcomeRefused || first.Op != "batch-1" {
			t.Fatalf("retain answered %+v", first)
		}
		if err := s.ask("mem.alice.retain", batch, &second); err != nil || !reflect.DeepEqual(first, second) {
			t.Errorf("the repeat answered %+v, %v", second, err)
		}
		var page wire.Page[memory.Item]
		if err := s.ask("mem.alice.list", `{"record":"fact"}`, &page); err != nil {
			t.Fatal(err)
		}
		if len(page.Items) != 1 || page.Items[0].Kind != memory.KindWorld || page.Items[0].Text != "Alice plays chess." {
			t.Errorf("list answered %+v", page)
		}
		var found wire.RecallReply
		if err := s.ask("mem.alice.recall", `{"query":"chess","strategies":{"semantic":1}}`, &found); err != nil || len(found.Items) != 1 {
			t.Errorf("by its vector: %+v, %v", found.Items, err)
		}
	})
}

// TestNothingIsWrittenToAnotherLog also says of every endpoint of a bot whether it writes: only those that do not may be sent twice.
func TestNothingIsWrittenToAnotherLog(t *testing.T) {
	t.Parallel()
	another := errors.New("another log")
	s := serveWith(t, func(d *query.Deps) { d.SameLog = func() error { return another } })
	var refused []string
	for _, e := range wire.Endpoints() {
		if e.Role != wire.Bot {
			continue
		}
		msg, err := s.nc.Request("mem.b."+e.Name, []byte("{}"), natstest.Patience)
		if err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		switch isRefused := strings.Contains(msg.Header.Get(micro.ErrorHeader), "the log is not the one"); {
		case isRefused:
			refused = append(refused, e.Name)
		case e.Writes():
			t.Errorf("%s is answered with %s", e.Name, msg.Data)
		}
	}
	want := []string{"observe", "consolidate", "retain", "edit", "apply", "undo", "conflicts", "alias", "feedback", "bank", "forget", "status"}
	if d := cmp.Diff(want, refused); d != "" {
		t.Error(d)
	}
}
