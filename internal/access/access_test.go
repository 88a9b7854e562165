package access_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/eunoe-memory/eunoe/internal/access"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

var at = time.Date(2026, 5, 20, 9, 14, 0, 0, time.UTC)

func initialised(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "auth")
	if made, err := access.Init(dir, events.Naming{}); err != nil || !made {
		t.Fatalf("%v, %v", made, err)
	}
	return dir
}

func add(t *testing.T, dir string, u access.User) access.User {
	t.Helper()
	u, err := access.Add(dir, events.Naming{}, u, at, access.ToFile(access.SeedPath(dir, u.Name)))
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestBook(t *testing.T) {
	t.Parallel()
	t.Run("a directory is created once, and without it no user can be added", func(t *testing.T) {
		t.Parallel()
		dir := initialised(t)
		add(t, dir, access.User{Name: "ann", Role: access.RoleOperator})
		if made, err := access.Init(dir, events.Naming{}); err != nil || made {
			t.Errorf("a second time: %v, %v", made, err)
		}
		if b, err := access.Read(dir); err != nil || len(b.Users) != 1 {
			t.Errorf("%+v, %v", b, err)
		}
		_, err := access.Add(t.TempDir(), events.Naming{}, access.User{Name: "ann", Role: access.RoleOperator}, at, func([]byte) error { return nil })
		if !errors.Is(err, access.ErrNone) || !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("%v", err)
		}
	})
	t.Run("the seed is in its owner's file and nowhere else", func(t *testing.T) {
		t.Parallel()
		dir := initialised(t)
		u := add(t, dir, access.User{Name: "!room:server.org", Role: access.RoleBot, Bank: "!room:server.org"})
		path := filepath.Join(dir, "%21room%3Aserver%2Eorg.nk")
		seed, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", st.Mode(), err)
		}
		if !strings.HasPrefix(string(seed), "SU") || strings.ContainsAny(string(seed), "\n ") {
			t.Errorf("%d bytes that are no seed", len(seed))
		}
		for _, f := range []string{"users.json", "auth.conf"} {
			text, err := os.ReadFile(filepath.Join(dir, f))
			if err != nil || strings.Contains(string(text), string(seed)) || !strings.Contains(string(text), u.Key) {
				t.Errorf("%s: %v\n%s", f, err, text)
			}
		}
		if st, err := os.Stat(dir); err != nil || st.Mode().Perm() != 0o700 {
			t.Errorf("%v, %v", st.Mode(), err)
		}
	})
	t.Run("a name belongs to one user, and no file is overwritten", func(t *testing.T) {
		t.Parallel()
		dir := initialised(t)
		add(t, dir, access.User{Name: "ann", Role: access.RoleOperator})
		path := filepath.Join(t.TempDir(), "mine")
		if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, u := range []access.User{{Name: "ann", Role: access.RoleWorker}, {Name: "bea", Role: access.RoleWorker}} {
			if _, err := access.Add(dir, events.Naming{}, u, at, access.ToFile(path)); !errors.Is(err, memory.ErrConflict) {
				t.Errorf("%s: %v", u.Name, err)
			}
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != "mine" {
			t.Errorf("%s, %v", text, err)
		}
		if b, err := access.Read(dir); err != nil || len(b.Users) != 1 {
			t.Errorf("%+v, %v", b, err)
		}
	})
	t.Run("an invalid user is rejected", func(t *testing.T) {
		t.Parallel()
		dir := initialised(t)
		for _, u := range []access.User{{}, {Name: "x", Role: "king"}, {Name: "x", Role: access.RoleBot}, {Name: "x", Role: access.RoleBot, Bank: "admin"},
			{Name: "x", Role: access.RoleWorker, Bank: "alice"}, {Name: strings.Repeat("x", 129), Role: access.RoleWorker}} {
			if _, err := access.Add(dir, events.Naming{}, u, at, func([]byte) error { t.Errorf("%+v: a seed was delivered", u); return nil }); !errors.Is(err, memory.ErrInvalid) {
				t.Errorf("%+v: %v", u, err)
			}
		}
	})
	t.Run("remove deletes the user and its seed", func(t *testing.T) {
		t.Parallel()
		dir := initialised(t)
		add(t, dir, access.User{Name: "ann", Role: access.RoleOperator})
		if u, err := access.Remove(dir, events.Naming{}, "ann"); err != nil || u.Role != access.RoleOperator {
			t.Errorf("%+v, %v", u, err)
		}
		if _, err := access.Remove(dir, events.Naming{}, "ann"); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("%v", err)
		}
		if _, err := os.Stat(access.SeedPath(dir, "ann")); !os.IsNotExist(err) {
			t.Errorf("%v", err)
		}
	})
	t.Run("two concurrent changes both take effect", func(t *testing.T) {
		t.Parallel()
		dir := initialised(t)
		var wg sync.WaitGroup
		for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
			wg.Go(func() {
				if _, err := access.Add(dir, events.Naming{}, access.User{Name: name, Role: access.RoleWorker}, at, access.ToFile(access.SeedPath(dir, name))); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if b, err := access.Read(dir); err != nil || len(b.Users) != 6 {
			t.Errorf("%+v, %v", b, err)
		}
	})
	t.Run("a file edited by hand is validated", func(t *testing.T) {
		t.Parallel()
		for _, text := range []string{"", "{", `{"format":2,"users":[]}`, `{"format":1,"users":[{"name":"x","role":"bot"}]}`, `{"format":1,"user":[]}`} {
			dir := initialised(t)
			if err := os.WriteFile(filepath.Join(dir, "users.json"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := access.Read(dir); !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), "users.json") {
				t.Errorf("%q: %v", text, err)
			}
		}
	})
}

func TestConf(t *testing.T) {
	t.Parallel()
	t.Run("a server accepts the permissions of the roles, whatever the names are", func(t *testing.T) {
		t.Parallel()
		dir := initialised(t)
		n := events.Naming{Prefix: "own"}
		want := map[string]access.User{}
		for _, u := range []access.User{{Name: "\"}\n$x: {", Role: access.RoleOperator}, {Name: "w", Role: access.RoleWorker},
			{Name: "b", Role: access.RoleBot, Bank: "\"} # {"}, {Name: "b2", Role: access.RoleBot, Bank: "\"} # {"}, {Name: "c", Role: access.RoleBot, Bank: "true"}} {
			u = add(t, dir, u)
			want[u.Key] = u
		}
		b, err := access.Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "nats.conf")
		if err := os.WriteFile(path, []byte(access.Conf(b, n)), 0o600); err != nil {
			t.Fatal(err)
		}
		o, err := server.ProcessConfigFile(path)
		if err != nil {
			t.Fatalf("%v\n%s", err, access.Conf(b, n))
		}
		if len(o.Nkeys) != len(want) || len(o.Users) != 0 || len(o.Accounts) != 3 {
			t.Fatalf("%d users in %d accounts", len(o.Nkeys), len(o.Accounts))
		}
		for _, u := range o.Nkeys {
			p := want[u.Nkey].Permissions(n)
			if !slices.Equal(u.Permissions.Publish.Allow, p.Publish) || !slices.Equal(u.Permissions.Subscribe.Allow, p.Subscribe) || (u.Permissions.Response != nil) != p.Responds {
				t.Errorf("%s: %+v", want[u.Nkey].Name, u.Permissions)
			}
			if p.Responds && (u.Permissions.Response.MaxMsgs != -1 || u.Permissions.Response.Expires != access.AnswerWithin) {
				t.Errorf("%+v", u.Permissions.Response)
			}
			account := want[u.Nkey].Tenant()
			if account == "" {
				account = "OWN_STREAMS"
			}
			if u.Account.Name != account {
				t.Errorf("%s is in %s", want[u.Nkey].Name, u.Account.Name)
			}
		}
	})
}

func TestPermissions(t *testing.T) {
	t.Parallel()
	n := events.Naming{}
	t.Run("a bot may not publish to subjects reserved for a stage", func(t *testing.T) {
		t.Parallel()
		p := access.User{Role: access.RoleBot, Bank: "alice"}.Permissions(n)
		for _, s := range n.Streams(events.StreamOptions{}) {
			for _, kept := range s.Subjects {
				kind := strings.Split(kept, ".")[2]
				allowed := slices.ContainsFunc(p.Publish, func(a string) bool { return strings.HasPrefix(a, "mem.alice."+kind+".") })
				if want := kind == events.KindMessage || kind == events.KindFlush; allowed != want {
					t.Errorf("%s: allowed is %v", kept, allowed)
				}
			}
		}
	})
	t.Run("no role deletes or purges a stream", func(t *testing.T) {
		t.Parallel()
		for _, r := range []access.Role{access.RoleBot, access.RoleWorker, access.RoleOperator, access.RoleRestorer} {
			p := access.User{Role: r, Bank: "alice"}.Permissions(n)
			if len(p.Publish) == 0 || len(p.Subscribe) == 0 {
				t.Errorf("%s may do nothing", r)
			}
			for _, s := range p.Publish {
				if s == ">" || strings.HasPrefix(s, "$JS.API.>") || strings.Contains(s, "STREAM.DELETE") || strings.Contains(s, "PURGE") || strings.HasPrefix(s, "$SYS") {
					t.Errorf("%s may publish to %s", r, s)
				}
			}
		}
		if p := (access.User{Role: "king"}).Permissions(n); len(p.Publish)+len(p.Subscribe) > 0 {
			t.Errorf("an unknown role may %+v", p)
		}
	})
}
