package access_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/eunoe-memory/eunoe/internal/access"
	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

func TestListening(t *testing.T) {
	t.Parallel()
	t.Run("it refuses to listen beyond this machine without users, and says how to make them", func(t *testing.T) {
		t.Parallel()
		for _, address := range []string{"0.0.0.0", "::"} {
			l, err := local.Start(t.Context(), quietSettings(t, map[string]string{"LISTEN": address}), os.Stderr)
			if err == nil {
				_ = l.Close(context.Background())
				t.Fatalf("%s: it listens, open to all", address)
			}
			if !strings.Contains(err.Error(), "EUNOE_LISTEN") || !strings.Contains(err.Error(), "eunoe auth init") {
				t.Errorf("%s: %v", address, err)
			}
		}
	})
	t.Run("with users it listens beyond this machine, and admits nobody else", func(t *testing.T) {
		t.Parallel()
		w := embedded(t, map[string]string{"LISTEN": "0.0.0.0"})
		if !strings.HasPrefix(w.url, "nats://127.0.0.1:") {
			t.Errorf("clients of this machine are told %s", w.url)
		}
		if nc, err := nats.Connect(w.url); !errors.Is(err, nats.ErrAuthorization) {
			t.Errorf("without credentials: %v, %v", nc, err)
		}
		if nc, err := nats.Connect(w.url, nats.UserInfo("worker", "worker")); !errors.Is(err, nats.ErrAuthorization) {
			t.Errorf("with a password: %v, %v", nc, err)
		}
		u, err := access.Read(w.auth)
		if err != nil {
			t.Fatal(err)
		}
		forged := func([]byte) ([]byte, error) { return make([]byte, 64), nil }
		for _, user := range u.Users {
			if nc, err := nats.Connect(w.url, nats.Nkey(user.Key, forged)); !errors.Is(err, nats.ErrAuthorization) {
				t.Errorf("with the public key of %s alone: %v, %v", user.Name, nc, err)
			}
		}
		w.login(t, "alice").mustAsk("mem.alice.message.chat", `{"content":"x"}`)
	})
	t.Run("what was stored before there were users can still be read afterwards", func(t *testing.T) {
		t.Parallel()
		c := quietSettings(t, nil)
		open, err := local.Start(t.Context(), c, os.Stderr)
		if err != nil {
			t.Fatal(err)
		}
		nc, err := nats.Connect(open.URL)
		if err != nil {
			t.Fatal(err)
		}
		(&user{t: t, nc: nc}).remember("alice", "I am allergic to shellfish.")
		nc.Close()
		if err := open.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		w := &deployment{auth: c.AuthDirectory(), conf: c}
		if _, err := access.Init(w.auth, w.naming); err != nil {
			t.Fatal(err)
		}
		w.standard(t)
		w.start(t)
		a := w.login(t, "alice")
		a.remember("alice", "I moved to Lisbon.")
		if out := a.mustAsk("mem.alice.list", `{"record":"message"}`); !strings.Contains(out, "shellfish") || !strings.Contains(out, "Lisbon") {
			t.Errorf("the bank holds %s", out)
		}
	})
	t.Run("a deployment's own prefix is part of every subject and permission", func(t *testing.T) {
		t.Parallel()
		w := embedded(t, map[string]string{"PREFIX": "own"})
		a := w.login(t, "alice")
		a.mustAsk("own.alice.message.chat", `{"content":"x"}`)
		if err := a.nc.Publish("mem.alice.message.chat", nil); err != nil {
			t.Fatal(err)
		}
		a.expectRefusal("mem.alice.message.chat")
		if out := must(w.login(t, "operator").nc.Request("$JS.API.STREAM.INFO.OWN_MESSAGES", nil, 10*time.Second))(t); strings.Contains(out, `"error"`) {
			t.Error(out)
		}
	})
	t.Run("a bot may ask whatever the query stage answers for a bank", func(t *testing.T) {
		t.Parallel()
		w := embedded(t, nil)
		var info micro.Info
		if err := json.Unmarshal([]byte(must(w.login(t, "operator").nc.Request("$SRV.INFO.eunoe", nil, 10*time.Second))(t)), &info); err != nil {
			t.Fatal(err)
		}
		if len(info.Endpoints) < 17 {
			t.Fatalf("%d endpoints", len(info.Endpoints))
		}
		for _, e := range info.Endpoints {
			request, ofBank := strings.CutPrefix(e.Subject, "mem.*.")
			if ofBank && !slices.Contains(access.Requests(), request) {
				t.Errorf("%s is no endpoint of a bot: list it in internal/access/permissions.go", request)
			}
		}
	})
}

func TestTheClientSaysWhatToDo(t *testing.T) {
	t.Parallel()
	w := embedded(t, nil)
	connect := func(t *testing.T, change func(*client.Config)) (*client.Client, error) {
		t.Helper()
		cfg := client.DefaultConfig()
		cfg.URL, cfg.Creds = w.url, w.seed("alice")
		if change != nil {
			change(&cfg)
		}
		c, err := client.Connect(t.Context(), cfg)
		if err == nil {
			t.Cleanup(func() { _ = c.Close() })
		}
		return c, err
	}
	expect := func(t *testing.T, meaning, err error, says ...string) {
		t.Helper()
		for _, s := range says {
			if !errors.Is(err, meaning) || !strings.Contains(err.Error(), s) {
				t.Errorf("%v; want %q in it", err, s)
			}
		}
	}
	t.Run("a connection without credentials is refused, and the error says how to make them", func(t *testing.T) {
		t.Parallel()
		_, err := connect(t, func(c *client.Config) { c.Creds = "" })
		expect(t, memory.ErrForbidden, err, "EUNOE_CREDS", "eunoe auth")
	})
	t.Run("a file that is no credentials is refused", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "secret")
		if err := os.WriteFile(path, []byte("hunter2 is my password"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := connect(t, func(c *client.Config) { c.Creds = path })
		expect(t, memory.ErrInvalid, err, path, ".creds")
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("it shows the file: %v", err)
		}
	})
	t.Run("credentials of a removed user are refused", func(t *testing.T) {
		t.Parallel()
		other := &deployment{auth: t.TempDir()}
		if _, err := access.Init(other.auth, other.naming); err != nil {
			t.Fatal(err)
		}
		other.add(t, access.User{Name: "stranger", Role: access.RoleBot, Bank: "alice"})
		_, err := connect(t, func(c *client.Config) { c.Creds = other.seed("stranger") })
		expect(t, memory.ErrForbidden, err, other.seed("stranger"), "removed")
	})
	t.Run("requests to another bank are refused at once", func(t *testing.T) {
		t.Parallel()
		c, err := connect(t, nil)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		_, err = c.Recall(t.Context(), "bob", wire.RecallRequest{Query: "x"})
		expect(t, memory.ErrForbidden, err, "mem.bob.recall", "own bank")
		_, err = c.Publish(t.Context(), "bob", "chat", memory.Message{Content: "x"})
		expect(t, memory.ErrForbidden, err, "mem.bob.message.chat")
		_, err = c.Flush(t.Context(), "bob", "chat")
		expect(t, memory.ErrForbidden, err, "mem.bob.flush.chat")
		_, err = c.Admin().Erase(t.Context(), "alice")
		expect(t, memory.ErrForbidden, err, "mem.admin.erase", "operators")
		sub, err := c.Subscribe(t.Context(), "bob", "")
		if err == nil {
			_, err = sub.Next(t.Context())
		}
		expect(t, memory.ErrForbidden, err, "mem.bob.change.*")
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("it took %s", took)
		}
		many := make([]memory.Message, 40) // ingest refuses the headers of a batch
		for i := range many {
			many[i].Content = fmt.Sprintf("I planted leek %d.", i)
		}
		for range 2 {
			seqs, err := c.PublishAll(t.Context(), "alice", "chat", many)
			if err != nil || len(seqs) != len(many) || slices.Contains(seqs, 0) {
				t.Errorf("published at %v: %v", seqs, err)
			}
		}
		if _, err := c.Publish(t.Context(), "alice", "chat", memory.Message{Content: "x"}); err != nil {
			t.Errorf("its own bank afterwards: %v", err)
		}
	})
	t.Run("an inbox of another user is refused, and the error names the setting", func(t *testing.T) {
		t.Parallel()
		c, err := connect(t, func(c *client.Config) { c.InboxPrefix = "_INBOX_bob" })
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			_, err = c.Status(t.Context(), "alice")
			expect(t, memory.ErrForbidden, err, "_INBOX_bob", "EUNOE_INBOX")
		}
	})
	t.Run("credentials for a server without users are refused, and the error says how to make users", func(t *testing.T) {
		t.Parallel()
		l, err := local.Start(t.Context(), quietSettings(t, nil), os.Stderr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close(context.Background()) })
		_, err = connect(t, func(c *client.Config) { c.URL = l.URL })
		expect(t, memory.ErrInvalid, err, "eunoe auth init")
	})
	t.Run("no error shows the password in an address", func(t *testing.T) {
		t.Parallel()
		_, err := connect(t, func(c *client.Config) {
			c.URL, c.Creds = strings.Replace(w.url, "nats://", "nats://me:hunter2@", 1), ""
		})
		expect(t, memory.ErrForbidden, err, "EUNOE_CREDS")
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("it shows the password: %v", err)
		}
	})
}

func TestTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ca := newAuthority(t, dir)
	cert, key := ca.sign(t, dir, "server")
	own, ownKey := ca.sign(t, dir, "client")
	dial := func(url, seed string, tls events.TLS) error {
		c, err := events.Dial(events.ConnConfig{URL: url, Creds: seed, TLS: tls})
		if err != nil {
			return err
		}
		defer c.Close()
		_, err = c.NC.Request("mem.alice.message.chat", []byte(`{"content":"x"}`), 5*time.Second)
		return err
	}
	t.Run("a client trusts the certificate authority that it names", func(t *testing.T) {
		t.Parallel()
		w := embedded(t, map[string]string{"TLS_CERT": cert, "TLS_KEY": key})
		if err := dial(w.url, w.seed("alice"), events.TLS{CA: ca.path}); err != nil {
			t.Error(err)
		}
		if err := dial(w.url, w.seed("alice"), events.TLS{}); err == nil || !strings.Contains(err.Error(), "EUNOE_TLS_CA") {
			t.Errorf("without the authority: %v", err)
		}
		if !strings.HasPrefix(w.url, "tls://") {
			t.Errorf("the address is %s", w.url)
		}
	})
	t.Run("a server with a certificate authority requires a client certificate", func(t *testing.T) {
		t.Parallel()
		w := embedded(t, map[string]string{"TLS_CERT": cert, "TLS_KEY": key, "TLS_CA": ca.path})
		if err := dial(w.url, w.seed("alice"), events.TLS{CA: ca.path, Cert: own, Key: ownKey}); err != nil {
			t.Error(err)
		}
		strange, strangeKey := newAuthority(t, t.TempDir()).sign(t, t.TempDir(), "stranger")
		for name, shown := range map[string]events.TLS{"none": {CA: ca.path}, "another authority's": {CA: ca.path, Cert: strange, Key: strangeKey}} {
			if err := dial(w.url, w.seed("alice"), shown); err == nil {
				t.Errorf("it let in who showed %s", name)
			} else if errors.Is(err, memory.ErrForbidden) != strings.Contains(err.Error(), "EUNOE_TLS_CERT") {
				t.Errorf("who showed %s is told %v", name, err)
			}
		}
	})
	t.Run("a certificate that does not hold is told from an authority that is not known", func(t *testing.T) {
		t.Parallel()
		for name, c := range map[string]struct {
			change func(*x509.Certificate)
			want   string
		}{
			"expired":   {func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }, "expired"},
			"not yet":   {func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Minute) }, "not yet valid"},
			"elsewhere": {func(c *x509.Certificate) { c.IPAddresses, c.DNSNames = nil, []string{"elsewhere.example"} }, "127.0.0.1"},
		} {
			certFile, keyFile := ca.signChanged(t, dir, name, c.change)
			pair, err := tls.LoadX509KeyPair(certFile, keyFile)
			if err != nil {
				t.Fatal(err)
			}
			s, err := natsserver.NewServer(&natsserver.Options{Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true, TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}}})
			if err != nil {
				t.Fatal(err)
			}
			s.Start()
			t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
			if err := dial(s.ClientURL(), "", events.TLS{CA: ca.path}); !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "EUNOE_TLS_CA") {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
	t.Run("a wrong file is named", func(t *testing.T) {
		t.Parallel()
		for setting, set := range map[string]map[string]string{
			"EUNOE_TLS_CERT": {"TLS_CERT": cert}, "EUNOE_TLS_KEY": {"TLS_CERT": key, "TLS_KEY": cert}, "EUNOE_TLS_CA": {"TLS_CA": "/no/such/file"},
			"EUNOE_TLS_CA: " + key + " holds no certificate": {"TLS_CA": key},
			"EUNOE_LISTEN": {"LISTEN": "everywhere"}, "EUNOE_INBOX": {"INBOX": "_INBOX.>"},
		} {
			if _, _, err := settings.Load(nil, set); err == nil || !strings.Contains(err.Error(), setting) {
				t.Errorf("%v: %v", set, err)
			}
		}
		for _, tls := range []events.TLS{{CA: "/no/such/file"}, {CA: key}, {CA: os.DevNull}, {Cert: cert}, {Cert: "/no/such/file", Key: key}, {Cert: own, Key: key}} {
			if _, err := events.Dial(events.ConnConfig{TLS: tls}); !errors.Is(err, memory.ErrInvalid) {
				t.Errorf("%+v: %v", tls, err)
			}
		}
	})
}

// authority signs certificates of this machine.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	path string
}

func newAuthority(t *testing.T, dir string) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	a := &authority{cert: cert, key: key, path: filepath.Join(dir, "ca.pem")}
	writePEM(t, a.path, "CERTIFICATE", der)
	return a
}

func (a *authority) sign(t *testing.T, dir, name string) (cert, key string) {
	t.Helper()
	return a.signChanged(t, dir, name, func(*x509.Certificate) {})
}

func (a *authority) signChanged(t *testing.T, dir, name string, change func(*x509.Certificate)) (cert, key string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	change(tmpl)
	der, err := x509.CreateCertificate(rand.Reader, tmpl, a.cert, &k.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, name+".pem"), filepath.Join(dir, name+".key")
	writePEM(t, cert, "CERTIFICATE", der)
	writePEM(t, key, "EC PRIVATE KEY", private)
	return cert, key
}

func writePEM(t *testing.T, path, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}
