// Package access tests the permissions of bots, workers and operators, with real credentials on real servers.
package access_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"github.com/eunoe-memory/eunoe/internal/access"
	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/internal/app/process"
	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// deployment is an Eunoe that asks for credentials.
type deployment struct {
	url, auth string
	naming    events.Naming
	conf      settings.Config
}

// quietSettings returns those of a quiet deployment on a free port.
func quietSettings(t *testing.T, overrides map[string]string) settings.Config {
	t.Helper()
	set := map[string]string{"LOG": "fatal"}
	maps.Copy(set, overrides)
	return apptest.Settings(t, set)
}

// embedded runs everything in one process, with users.
func embedded(t *testing.T, overrides map[string]string) *deployment {
	t.Helper()
	c := quietSettings(t, overrides)
	w := &deployment{auth: c.AuthDirectory(), naming: events.Naming{Prefix: c.Prefix}, conf: c}
	if _, err := access.Init(w.auth, w.naming); err != nil {
		t.Fatal(err)
	}
	w.standard(t)
	w.start(t)
	return w
}

// start runs everything until the test ends.
func (w *deployment) start(t *testing.T) *local.Local {
	t.Helper()
	l := apptest.Start(t, w.conf)
	w.url = l.URL
	return l
}

// apart runs a NATS server with the configuration that the users' directory
// holds, and the four stages as a worker each.
func apart(t *testing.T) *deployment {
	t.Helper()
	dir := t.TempDir()
	w := &deployment{auth: filepath.Join(dir, "auth")}
	if _, err := access.Init(w.auth, w.naming); err != nil {
		t.Fatal(err)
	}
	w.standard(t)
	s := natsServer(t, dir)
	w.url = s.ClientURL()
	ctx, stop := context.WithCancel(context.Background())
	group, ctx := errgroup.WithContext(ctx)
	for _, stage := range local.Stages() {
		c := quietSettings(t, map[string]string{"URL": w.url, "CREDS": w.seed("worker"), "STORE": filepath.Join(dir, "eunoe.db"), "LOG": "fatal"})
		group.Go(func() error { return process.Run(ctx, c, stage) })
	}
	t.Cleanup(func() {
		stop()
		if err := group.Wait(); err != nil {
			t.Error(err)
		}
	})
	natstest.Eventually(t, "the query stage answers", func() bool {
		if ctx.Err() != nil {
			t.Fatalf("a stage failed: %v", group.Wait())
		}
		_, err := w.login(t, "operator").nc.Request("mem.admin.banks", nil, time.Second)
		return err == nil
	})
	return w
}

// natsServer starts a NATS server with auth.conf of dir/auth included.
func natsServer(t *testing.T, dir string) *server.Server {
	t.Helper()
	path := filepath.Join(dir, "nats.conf")
	text := "host: 127.0.0.1\nport: -1\njetstream { store_dir: '" + filepath.Join(dir, "streams") + "' }\ninclude ./auth/auth.conf\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := server.ProcessConfigFile(path)
	if err != nil {
		t.Fatal(err)
	}
	o.NoLog, o.NoSigs = true, true
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(30 * time.Second) {
		t.Fatal("the broker did not start")
	}
	return s
}

// standard makes the users every test has.
func (w *deployment) standard(t *testing.T) {
	t.Helper()
	w.add(t, access.User{Name: "alice", Role: access.RoleBot, Bank: "alice"})
	w.add(t, access.User{Name: "bob", Role: access.RoleBot, Bank: "bob"})
	w.add(t, access.User{Name: "spy", Role: access.RoleBot, Bank: "spy"})
	w.add(t, access.User{Name: "worker", Role: access.RoleWorker})
	w.add(t, access.User{Name: "operator", Role: access.RoleOperator})
}

func (w *deployment) add(t *testing.T, u access.User) access.User {
	t.Helper()
	u, err := access.Add(w.auth, w.naming, u, time.Now(), access.ToFile(w.seed(u.Name)))
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func (w *deployment) seed(name string) string { return access.SeedPath(w.auth, name) }

// user is a plain NATS client with a user's credentials. What the broker refuses it is kept.
type user struct {
	t  *testing.T
	nc *nats.Conn

	mu      sync.Mutex
	refused []string
}

// login connects as a plain client does, with the seed and nothing else.
func (w *deployment) login(t *testing.T, name string, opts ...nats.Option) *user {
	t.Helper()
	u := &user{t: t}
	who, err := nats.NkeyOptionFromSeed(w.seed(name))
	if err != nil {
		t.Fatal(err)
	}
	u.nc, err = nats.Connect(w.url, append([]nats.Option{who, nats.MaxReconnects(0), nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.refused = append(u.refused, err.Error())
	})}, opts...)...)
	if err != nil {
		t.Fatalf("connect as %s: %v", name, err)
	}
	t.Cleanup(u.nc.Close)
	return u
}

// expectRefusal waits until the broker reported a refusal that names what.
func (u *user) expectRefusal(what string) {
	u.t.Helper()
	natstest.Eventually(u.t, "a refusal of "+what, func() bool {
		u.mu.Lock()
		defer u.mu.Unlock()
		for _, r := range u.refused {
			if strings.Contains(r, what) && strings.Contains(r, "ermissions") {
				return true
			}
		}
		return false
	})
}

// refusals returns what the broker refused so far.
func (u *user) refusals() []string {
	if err := u.nc.Flush(); err != nil {
		u.t.Error(err)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return append([]string(nil), u.refused...)
}

// ask sends a request and returns the body and error code of the answer.
func (u *user) ask(subject, body string) (string, string) {
	u.t.Helper()
	m, err := u.nc.Request(subject, []byte(body), 15*time.Second)
	if err != nil {
		u.t.Fatalf("%s %s: %v", subject, body, err)
	}
	return string(m.Data), m.Header.Get("Nats-Service-Error-Code")
}

// mustAsk is ask for a request that must be answered well.
func (u *user) mustAsk(subject, body string) string {
	u.t.Helper()
	out, code := u.ask(subject, body)
	if code != "" || strings.Contains(out, `"error"`) {
		u.t.Fatalf("%s %s: %s %s", subject, body, code, out)
	}
	return out
}

// publish publishes a message and returns its sequence.
func (u *user) publish(subject, body string) uint64 {
	u.t.Helper()
	var ack struct{ Seq uint64 }
	if err := json.Unmarshal([]byte(u.mustAsk(subject, body)), &ack); err != nil || ack.Seq == 0 {
		u.t.Fatalf("%s was acknowledged by %+v: %v", subject, ack, err)
	}
	return ack.Seq
}

// settle waits until everything published to a bank is in the store.
func (u *user) settle(token string) wire.Status {
	u.t.Helper()
	var s wire.Status
	natstest.Eventually(u.t, "bank "+token+" is settled", func() bool {
		m, err := u.nc.Request("mem."+token+".status", nil, 5*time.Second)
		return err == nil && m.Header.Get("Nats-Service-Error-Code") == "" && json.Unmarshal(m.Data, &s) == nil && s.Settled
	})
	return s
}

// remember retains a fact in a bank, as its bot.
func (u *user) remember(token, text string) {
	u.t.Helper()
	u.publish("mem."+token+".message.chat", fmt.Sprintf(`{"id":%q,"speaker":"Someone","content":%q}`, "said-"+text[:min(40, len(text))], text))
	u.publish("mem."+token+".flush.chat", "")
	u.settle(token)
}
