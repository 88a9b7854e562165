package access_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/internal/access"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/snapshot"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// awaitUser waits until the server lets a user in.
func (w *deployment) awaitUser(t *testing.T, name string) {
	t.Helper()
	natstest.Eventually(t, name+" may connect", func() bool {
		who, err := nats.NkeyOptionFromSeed(w.seed(name))
		if err != nil {
			t.Fatal(err)
		}
		nc, err := nats.Connect(w.url, who)
		if err != nil {
			return false
		}
		nc.Close()
		return true
	})
}

func TestAWorkerAdministersNothing(t *testing.T) {
	t.Parallel()
	for name, start := range servers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			u := w.login(t, "worker")
			refused := []string{
				"mem.admin.erase", "mem.admin.dead", "mem.admin.banks", "mem.admin.verify", "mem.alice.forget", "mem.alice.recall", "mem.alice.retain",
				"$SRV.PING", "$SYS.REQ.SERVER.PING", "$JS.API.STREAM.LIST", "$JS.API.STREAM.NAMES", "$JS.API.STREAM.CREATE.OTHER",
				"$JS.API.STREAM.RESTORE.MEM_WRITES", "$JS.API.STREAM.SNAPSHOT.MEM_WRITES", "$JS.API.META.LEADER.STEPDOWN", "$JS.API.SERVER.REMOVE",
			}
			for _, s := range streamsOf(w.naming) {
				refused = append(refused, "$JS.API.STREAM.DELETE."+s, "$JS.API.STREAM.PURGE."+s)
			}
			for _, s := range refused {
				if err := u.nc.Publish(s, nil); err != nil {
					t.Fatal(err)
				}
			}
			for _, s := range refused {
				u.expectRefusal(`Publish to "` + s + `"`)
			}
			for _, s := range []string{"mem.alice.change.>", "mem.alice.message.>", ">", "$JS.>"} {
				if _, err := u.nc.SubscribeSync(s); err != nil {
					t.Fatal(err)
				}
				u.expectRefusal(`Subscription to "` + s + `"`)
			}
		})
	}
}

func TestAnOperatorSeesEverythingAndErases(t *testing.T) {
	t.Parallel()
	for name, start := range servers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			w.login(t, "alice").remember("alice", "I am allergic to shellfish.")
			w.login(t, "bob").remember("bob", "I keep two goats.")
			op := w.login(t, "operator")
			changes, err := op.nc.SubscribeSync("mem.*.change.>")
			if err != nil {
				t.Fatal(err)
			}
			if out := op.mustAsk("mem.admin.banks", ""); !strings.Contains(out, "alice") || !strings.Contains(out, "bob") {
				t.Errorf("banks: %s", out)
			}
			op.mustAsk("mem.admin.verify", "")
			op.mustAsk("mem.admin.dead", `{"action":"list"}`)
			if out := op.mustAsk("mem.alice.recall", `{"query":"allergic"}`); !strings.Contains(out, "shellfish") {
				t.Errorf("recall: %s", out)
			}
			for _, s := range streamsOf(w.naming) {
				if out := must(op.nc.Request("$JS.API.STREAM.INFO."+s, nil, 10*time.Second))(t); strings.Contains(out, `"error"`) {
					t.Errorf("%s: %s", s, out)
				}
			}
			op.backsUp("MEM_MESSAGES")
			if r := op.refusals(); len(r) > 0 {
				t.Errorf("refused: %v", r)
			}
			for _, s := range []string{"mem.alice.message.chat", "mem.alice.write.retain", "mem.alice.window.chat", "mem.alice.change.fact", "mem.alice.dead.ingest",
				"$KV.MEM_BANKS.alice", "$JS.API.STREAM.DELETE.MEM_MESSAGES", "$JS.API.STREAM.PURGE.MEM_MESSAGES", "$JS.API.STREAM.UPDATE.MEM_MESSAGES",
				"$JS.API.STREAM.MSG.DELETE.MEM_MESSAGES", "$JS.API.CONSUMER.CREATE.MEM_WINDOWS.thief", "$JS.ACK.MEM_WINDOWS.extract.1.1.1.1.0"} {
				if err := op.nc.Publish(s, nil); err != nil {
					t.Fatal(err)
				}
				op.expectRefusal(`Publish to "` + s + `"`)
			}
			op.mustAsk("mem.admin.erase", `{"bank":"alice"}`)
			if _, code := op.ask("mem.alice.recall", `{"query":"allergic"}`); code != "404" {
				t.Errorf("the erased bank answers %q", code)
			}
			if out := op.mustAsk("mem.bob.recall", `{"query":"goats"}`); !strings.Contains(out, "goats") {
				t.Errorf("bob's bank: %s", out)
			}
			if _, err := changes.NextMsg(30 * time.Second); err != nil {
				t.Errorf("changes: %v", err)
			}
		})
	}
}

// TestWhoMayNotBackUpIsToldSo takes a copy with the credentials of a bot and of a worker, which the broker does not answer.
func TestWhoMayNotBackUpIsToldSo(t *testing.T) {
	t.Parallel()
	w := embedded(t, nil)
	for _, name := range []string{"alice", "worker"} {
		c, err := events.Dial(events.ConnConfig{URL: w.url, Creds: w.seed(name)})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		_, err = snapshot.Save(t.Context(), c, w.naming.Writes(), t.TempDir())
		if !errors.Is(err, memory.ErrForbidden) || !strings.Contains(err.Error(), "eunoe auth list") || time.Since(began) > 10*time.Second {
			t.Errorf("%s, after %s: %v", name, time.Since(began), err)
		}
		c.NC.Close()
	}
}

// backsUp reads a snapshot of a stream to its end, as a backup does.
func (u *user) backsUp(stream string) {
	u.t.Helper()
	inbox := u.nc.NewInbox()
	chunks, err := u.nc.SubscribeSync(inbox)
	if err != nil {
		u.t.Fatal(err)
	}
	if out := u.mustAsk("$JS.API.STREAM.SNAPSHOT."+stream, `{"deliver_subject":"`+inbox+`","chunk_size":1024}`); !strings.Contains(out, "config") {
		u.t.Fatal(out)
	}
	for bytes := 0; ; {
		m, err := chunks.NextMsg(30 * time.Second)
		if err != nil {
			u.t.Fatalf("after %d bytes: %v", bytes, err)
		}
		if len(m.Data) == 0 {
			if bytes == 0 || m.Header.Get("Status") != "" && m.Header.Get("Status") != "204" {
				u.t.Errorf("the snapshot ended after %d bytes: %v", bytes, m.Header)
			}
			return
		}
		bytes += len(m.Data)
		if m.Reply == "" {
			continue
		}
		if err := m.Respond(nil); err != nil {
			u.t.Fatal(err)
		}
	}
}

func TestUsersComeAndGoWhileItRuns(t *testing.T) {
	t.Parallel()
	w := embedded(t, nil)
	a, b, op := w.login(t, "alice"), w.login(t, "bob"), w.login(t, "operator")
	a.mustAsk("mem.alice.message.chat", `{"content":"x"}`)
	w.add(t, access.User{Name: "carol", Role: access.RoleBot, Bank: "carol"})
	w.awaitUser(t, "carol")
	w.login(t, "carol").remember("carol", "I am new here.")
	if a.nc.IsClosed() || b.nc.IsClosed() || op.nc.IsClosed() {
		t.Fatal("others were cut off when a user came")
	}
	seed := w.seed("alice")
	who, err := nats.NkeyOptionFromSeed(seed)
	if err != nil {
		t.Fatal(err)
	}
	w.add(t, access.User{Name: "alice-2", Role: access.RoleBot, Bank: "alice"})
	if _, err := access.Remove(w.auth, w.naming, "alice"); err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, "alice is cut off", a.nc.IsClosed)
	if nc, err := nats.Connect(w.url, who); err == nil {
		nc.Close()
		t.Error("a removed user connected")
	}
	w.awaitUser(t, "alice-2")
	w.login(t, "alice-2").mustAsk("mem.alice.list", `{"record":"message"}`)
	for _, u := range []*user{b, op} {
		u.mustAsk("mem.bob.bank", `{"name":"Bob"}`)
		if r := u.refusals(); len(r) > 0 {
			t.Errorf("refused: %v", r)
		}
	}
}

// TestAServerOfOnesOwnTakesUsersOver is what the documents say of reloading:
// the users of a bank that is new come in with the second time.
func TestAServerOfOnesOwnTakesUsersOver(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := &deployment{auth: filepath.Join(dir, "auth")}
	if _, err := access.Init(w.auth, w.naming); err != nil {
		t.Fatal(err)
	}
	w.standard(t)
	s := natsServer(t, dir)
	w.url = s.ClientURL()
	worker := w.login(t, "worker")
	if _, err := worker.nc.Subscribe("mem.*.status", func(m *nats.Msg) { _ = m.Respond([]byte(`{}`)) }); err != nil {
		t.Fatal(err)
	}
	if err := worker.nc.Flush(); err != nil {
		t.Fatal(err)
	}
	a := w.login(t, "alice")
	w.add(t, access.User{Name: "carol", Role: access.RoleBot, Bank: "carol"})
	if _, err := access.Remove(w.auth, w.naming, "bob"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Reload(); err != nil {
			t.Fatal(err)
		}
	}
	w.login(t, "carol").mustAsk("mem.carol.status", "")
	a.mustAsk("mem.alice.status", "")
	var users []access.User
	b, err := access.Read(w.auth)
	if err != nil {
		t.Fatal(err)
	}
	users = b.Users
	if text, err := json.Marshal(users); err != nil || strings.Contains(string(text), "bob") {
		t.Errorf("the users are %s, %v", text, err)
	}
}
