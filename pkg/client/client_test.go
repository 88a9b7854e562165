package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// start returns a broker and a client on it.
func start(t *testing.T) (*events.Conn, *client.Client) {
	t.Helper()
	conn := natstest.Start(t)
	c, err := client.New(client.DefaultConfig(), client.Deps{Conn: conn})
	if err != nil {
		t.Fatal(err)
	}
	return conn, c
}

// answer lets fn answer the requests on a subject.
func answer(t *testing.T, conn *events.Conn, subject string, fn func(micro.Request)) {
	t.Helper()
	svc, err := micro.AddService(conn.NC, micro.Config{Name: "stub", Version: "0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { svc.Stop() })
	if err := svc.AddEndpoint("stub", micro.HandlerFunc(fn), micro.WithEndpointSubject(subject)); err != nil {
		t.Fatal(err)
	}
	if err := conn.NC.Flush(); err != nil {
		t.Fatal(err)
	}
}

func respond(t *testing.T, r micro.Request, v any) {
	t.Helper()
	if err := r.RespondJSON(v); err != nil {
		t.Error(err)
	}
}

func TestConnect(t *testing.T) {
	t.Parallel()
	t.Run("everything wrong with a configuration is reported at once", func(t *testing.T) {
		t.Parallel()
		_, err := client.Connect(t.Context(), client.Config{URL: "://", Creds: "/does/not/exist", Prefix: "a.b", Timeout: -1})
		if !errors.Is(err, memory.ErrInvalid) {
			t.Fatalf("got %v; want ErrInvalid", err)
		}
		for _, field := range []string{"url", "creds", "prefix", "timeout"} {
			if !strings.Contains(err.Error(), field) {
				t.Errorf("the error does not name %s: %v", field, err)
			}
		}
	})
	t.Run("what is left empty has its default", func(t *testing.T) {
		t.Parallel()
		conn := natstest.Start(t)
		c, err := client.Connect(t.Context(), client.Config{URL: conn.NC.ConnectedUrl()})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close() //nolint:errcheck // nothing is left to send
		if got := c.Conn().Naming.Prefix; got != client.DefaultConfig().Prefix {
			t.Errorf("the prefix is %q", got)
		}
		if _, err := client.New(client.Config{}, client.Deps{Conn: conn}); err != nil {
			t.Errorf("on a connection: %v", err)
		}
	})
	t.Run("a broker that is not there is unavailable, and no password is told", func(t *testing.T) {
		t.Parallel()
		cfg := client.DefaultConfig()
		cfg.URL = "nats://bot:hunter2@127.0.0.1:1"
		_, err := client.Connect(t.Context(), cfg)
		if !errors.Is(err, memory.ErrUnavailable) || strings.Contains(err.Error(), "hunter2") {
			t.Fatalf("got %v", err)
		}
	})
	t.Run("a client that dialled closes its connection, once", func(t *testing.T) {
		t.Parallel()
		conn := natstest.Start(t)
		cfg := client.DefaultConfig()
		cfg.URL, cfg.InboxPrefix = conn.NC.ConnectedUrl(), "_INBOX_alice"
		c, err := client.Connect(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if inbox := c.Conn().NC.NewInbox(); !strings.HasPrefix(inbox, "_INBOX_alice.") {
			t.Errorf("the inbox is %s", inbox)
		}
		if err := errors.Join(c.Close(), c.Close()); err != nil {
			t.Error(err)
		}
		if !c.Conn().NC.IsClosed() {
			t.Error("the connection is open")
		}
	})
	t.Run("a borrowed connection stays open", func(t *testing.T) {
		t.Parallel()
		conn, c := start(t)
		if err := c.Close(); err != nil || conn.NC.IsClosed() {
			t.Errorf("closed: %v, %v", conn.NC.IsClosed(), err)
		}
	})
}

func TestPublish(t *testing.T) {
	t.Parallel()
	conn, c := start(t)
	t.Run("a message is stored under its bank and session as it was given", func(t *testing.T) {
		t.Parallel()
		said := time.Date(2026, 5, 20, 9, 14, 0, 0, time.UTC)
		seq, err := c.Publish(t.Context(), "!room:server.org", "chat 1", memory.Message{ID: "m1", Speaker: "Alice", Content: "Hello.", Time: said})
		if err != nil {
			t.Fatal(err)
		}
		got, err := conn.Messages(t.Context(), []uint64{seq})
		if err != nil {
			t.Fatal(err)
		}
		m, err := got[seq].Message()
		if err != nil {
			t.Fatal(err)
		}
		if m.Bank != "!room:server.org" || m.Session != "chat 1" || m.ID != "m1" || m.Content != "Hello." || !m.Time.Equal(said) {
			t.Errorf("stored %+v", m)
		}
	})
	t.Run("a body keeps the fields this version does not know", func(t *testing.T) {
		t.Parallel()
		seq, err := c.PublishBody(t.Context(), "bodies", "s", []byte(`{"content":"Hi.","mood":"glad"}`))
		if err != nil {
			t.Fatal(err)
		}
		got, err := conn.Messages(t.Context(), []uint64{seq})
		if err != nil || !strings.Contains(string(got[seq].Data), `"mood":"glad"`) {
			t.Errorf("stored %s, %v", got[seq].Data, err)
		}
	})
	t.Run("a wrong message is refused before anything is sent", func(t *testing.T) {
		t.Parallel()
		for _, tc := range []struct {
			bank    memory.BankID
			session memory.SessionID
			m       memory.Message
			field   string
		}{
			{"admin", "s", memory.Message{Content: "x"}, "bank"},
			{"b", "", memory.Message{Content: "x"}, "session"},
			{"b", "s", memory.Message{}, "content"},
			{"b", "s", memory.Message{Content: "x", Role: "boss"}, "role"},
			{"b", "s", memory.Message{ID: "seq:1", Content: "x"}, "id"},
		} {
			_, err := c.Publish(t.Context(), tc.bank, tc.session, tc.m)
			var field *memory.FieldError
			if !errors.As(err, &field) || field.Field != tc.field {
				t.Errorf("got %v; want an error of %s", err, tc.field)
			}
		}
	})
	t.Run("without the streams the error says what makes them", func(t *testing.T) {
		t.Parallel()
		bare := natstest.StartServer(t).Connect(t)
		c, err := client.New(client.DefaultConfig(), client.Deps{Conn: bare})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Publish(t.Context(), "b", "s", memory.Message{Content: "x"})
		if !errors.Is(err, memory.ErrUnavailable) || !strings.Contains(err.Error(), "eunoe up") {
			t.Errorf("got %v", err)
		}
	})
}

func TestRequests(t *testing.T) {
	t.Parallel()
	conn, c := start(t)
	t.Run("without an answering stage the error is unavailable and says what to start", func(t *testing.T) {
		t.Parallel()
		_, err := c.Recall(t.Context(), "nobody", wire.RecallRequest{Query: "x"})
		if !errors.Is(err, memory.ErrUnavailable) || !strings.Contains(err.Error(), "eunoe up") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a recall sends the fields it was given and no others", func(t *testing.T) {
		t.Parallel()
		bodies := make(chan string, 1)
		answer(t, conn, "mem.alice%2Eb.recall", func(r micro.Request) {
			bodies <- string(r.Data())
			respond(t, r, map[string]any{"recall": "r1", "items": []any{}, "fresh": true, "degraded": []any{}, "took": "3ms", "later": 1})
		})
		reply, err := c.Recall(t.Context(), "alice.b", wire.RecallRequest{Query: "x", After: 7})
		if err != nil {
			t.Fatal(err)
		}
		if reply.Recall != "r1" || !reply.Fresh || time.Duration(reply.Took) != 3*time.Millisecond {
			t.Errorf("got %+v", reply)
		}
		if body := <-bodies; body != `{"query":"x","after":7}` {
			t.Errorf("sent %s", body)
		}
	})
	t.Run("each failure keeps its meaning and its field", func(t *testing.T) {
		t.Parallel()
		answer(t, conn, "mem.faults.get", func(r micro.Request) {
			var req wire.GetRequest
			if err := json.Unmarshal(r.Data(), &req); err != nil {
				t.Error(err)
			}
			body, _ := json.Marshal(map[string]any{"error": map[string]any{"code": json.Number(req.ID), "message": "no", "field": "id"}})
			if err := r.Error(req.ID, "no", body); err != nil {
				t.Error(err)
			}
		})
		for code, want := range map[string]error{"400": memory.ErrInvalid, "404": memory.ErrNotFound, "409": memory.ErrConflict, "413": memory.ErrTooLarge,
			"429": memory.ErrQuota, "503": memory.ErrUnavailable, "504": memory.ErrDeadline} {
			_, err := c.Get(t.Context(), "faults", code)
			var field *memory.FieldError
			if !errors.Is(err, want) || !errors.As(err, &field) || field.Field != "id" {
				t.Errorf("code %s: got %v", code, err)
			}
		}
	})
	t.Run("a failure with only the broker's headers is understood too", func(t *testing.T) {
		t.Parallel()
		answer(t, conn, "mem.headers.status", func(r micro.Request) {
			if err := r.Error("404", "no such bank", nil); err != nil {
				t.Error(err)
			}
		})
		if _, err := c.Status(t.Context(), "headers"); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a write whose outcome is unknown names its op", func(t *testing.T) {
		t.Parallel()
		answer(t, conn, "mem.unknown.retain", func(r micro.Request) {
			if err := r.Error("504", "late", []byte(`{"error":{"code":504,"message":"late","op":"op-1"}}`)); err != nil {
				t.Error(err)
			}
		})
		_, err := c.Retain(t.Context(), "unknown", wire.RetainRequest{Facts: []memory.FactInput{{Text: "x"}}})
		var unknown *client.UnknownOutcome
		if !errors.As(err, &unknown) || unknown.Op != "op-1" || !errors.Is(err, memory.ErrDeadline) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("an answer that does not come in time is a deadline error", func(t *testing.T) {
		t.Parallel()
		answer(t, conn, "mem.slow.status", func(micro.Request) {})
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		defer cancel()
		if _, err := c.Status(ctx, "slow"); !errors.Is(err, memory.ErrDeadline) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("all pages are walked, and a page too large is asked for in smaller ones", func(t *testing.T) {
		t.Parallel()
		pages := map[string]wire.Page[memory.Item]{"": {Items: []memory.Item{{ID: "1"}, {ID: "2"}}, Next: "x"}, "x": {Items: []memory.Item{{ID: "3"}}}}
		answer(t, conn, "mem.pages.list", func(r micro.Request) {
			var req wire.ListRequest
			if err := memory.Decode(r.Data(), &req); err != nil {
				t.Error(err)
			}
			if req.Limit > 100 {
				r.Error("413", "too large", []byte(`{"error":{"code":413,"message":"too large"}}`)) //nolint:errcheck
				return
			}
			respond(t, r, pages[req.Cursor])
		})
		var ids []string
		for it, err := range c.All(t.Context(), "pages", wire.ListRequest{Limit: 400}) {
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, it.ID)
		}
		if diff := cmp.Diff([]string{"1", "2", "3"}, ids); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a stream delivers its pieces in order and then the whole", func(t *testing.T) {
		t.Parallel()
		answer(t, conn, "mem.stream.reflect", func(r micro.Request) {
			for _, p := range []wire.Delta{{Delta: "Bob "}, {Reset: true}, {Delta: "Alice "}, {Delta: "lives in Lisbon."}} {
				respond(t, r, p)
			}
			respond(t, r, wire.ReflectReply{Response: "Alice lives in Lisbon.", Mode: "answer"})
		})
		var got strings.Builder
		reply, err := c.ReflectStream(t.Context(), "stream", wire.ReflectRequest{RecallRequest: wire.RecallRequest{Query: "x"}}, func(d wire.Delta) {
			if d.Reset {
				got.Reset()
			}
			got.WriteString(d.Delta)
		})
		if err != nil || got.String() != reply.Response || reply.Mode != "answer" {
			t.Errorf("pieces %q, whole %+v, %v", got.String(), reply, err)
		}
	})
	t.Run("a reflect asks for a deadline within the client's own time, unless it has one", func(t *testing.T) {
		t.Parallel()
		answer(t, conn, "mem.timely.reflect", func(r micro.Request) {
			var q wire.ReflectRequest
			if err := memory.Decode(r.Data(), &q); err != nil || q.Deadline == nil {
				t.Errorf("the request is %s: %v", r.Data(), err)
				return
			}
			respond(t, r, wire.ReflectReply{Response: time.Duration(*q.Deadline).String()})
		})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		reply, err := c.Reflect(ctx, "timely", wire.ReflectRequest{RecallRequest: wire.RecallRequest{Query: "x"}})
		if d, _ := time.ParseDuration(reply.Response); err != nil || d < 5*time.Second || d > 9*time.Second {
			t.Errorf("the deadline is %s: %v", reply.Response, err)
		}
		own := memory.Duration(time.Second)
		reply, err = c.Reflect(ctx, "timely", wire.ReflectRequest{RecallRequest: wire.RecallRequest{Query: "x", Deadline: &own}})
		if err != nil || reply.Response != "1s" {
			t.Errorf("the deadline is %s: %v", reply.Response, err)
		}
	})
	t.Run("waiting for a bank ends when it is settled, also when it is made late", func(t *testing.T) {
		t.Parallel()
		asked := 0
		answer(t, conn, "mem.settling.status", func(r micro.Request) {
			asked++
			if asked == 1 {
				r.Error("404", "no such bank", nil) //nolint:errcheck
				return
			}
			respond(t, r, wire.Status{Settled: asked > 3, Facts: asked})
		})
		seen := 0
		st, err := c.WaitSettled(t.Context(), "settling", func(wire.Status) { seen++ })
		if err != nil || !st.Settled || st.Facts != 4 || seen != 3 {
			t.Errorf("got %+v after %d, %v", st, seen, err)
		}
	})
}

func TestWaitingForABankSurvivesALostStatus(t *testing.T) {
	t.Parallel()
	conn, c := start(t)
	asked := 0
	answer(t, conn, "mem.losing.status", func(r micro.Request) {
		if asked++; asked > 1 { // the first of those who answer is lost with its server
			respond(t, r, wire.Status{Settled: true, Facts: asked})
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), natstest.Patience)
	defer cancel()
	if st, err := c.WaitSettled(ctx, "losing", nil); err != nil || st.Facts != 2 {
		t.Errorf("got %+v, %v", st, err)
	}

	impatient, err := client.New(client.Config{Timeout: 50 * time.Millisecond, Wait: client.DefaultConfig().Wait}, client.Deps{Conn: conn})
	if err != nil {
		t.Fatal(err)
	}
	answer(t, conn, "mem.lost.status", func(micro.Request) {})
	if _, err := impatient.WaitSettled(ctx, "lost", nil); !errors.Is(err, memory.ErrDeadline) {
		t.Errorf("nobody answers within the client's timeout: got %v", err)
	}
}

func TestSubscribe(t *testing.T) {
	t.Parallel()
	conn, c := start(t)
	sub, err := c.Subscribe(t.Context(), "alice", "")
	if err != nil {
		t.Fatal(err)
	}
	for i, what := range []string{"fact", "entity"} {
		ch := memory.Change{ID: fmt.Sprint("e", i), What: what, Op: memory.OutcomeAdded, Record: "r", Time: time.Now()}
		if err := conn.PublishChanges(t.Context(), []events.BankChange{{Bank: "alice", Change: ch}}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var got []string
	for ch, err := range sub.All(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if got = append(got, ch.What+" "+ch.ID); len(got) == 2 {
			cancel()
		}
	}
	if diff := cmp.Diff([]string{"fact e0", "entity e1"}, got); diff != "" {
		t.Error(diff)
	}
	if _, err := c.Subscribe(t.Context(), "alice", "fact.>"); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("a wildcard is taken: %v", err)
	}
}

func TestAdmin(t *testing.T) {
	t.Parallel()
	conn, c := start(t)
	answer(t, conn, "mem.admin.dead", func(r micro.Request) {
		var req wire.DeadRequest
		if err := memory.Decode(r.Data(), &req); err != nil {
			t.Error(err)
		}
		switch req.Action {
		case "list":
			respond(t, r, wire.Page[memory.DeadLetter]{Items: []memory.DeadLetter{{ID: 3, Stage: "extract", Reason: "no"}}})
		case "show":
			respond(t, r, wire.Page[memory.DeadLetter]{Items: []memory.DeadLetter{{ID: req.ID, Payload: []byte("raw")}}})
		default:
			respond(t, r, map[string]any{})
		}
	})
	for d, err := range c.Admin().DeadLetters(t.Context()) {
		if err != nil || d.ID != 3 || d.Stage != "extract" {
			t.Errorf("got %+v, %v", d, err)
		}
	}
	if d, err := c.Admin().DeadLetter(t.Context(), 3); err != nil || string(d.Payload) != "raw" {
		t.Errorf("got %+v, %v", d, err)
	}
	if err := errors.Join(c.Admin().RetryDead(t.Context(), 3), c.Admin().DropDead(t.Context(), 3)); err != nil {
		t.Error(err)
	}
}

func TestItBuildsWithoutCgo(t *testing.T) {
	t.Parallel()
	dir, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "build", ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestAReadIsSentAgainOverANewConnection(t *testing.T) {
	t.Parallel()
	srv := natstest.StartServer(t)
	c, err := client.New(client.DefaultConfig(), client.Deps{Conn: srv.Connect(t)})
	if err != nil {
		t.Fatal(err)
	}
	var asked, stored atomic.Int32
	service := srv.Connect(t)
	lost := make(chan struct{}, 1)
	answer(t, service, "mem.b.status", func(r micro.Request) {
		if asked.Add(1) == 1 {
			lost <- struct{}{}
			return
		}
		respond(t, r, wire.Status{Facts: 7})
	})
	answer(t, service, "mem.b.retain", func(micro.Request) {
		if stored.Add(1) == 1 {
			lost <- struct{}{}
		}
	})
	restart := func() {
		<-lost
		srv.Server.Shutdown()
		srv.Restart(t)
	}

	ctx, cancel := context.WithTimeout(t.Context(), natstest.Patience)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		st, err := c.Status(ctx, "b")
		if err == nil && st.Facts != 7 {
			err = fmt.Errorf("got %+v", st)
		}
		done <- err
	}()
	restart()
	if err := <-done; err != nil {
		t.Error(err)
	}

	writing, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		_, err := c.Retain(writing, "b", wire.RetainRequest{Text: "Ann likes tea."})
		done <- err
	}()
	restart()
	natstest.Eventually(t, "both are connected again", func() bool { st, err := c.Status(ctx, "b"); return err == nil && st.Facts == 7 })
	stop()
	if err := <-done; err == nil || stored.Load() != 1 {
		t.Errorf("a write was sent %d times: %v", stored.Load(), err)
	}
}

func TestALostBrokerIsUnavailable(t *testing.T) {
	t.Parallel()
	srv := natstest.StartServer(t)
	conn := srv.Connect(t)
	c, err := client.New(client.DefaultConfig(), client.Deps{Conn: conn})
	if err != nil {
		t.Fatal(err)
	}
	conn.NC.Close()
	_, err = c.Status(t.Context(), "b")
	if !errors.Is(err, memory.ErrUnavailable) || !errors.Is(err, nats.ErrConnectionClosed) {
		t.Errorf("got %v", err)
	}
}
