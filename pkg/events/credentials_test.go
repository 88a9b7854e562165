package events_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/jwt/v2"
	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// pair generates a key pair and returns its public key and its seed.
func pair(t *testing.T, how func() (nkeys.KeyPair, error)) (nkeys.KeyPair, string, []byte) {
	t.Helper()
	k, err := how()
	if err != nil {
		t.Fatal(err)
	}
	public, err := k.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := k.Seed()
	if err != nil {
		t.Fatal(err)
	}
	return k, public, seed
}

// broker runs a server with the given options.
func broker(t *testing.T, o *natsserver.Options) string {
	t.Helper()
	o.Host, o.Port, o.NoLog, o.NoSigs = "127.0.0.1", -1, true, true
	s, err := natsserver.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	return s.ClientURL()
}

func file(t *testing.T, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "creds")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	t.Run("the seed of an nkey connects, with and without a line break", func(t *testing.T) {
		t.Parallel()
		_, public, seed := pair(t, nkeys.CreateUser)
		url := broker(t, &natsserver.Options{Nkeys: []*natsserver.NkeyUser{{Nkey: public}}})
		for _, text := range []string{string(seed), string(seed) + "\n", "# of alice\n" + string(seed) + "\n"} {
			c, err := events.Dial(events.ConnConfig{URL: url, Creds: file(t, []byte(text))})
			if err != nil {
				t.Error(err)
				continue
			}
			c.Close()
		}
		_, _, other := pair(t, nkeys.CreateUser)
		path := file(t, other)
		_, err := events.Dial(events.ConnConfig{URL: url, Creds: path})
		if !errors.Is(err, memory.ErrForbidden) || !strings.Contains(err.Error(), path) {
			t.Errorf("another's: %v", err)
		}
	})
	t.Run("a signed .creds file connects", func(t *testing.T) {
		t.Parallel()
		operator, operatorKey, _ := pair(t, nkeys.CreateOperator)
		account, accountKey, _ := pair(t, nkeys.CreateAccount)
		_, userKey, seed := pair(t, nkeys.CreateUser)
		signed, err := jwt.NewAccountClaims(accountKey).Encode(operator)
		if err != nil {
			t.Fatal(err)
		}
		accounts := &natsserver.MemAccResolver{}
		if err := accounts.Store(accountKey, signed); err != nil {
			t.Fatal(err)
		}
		url := broker(t, &natsserver.Options{TrustedKeys: []string{operatorKey}, AccountResolver: accounts})
		user, err := jwt.NewUserClaims(userKey).Encode(account)
		if err != nil {
			t.Fatal(err)
		}
		text, err := jwt.FormatUserConfig(user, seed)
		if err != nil {
			t.Fatal(err)
		}
		c, err := events.Dial(events.ConnConfig{URL: url, Creds: file(t, text), InboxPrefix: "_INBOX_alice"})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(c.NC.NewInbox(), "_INBOX_alice.") {
			t.Errorf("replies come under %s", c.NC.NewInbox())
		}
		c.Close()
	})
	t.Run("other credentials are rejected and not printed", func(t *testing.T) {
		t.Parallel()
		_, _, account := pair(t, nkeys.CreateAccount)
		for _, text := range []string{"", "hunter2", string(account), "SUhunter2", "\x00\xff"} {
			path := file(t, []byte(text))
			_, err := events.Dial(events.ConnConfig{Creds: path})
			if !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), path) {
				t.Errorf("%q: %v", text, err)
			} else if text != "" && strings.Contains(err.Error(), text) {
				t.Errorf("it is shown: %v", err)
			}
		}
		if _, err := events.Dial(events.ConnConfig{Creds: "/no/such/file"}); !errors.Is(err, memory.ErrInvalid) {
			t.Error(err)
		}
	})
	t.Run("an address is shown without its password", func(t *testing.T) {
		t.Parallel()
		for from, want := range map[string]string{
			"nats://127.0.0.1:4222": "nats://127.0.0.1:4222", "nats://me:secret@a:1, tls://b:2": "nats://a:1, tls://b:2",
			"nats://secret@a": "nats://a", "://me:secret@%zz": "(an address that cannot be read)", "": "",
		} {
			if got := events.RedactURL(from); got != want {
				t.Errorf("%q is shown as %q", from, got)
			}
		}
	})
}
