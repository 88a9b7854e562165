package query_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

func TestEndpoints(t *testing.T) {
	t.Parallel()
	t.Run("a key given other text supersedes, history keeps both, and list shows the live one", func(t *testing.T) {
		t.Parallel()
		s := serve(t)
		s.consolidates()
		var kept wire.RetainReply
		for i, text := range []string{"Alice lives in Paris.", "Alice lives in London."} {
			body := fmt.Sprintf(`{"wait":"10s","facts":[{"key":"home","text":%q,"said":"2026-01-0%dT00:00:00Z"}]}`, text, i+1)
			if err := s.ask("mem.alice.retain", body, &kept); err != nil {
				t.Fatal(err)
			}
		}
		var page wire.Page[memory.Item]
		if err := s.ask("mem.alice.list", `{}`, &page); err != nil || !slices.Equal(textsOf(page.Items), []string{"Alice lives in London."}) {
			t.Errorf("list answered %v, %v", textsOf(page.Items), err)
		}
		var h wire.HistoryReply
		if err := s.ask("mem.alice.history", fmt.Sprintf(`{"id":%q}`, kept.Results[0].ID), &h); err != nil {
			t.Fatal(err)
		}
		if got := textsOf(h.Items); !slices.Equal(got, []string{"Alice lives in Paris.", "Alice lives in London."}) || !slices.Equal(h.Current, []string{kept.Results[0].ID}) {
			t.Errorf("history answered %v, current %v", got, h.Current)
		}
	})
	t.Run("edit, feedback, conflicts, consolidate, observe and forget answer with their outcome", func(t *testing.T) {
		t.Parallel()
		s := serve(t)
		s.consolidates()
		var kept wire.RetainReply
		if err := s.ask("mem.alice.retain", `{"wait":"10s","facts":[{"text":"Alice likes oolong tea."}]}`, &kept); err != nil {
			t.Fatal(err)
		}
		id := kept.Results[0].ID
		var edited wire.EditReply
		if err := s.ask("mem.alice.edit", fmt.Sprintf(`{"id":%q,"text":"Alice likes green tea.","wait":"10s"}`, id), &edited); err != nil || edited.ID == id || edited.Version == 0 {
			t.Fatalf("edit answered %+v, %v", edited, err)
		}
		if err := s.ask("mem.alice.edit", fmt.Sprintf(`{"id":%q,"version":1,"text":"Alice likes no tea."}`, edited.ID), nil); !errors.Is(err, memory.ErrConflict) {
			t.Errorf("an edit of an old version: %v", err)
		}
		if err := s.ask("mem.alice.feedback", fmt.Sprintf(`{"used":[%q],"outcome":"success","wait":"10s"}`, edited.ID), nil); err != nil {
			t.Errorf("feedback: %v", err)
		}
		var ran wire.ConsolidateReply
		if err := s.ask("mem.alice.consolidate", `{"force":true,"wait":"10s"}`, &ran); err != nil || !ran.Ran {
			t.Errorf("consolidate answered %+v, %v", ran, err)
		}
		var seen wire.ObserveReply
		if err := s.ask("mem.alice.observe", `{"wait":"10s","observations":[{"type":"preference","text":"Alice likes tea.","subject":"tea"}]}`, &seen); err != nil || len(seen.Observations) != 1 {
			t.Errorf("observe answered %+v, %v", seen, err)
		}
		var open wire.ConflictReply
		if err := s.ask("mem.alice.conflicts", `{"state":"open"}`, &open); err != nil || open.Items == nil {
			t.Errorf("conflicts answered %+v, %v", open, err)
		}
		var gone wire.ForgetReply
		if err := s.ask("mem.alice.forget", fmt.Sprintf(`{"id":%q,"wait":"10s"}`, edited.ID), &gone); err != nil || gone.Facts == 0 || gone.Op == "" {
			t.Errorf("forget answered %+v, %v", gone, err)
		}
		if err := s.ask("mem.alice.get", fmt.Sprintf(`{"id":%q}`, edited.ID), nil); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("get of what was forgotten: %v", err)
		}
	})
	t.Run("a bank is made, read, refused a second time, and listed for operators", func(t *testing.T) {
		t.Parallel()
		s := serve(t)
		s.consolidates()
		var b wire.BankReply
		const made = `{"create":true,"name":"Alice","disposition":{"skepticism":5,"literalism":1,"empathy":2},"wait":"10s"}`
		if err := s.ask("mem.alice.bank", made, &b); err != nil || b.Name != "Alice" || b.Disposition.Skepticism != 5 || b.Op == "" {
			t.Fatalf("bank answered %+v, %v", b, err)
		}
		if err := s.ask("mem.alice.bank", made, nil); !errors.Is(err, memory.ErrConflict) {
			t.Errorf("making it again: %v", err)
		}
		if err := s.ask("mem.bob.bank", `{}`, nil); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("reading an unknown one: %v", err)
		}
		var page wire.Page[memory.Bank]
		if err := s.ask("mem.admin.banks", `{}`, &page); err != nil || len(page.Items) != 1 || page.Items[0].ID != "alice" {
			t.Errorf("banks answered %+v, %v", page, err)
		}
		var v wire.Verification
		if err := s.ask("mem.admin.verify", ``, &v); err != nil || len(v.Problems) != 0 || v.Counts["banks"] == 0 {
			t.Errorf("verify answered %+v, %v", v, err)
		}
		if err := s.ask("mem.admin.erase", `{"bank":"bob"}`, nil); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("erasing an unknown one: %v", err)
		}
		var gone wire.ForgetReply
		if err := s.ask("mem.admin.erase", `{"bank":"alice","wait":"10s"}`, &gone); err != nil {
			t.Errorf("erasing answered %+v, %v", gone, err)
		}
		if err := s.ask("mem.alice.bank", `{}`, nil); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("reading an erased one: %v", err)
		}
	})
	t.Run("a write that is not applied in time answers 504 with its op", func(t *testing.T) {
		t.Parallel()
		s := serve(t) // nothing consolidates
		m, err := s.nc.Request("mem.alice.retain", []byte(`{"op":"my-op","wait":"1ms","facts":[{"text":"Alice likes tea."}]}`), 10*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		var f wire.Fault
		if err := json.Unmarshal(m.Data, &f); err != nil || f.Error.Code != 504 || f.Error.Op != "my-op" || m.Header.Get(micro.ErrorCodeHeader) != "504" {
			t.Errorf("answered %s with %v", m.Data, m.Header)
		}
	})
	t.Run("failures carry their code, field and header", func(t *testing.T) {
		t.Parallel()
		s := serve(t)
		s.consolidates()
		for _, c := range []struct {
			subject, body, field string
			want                 error
		}{
			{"mem.alice.recall", `{"query":"q","max_fcts":3}`, "max_fcts", memory.ErrInvalid},
			{"mem.alice.recall", `{"query":`, "", memory.ErrInvalid},
			{"mem.alice.recall", `[]`, "", memory.ErrInvalid},
			{"mem.alice.recall", `{"query":"q","from":"yesterday"}`, "", memory.ErrInvalid},
			{"mem.%61lice.recall", `{"query":"q"}`, "", memory.ErrInvalid},
			{"mem.%2e.status", ``, "", memory.ErrInvalid},
			{"mem.admin.recall", `{"query":"q"}`, "", memory.ErrInvalid},
			{"mem.nobody.recall", `{"query":"q"}`, "", memory.ErrNotFound},
			{"mem.nobody.status", ``, "", memory.ErrNotFound},
			{"mem.nobody.get", `{"id":"x"}`, "", memory.ErrNotFound},
			{"mem.nobody.forget", `{"id":"x"}`, "", memory.ErrNotFound},
			{"mem.alice.forget", `{"id":"x","session":"y"}`, "id", memory.ErrInvalid},
			{"mem.alice.list", `{"cursor":"zzz"}`, "cursor", memory.ErrInvalid},
			{"mem.alice.list", `{"limit":-1}`, "limit", memory.ErrInvalid},
			{"mem.alice.retain", `{"facts":[{"text":"a","kind":"dream"}]}`, "facts.0.kind", memory.ErrInvalid},
			{"mem.alice.retain", `{}`, "facts", memory.ErrInvalid},
			{"mem.alice.bank", `{"disposition":{"skepticism":9,"literalism":3,"empathy":3}}`, "disposition.skepticism", memory.ErrInvalid},
			{"mem.alice.feedback", `{"outcome":"great","used":["x"]}`, "outcome", memory.ErrInvalid},
		} {
			err := s.ask(c.subject, c.body, nil)
			var fe *memory.FieldError
			if !errors.Is(err, c.want) || c.field != "" && (!errors.As(err, &fe) || fe.Field != c.field) {
				t.Errorf("%s %s: %v, want %v of %q", c.subject, c.body, err, c.want, c.field)
			}
		}
	})
	t.Run("a request whose reply would go into a stream is not answered", func(t *testing.T) {
		t.Parallel()
		s := serve(t)
		if err := s.nc.PublishRequest("mem.alice.status", "mem.alice.message.s1", nil); err != nil {
			t.Fatal(err)
		}
		// A later request on the same connection is answered, so the first one was ignored by then.
		if err := s.ask("mem.alice.status", ``, nil); !errors.Is(err, memory.ErrNotFound) {
			t.Fatalf("status says %v", err)
		}
		if last, err := s.conn.LastMessage(context.Background(), "alice"); err != nil || last != 0 {
			t.Errorf("a message stands at %d, %v", last, err)
		}
	})
	t.Run("a reply past the payload limit is 413 and says what to narrow", func(t *testing.T) {
		t.Parallel()
		s := serve(t)
		for i := range 100 {
			s.say(memory.Message{ID: memory.MessageID(fmt.Sprintf("big%d", i)), Content: fmt.Sprintf("tea %d", i), Metadata: map[string]any{"note": strings.Repeat("green ", 2500)}})
		}
		err := s.ask("mem.alice.recall", `{"query":"tea","max_facts":100,"max_tokens":1000000}`, nil)
		if !errors.Is(err, memory.ErrTooLarge) || !strings.Contains(err.Error(), "max_facts") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("reflect streams its response in pieces and then the whole", func(t *testing.T) {
		t.Parallel()
		s := serve(t)
		s.say(memory.Message{Content: "I like tea."}, memory.Message{Content: "Tea is warm."})
		inbox := s.nc.NewRespInbox()
		sub, err := s.nc.SubscribeSync(inbox)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.nc.PublishRequest("mem.alice.reflect", inbox, []byte(`{"query":"tea","stream":true}`)); err != nil {
			t.Fatal(err)
		}
		var pieces string
		for {
			m, err := sub.NextMsg(30 * time.Second)
			if err != nil {
				t.Fatal(err)
			}
			var delta struct {
				Delta *string `json:"delta"`
			}
			if json.Unmarshal(m.Data, &delta) == nil && delta.Delta != nil {
				pieces += *delta.Delta
				continue
			}
			var whole wire.ReflectReply
			if err := json.Unmarshal(m.Data, &whole); err != nil || whole.Response != pieces || whole.Mode != "context" {
				t.Errorf("pieces %q, whole %+v, %v", pieces, whole, err)
			}
			return
		}
	})
	t.Run("nats micro sees one service with its endpoints and schemas", func(t *testing.T) {
		t.Parallel()
		s := serve(t)
		m, err := s.nc.Request("$SRV.INFO.eunoe", nil, 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		var info micro.Info
		if err := json.Unmarshal(m.Data, &info); err != nil {
			t.Fatal(err)
		}
		subjects := map[string]bool{}
		for _, e := range info.Endpoints {
			subjects[e.Subject] = true
			if e.QueueGroup != "eunoe" || e.Metadata["request"] == "" || e.Metadata["reply"] == "" {
				t.Errorf("endpoint %+v lacks its queue group or schemas", e)
			}
		}
		for _, want := range []string{"mem.*.recall", "mem.*.reflect", "mem.*.status", "mem.admin.dead"} {
			if !subjects[want] {
				t.Errorf("no endpoint %s in %v", want, subjects)
			}
		}
	})
	t.Run("changes are read since a sequence", func(t *testing.T) {
		t.Parallel()
		s := serve(t)
		s.say(memory.Message{Content: "hello"})
		for i := range 3 {
			c := memory.Change{ID: memory.NewChangeID("MEM_WRITES", uint64(i+1), 0), What: memory.ChangeFact, Op: memory.OutcomeAdded, Record: fmt.Sprintf("f_%d", i), Time: noon}
			if err := s.conn.PublishChanges(context.Background(), []events.BankChange{{Bank: alice, Change: c}}); err != nil {
				t.Fatal(err)
			}
		}
		var page wire.Page[memory.Change]
		if err := s.ask("mem.alice.changes", `{"after":1,"limit":1}`, &page); err != nil || len(page.Items) != 1 || page.Items[0].Record != "f_1" || page.Items[0].Seq != 2 || page.Next != "2" {
			t.Errorf("changes answered %+v, %v", page, err)
		}
	})
	t.Run("a request is handled by one of two services", func(t *testing.T) {
		t.Parallel()
		s := serve(t)
		other, err := query.New(query.DefaultConfig(), query.Deps{Conn: natstest.Another(t, s.conn), Store: s.db, Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- other.Run(ctx) }()
		natstest.Eventually(t, "both services to be there", func() bool { return s.services() == 2 })
		s.say(memory.Message{Content: "I like tea."})
		inbox := s.nc.NewRespInbox()
		sub, err := s.nc.SubscribeSync(inbox)
		if err != nil {
			t.Fatal(err)
		}
		const n = 20
		for range n {
			if err := s.nc.PublishRequest("mem.alice.recall", inbox, []byte(`{"query":"tea"}`)); err != nil {
				t.Fatal(err)
			}
		}
		for range n {
			if _, err := sub.NextMsg(30 * time.Second); err != nil {
				t.Fatal(err)
			}
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if extra, _, _ := sub.Pending(); extra != 0 {
			t.Errorf("%d replies too many", extra)
		}
	})
}

// services returns how many services answer a ping.
func (s *served) services() int {
	inbox := s.nc.NewRespInbox()
	sub, err := s.nc.SubscribeSync(inbox)
	if err != nil {
		return 0
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := s.nc.PublishRequest("$SRV.PING.eunoe", inbox, nil); err != nil {
		return 0
	}
	n := 0
	for {
		if _, err := sub.NextMsg(200 * time.Millisecond); errors.Is(err, nats.ErrTimeout) || err != nil {
			return n
		}
		n++
	}
}
