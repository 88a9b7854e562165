package natsd_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/eunoe-memory/eunoe/internal/natsd"
)

// key is a user's key in memory.
type key struct {
	public string
	pair   nkeys.KeyPair
}

func newKey(t *testing.T) key {
	t.Helper()
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	public, err := pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return key{public, pair}
}

func (k key) option() nats.Option { return nats.Nkey(k.public, k.pair.Sign) }

func TestRules(t *testing.T) {
	t.Parallel()
	host, one, two := newKey(t), newKey(t), newKey(t)
	tenant := func(name string) natsd.Tenant {
		return natsd.Tenant{Name: name, Imports: natsd.Exports{Requests: []string{"ask." + name}, Streamed: []string{"stream." + name}, Events: []string{"tell." + name}}}
	}
	user := func(name string, k key) natsd.User {
		return natsd.User{Name: name, Key: k.public, Tenant: name, Publish: []string{"ask.*", "stream.*"}, Subscribe: []string{"_INBOX.>", "tell.>"}}
	}
	rules := natsd.Rules{
		Exports: natsd.Exports{Requests: []string{"ask.*"}, Streamed: []string{"stream.*"}, Events: []string{"tell.*"}},
		Tenants: []natsd.Tenant{tenant("one")}, Answers: time.Minute,
		Users: []natsd.User{{Name: "host", Key: host.public, Publish: []string{"tell.>", "$JS.API.>"}, Subscribe: []string{">"}, Responds: time.Minute}, user("one", one)},
	}
	start := func(t *testing.T) *natsd.Server {
		t.Helper()
		s, err := natsd.Start(natsd.Config{Dir: t.TempDir(), Port: natsd.RandomPort, Rules: &rules})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Shutdown)
		nc, _ := connect(t, s.ClientURL(), host.option())
		for _, subject := range []string{"ask.*", "stream.*"} {
			if _, err := nc.Subscribe(subject, func(m *nats.Msg) { _ = m.Respond([]byte("1")); _ = m.Respond([]byte("2")) }); err != nil {
				t.Fatal(err)
			}
		}
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
		return s
	}

	t.Run("a tenant reaches its endpoints and receives what is addressed to it", func(t *testing.T) {
		t.Parallel()
		s := start(t)
		nc, _ := connect(t, s.ClientURL(), one.option())
		if m, err := nc.Request("ask.one", nil, 5*time.Second); err != nil || string(m.Data) != "1" {
			t.Errorf("%v, %v", m, err)
		}
		if _, err := nc.Request("ask.two", nil, time.Second); !errors.Is(err, nats.ErrNoResponders) {
			t.Errorf("the endpoint of another tenant: %v", err)
		}
		inbox := nc.NewInbox()
		answers, err := nc.SubscribeSync(inbox)
		if err != nil {
			t.Fatal(err)
		}
		if err := nc.PublishRequest("stream.one", inbox, nil); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"1", "2"} {
			if m, err := answers.NextMsg(30 * time.Second); err != nil || string(m.Data) != want {
				t.Errorf("%v, %v", m, err)
			}
		}
		heard, err := nc.SubscribeSync("tell.>")
		if err != nil {
			t.Fatal(err)
		}
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
		hc, _ := connect(t, s.ClientURL(), host.option())
		for _, subject := range []string{"tell.two", "tell.one"} {
			if err := hc.Publish(subject, nil); err != nil {
				t.Fatal(err)
			}
		}
		if m, err := heard.NextMsg(30 * time.Second); err != nil || m.Subject != "tell.one" {
			t.Errorf("%v, %v", m, err)
		}
	})
	t.Run("unknown users are rejected", func(t *testing.T) {
		t.Parallel()
		s := start(t)
		stolen := nats.Nkey(one.public, two.pair.Sign)
		for name, opts := range map[string][]nats.Option{"nobody": nil, "a stranger": {two.option()}, "who cannot sign": {stolen}, "a password": {nats.UserInfo("one", "one")}} {
			if nc, err := nats.Connect(s.ClientURL(), opts...); !errors.Is(err, nats.ErrAuthorization) {
				t.Errorf("%s: %v, %v", name, nc, err)
			}
		}
	})
	t.Run("users are added and removed while others stay connected", func(t *testing.T) {
		t.Parallel()
		s := start(t)
		gone := make(chan struct{})
		nc, _ := connect(t, s.ClientURL(), one.option(), nats.MaxReconnects(0), nats.ClosedHandler(func(*nats.Conn) { close(gone) }))
		hc, _ := connect(t, s.ClientURL(), host.option(), nats.MaxReconnects(0))
		more := rules
		more.Tenants = append(more.Tenants[:1:1], tenant("two"))
		more.Users = append(more.Users[:2:2], user("two", two))
		for range 2 {
			if err := s.SetRules(more); err != nil {
				t.Fatal(err)
			}
		}
		second, _ := connect(t, s.ClientURL(), two.option())
		for subject, c := range map[string]*nats.Conn{"ask.two": second, "ask.one": nc} {
			if _, err := c.Request(subject, nil, 5*time.Second); err != nil {
				t.Errorf("%s: %v", subject, err)
			}
		}
		fewer := more
		fewer.Users = append(more.Users[:1:1], more.Users[2])
		if err := s.SetRules(fewer); err != nil {
			t.Fatal(err)
		}
		select {
		case <-gone:
		case <-time.After(10 * time.Second):
			t.Error("a removed user stays connected")
		}
		if c, err := nats.Connect(s.ClientURL(), one.option()); err == nil {
			c.Close()
			t.Error("a removed user gets in again")
		}
		if hc.IsClosed() || second.IsClosed() {
			t.Error("others were cut off")
		}
	})
	t.Run("an empty list of subjects allows none", func(t *testing.T) {
		t.Parallel()
		s := start(t)
		bare := rules
		bare.Users = append(bare.Users[:2:2], natsd.User{Name: "bare", Key: two.public})
		if err := s.SetRules(bare); err != nil {
			t.Fatal(err)
		}
		refused := make(chan error, 2)
		nc, _ := connect(t, s.ClientURL(), two.option(), nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err }))
		if err := nc.Publish("ask.one", nil); err != nil {
			t.Fatal(err)
		}
		if _, err := nc.SubscribeSync("tell.one"); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			select {
			case err := <-refused:
				if !errors.Is(err, nats.ErrPermissionViolation) {
					t.Error(err)
				}
			case <-time.After(10 * time.Second):
				t.Fatal("it was allowed")
			}
		}
	})
	t.Run("invalid rules are rejected, and the old ones stay in force", func(t *testing.T) {
		t.Parallel()
		s := start(t)
		for says, wrong := range map[string]natsd.Rules{
			"no public key":  {Users: []natsd.User{{Name: "x", Key: "x"}}},
			"one key":        {Users: []natsd.User{{Name: "x", Key: one.public}, {Name: "y", Key: one.public}}},
			"which is none":  {Users: []natsd.User{{Name: "x", Key: one.public, Tenant: "nobody"}}},
			"no name of its": {Tenants: []natsd.Tenant{{}}},
		} {
			if err := s.SetRules(wrong); err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%v; want %q", err, says)
			}
		}
		connect(t, s.ClientURL(), one.option())
		open, err := natsd.Start(natsd.Config{Dir: t.TempDir(), Port: natsd.RandomPort})
		if err != nil {
			t.Fatal(err)
		}
		defer open.Shutdown()
		if open.SetRules(rules) == nil {
			t.Error("an open server took rules")
		}
	})
	t.Run("an invalid certificate is named", func(t *testing.T) {
		t.Parallel()
		for _, tls := range []natsd.TLS{{Cert: "x"}, {CA: "x"}, {Cert: "/no/such/cert", Key: "/no/such/key"}} {
			if s, err := natsd.Start(natsd.Config{Dir: t.TempDir(), Port: natsd.RandomPort, TLS: tls}); err == nil {
				s.Shutdown()
				t.Errorf("%+v was taken", tls)
			}
		}
	})
}
