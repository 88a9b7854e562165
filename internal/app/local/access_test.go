package local_test

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/internal/access"
	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
)

// buffer is a bytes.Buffer for concurrent writers.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// TestSecretsStayOut runs with users and the most verbose log level, uses right and wrong credentials, changes users
// and breaks their file, and searches all output for every seed.
func TestSecretsStayOut(t *testing.T) {
	t.Parallel()
	c := apptest.Settings(t, map[string]string{"LOG": "trace", "URL": "nats://me:hunter2@127.0.0.1:4222"})
	dir, n := c.AuthDirectory(), events.Naming{}
	if _, err := access.Init(dir, n); err != nil {
		t.Fatal(err)
	}
	seeds := map[string]string{}
	add := func(u access.User) {
		_, err := access.Add(dir, n, u, time.Now(), func(seed []byte) error {
			seeds[u.Name] = string(seed)
			return access.ToFile(access.SeedPath(dir, u.Name))(seed)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	add(access.User{Name: "alice", Role: access.RoleBot, Bank: "alice"})
	add(access.User{Name: "ann", Role: access.RoleOperator})
	var said buffer
	l, err := local.Start(t.Context(), c, &said)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	login := func(name string) (*nats.Conn, error) {
		who, err := nats.NkeyOptionFromSeed(access.SeedPath(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return nats.Connect(l.URL, who, nats.MaxReconnects(0))
	}
	nc, err := login("alice")
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	op, err := login("ann")
	if err != nil {
		t.Fatal(err)
	}
	defer op.Close()
	for subject, body := range map[string]string{"mem.alice.message.chat": `{"content":"I moved to Lisbon."}`, "mem.alice.flush.chat": ""} {
		if _, err := nc.Request(subject, []byte(body), 10*time.Second); err != nil {
			t.Fatal(err)
		}
	}
	var answers strings.Builder
	for subject, from := range map[string]*nats.Conn{"mem.alice.status": nc, "mem.alice.bank": nc, "mem.admin.banks": op, "mem.admin.verify": op, "$SRV.INFO.eunoe": op, "$SRV.STATS.eunoe": op} {
		m, err := from.Request(subject, nil, 10*time.Second)
		if err != nil {
			t.Fatalf("%s: %v", subject, err)
		}
		answers.Write(m.Data)
	}
	if err := nc.Publish("mem.bob.recall", nil); err != nil { // is refused, and logged
		t.Fatal(err)
	}
	if _, err := nats.Connect(l.URL, nats.UserInfo("me", "hunter2")); err == nil {
		t.Error("a password got in")
	}
	add(access.User{Name: "bob", Role: access.RoleBot, Bank: "bob"})
	natstest.Eventually(t, "the new user may connect", func() bool {
		c, err := login("bob")
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	users := filepath.Join(dir, "users.json")
	good, err := os.ReadFile(users)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(users, []byte("{"+seeds["bob"]), 0o600); err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, "the broken file is told", func() bool { return strings.Contains(said.String(), "left as they were") })
	if err := os.Remove(users); err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, "the lost file is told", func() bool { return strings.Contains(said.String(), "is gone") })
	if c, err := login("bob"); err != nil {
		t.Errorf("a broken file shut a user out: %v", err)
	} else {
		c.Close()
	}
	if c, err := nats.Connect(l.URL); err == nil {
		c.Close()
		t.Error("a lost file opened the server")
	}
	if err := os.WriteFile(users, good, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := access.Remove(dir, n, "bob"); err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, "the removed user is shut out", func() bool {
		who, err := nats.Connect(l.URL, nats.UserInfo("bob", ""))
		if err == nil {
			who.Close()
		}
		return strings.Count(said.String(), "took over the users") >= 2
	})
	for _, path := range []string{"/metrics", "/readyz", "/livez"} {
		code, body := apptest.Get(t, "http://"+l.HTTP+path)
		if code != http.StatusOK {
			t.Errorf("%s: %d %s", path, code, body)
		}
		answers.WriteString(body)
	}
	_, list, err := settings.Load([]string{"EUNOE_URL=nats://me:hunter2@127.0.0.1:4222", "EUNOE_CREDS=" + access.SeedPath(dir, "ann")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		answers.WriteString(s.Value)
	}
	text := said.String() + answers.String()
	if !strings.Contains(text, "Violation") || !strings.Contains(text, "eunoe_ingest") {
		t.Error("it said too little to tell")
	}
	for name, seed := range seeds {
		if strings.Contains(text, seed) || strings.Contains(text, seed[2:30]) {
			t.Errorf("the seed of %s was told", name)
		}
	}
	if strings.Contains(text, "hunter2") {
		t.Error("a password was told")
	}
}
