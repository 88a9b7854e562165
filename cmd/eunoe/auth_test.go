package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/internal/access"
	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/internal/app/settings"
)

func TestAuth(t *testing.T) {
	t.Parallel()
	place := func(t *testing.T) (string, []string) {
		dir := filepath.Join(t.TempDir(), "users")
		return dir, []string{"EUNOE_AUTH_DIR=" + dir}
	}
	t.Run("init creates the directory and prints the next step", func(t *testing.T) {
		t.Parallel()
		dir, environ := place(t)
		for _, args := range [][]string{{"auth", "list"}, {"auth", "add-bot", "alice"}, {"auth", "remove", "alice"}} {
			if r := run(t, t.Context(), environ, "", args...); r.code != 3 || !strings.Contains(r.err, "eunoe auth init") {
				t.Errorf("%v: %+v", args, r)
			}
		}
		if out := ok(t, environ, "auth", "init"); !strings.Contains(out, dir) || !strings.Contains(out, "add-bot") {
			t.Error(out)
		}
		if out := ok(t, environ, "auth", "list"); !strings.Contains(out, "nobody can connect") {
			t.Error(out)
		}
		if v := apptest.Decode[map[string]any](t, ok(t, environ, "auth", "init", "--json")); v["made"] != false || v["directory"] != dir {
			t.Errorf("%v", v)
		}
		if out := ok(t, environ, "auth"); !strings.Contains(out, "add-operator") {
			t.Error(out)
		}
	})
	t.Run("users are created, listed and removed, and a seed is shown only on request", func(t *testing.T) {
		t.Parallel()
		dir, environ := place(t)
		ok(t, environ, "auth", "init")
		out := filepath.Join(t.TempDir(), "alice.nk")
		said := ok(t, environ, "auth", "add-bot", "alice", "--out", out) + ok(t, environ, "auth", "add-bot", "alice", "--name", "alice-2", "--json") +
			ok(t, environ, "auth", "add-worker") + ok(t, environ, "auth", "add-operator", "ann") + ok(t, environ, "auth", "list")
		for _, path := range []string{out, access.SeedPath(dir, "alice-2"), access.SeedPath(dir, "worker"), access.SeedPath(dir, "ann")} {
			seed, err := os.ReadFile(path)
			if err != nil || !strings.HasPrefix(string(seed), "SU") {
				t.Errorf("%s: %v", path, err)
			}
			if strings.Contains(said, string(seed)) {
				t.Errorf("the seed in %s was printed", path)
			}
		}
		if seed := ok(t, environ, "auth", "add-worker", "second", "--print"); !strings.HasPrefix(seed, "SU") || strings.Count(seed, "\n") != 1 {
			t.Error("the seed that was asked for is not what was printed")
		}
		if _, err := os.Stat(access.SeedPath(dir, "second")); !os.IsNotExist(err) {
			t.Errorf("a printed seed was written, too: %v", err)
		}
		if r := run(t, t.Context(), environ, "", "auth", "add-operator", "alice"); r.code != 4 || !strings.Contains(r.err, "alice") {
			t.Errorf("%+v", r)
		}
		users := apptest.Decode[[]access.User](t, ok(t, environ, "auth", "list", "--json"))
		if len(users) != 5 || users[0].Bank != "alice" || users[0].Key == "" {
			t.Errorf("%+v", users)
		}
		ok(t, environ, "auth", "remove", "second")
		if u := apptest.Decode[access.User](t, ok(t, environ, "auth", "remove", "ann", "--json")); u.Name != "ann" {
			t.Errorf("%+v", u)
		}
		if r := run(t, t.Context(), environ, "", "auth", "remove", "ann"); r.code != 3 {
			t.Errorf("%+v", r)
		}
		if out := ok(t, environ, "auth", "list"); strings.Contains(out, "ann") || !strings.Contains(out, "speak for the bank alice") {
			t.Error(out)
		}
	})
	t.Run("the directory is named by a flag, the environment or the data directory", func(t *testing.T) {
		t.Parallel()
		data, dir := t.TempDir(), filepath.Join(t.TempDir(), "users")
		for _, tc := range []struct {
			environ, args []string
			want          string
		}{
			{nil, []string{"--data", data}, filepath.Join(data, "auth")},
			{[]string{"EUNOE_DATA=" + data}, nil, filepath.Join(data, "auth")},
			{[]string{"EUNOE_AUTH_DIR=/no/such/place"}, []string{"--dir", dir}, dir},
		} {
			if v := apptest.Decode[map[string]any](t, ok(t, tc.environ, append([]string{"auth", "init", "--json"}, tc.args...)...)); v["directory"] != tc.want {
				t.Errorf("%v %v: %v", tc.environ, tc.args, v)
			}
		}
	})
	t.Run("mistakes are usage errors", func(t *testing.T) {
		t.Parallel()
		_, environ := place(t)
		ok(t, environ, "auth", "init")
		for _, args := range [][]string{{"add-bot"}, {"add-bot", "admin"}, {"add-bot", ""}, {"add-operator"}, {"remove"}, {"list", "x"}, {"add-worker", "a", "b"},
			{"add-bot", "a", "--out", "x", "--print"}} {
			if r := run(t, t.Context(), environ, "", append([]string{"auth"}, args...)...); r.code != 2 {
				t.Errorf("%v: %+v", args, r)
			}
		}
	})
}

// TestEveryCommandWithCredentials runs each command as the user whose role allows it.
func TestEveryCommandWithCredentials(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	base := []string{"EUNOE_DATA=" + data, "EUNOE_PORT=-1", "EUNOE_LOG=fatal", "EUNOE_SYNC=false", "EUNOE_TIMEOUT=20s"}
	for _, args := range [][]string{{"init"}, {"add-bot", "alice"}, {"add-operator", "ann"}, {"add-operator", "rex", "--restore"}} {
		ok(t, base, append([]string{"auth"}, args...)...)
	}
	c, _, err := settings.Load(base, nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := local.Start(t.Context(), c, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, l) })
	base = append(base, "EUNOE_URL="+l.URL, "EUNOE_BANK=alice")
	bot := append(base[:len(base):len(base)], "EUNOE_CREDS="+filepath.Join(data, "auth", "alice.nk"))
	operator := append(base[:len(base):len(base)], "EUNOE_CREDS="+filepath.Join(data, "auth", "ann.nk"))
	talk(t, bot, "alice")
	items := apptest.Decode[page](t, ok(t, bot, "list", "--json")).Items
	if len(items) == 0 {
		t.Fatal("no facts")
	}
	id, export := items[0].ID, filepath.Join(t.TempDir(), "alice.jsonl")
	asked := [][]string{{"recall", "Paris"}, {"reflect", "Paris"}, {"reflect", "--stream", "Paris"}, {"get", id}, {"list"}, {"tree"}, {"entities"}, {"history", id},
		{"tail", "--after", "0", "--count", "1"}, {"status"}, {"bank"}, {"bank", "set", "--name", "Alice"}, {"retain", "Alice likes tea."}, {"observe"},
		{"consolidate", "--force"}, {"conflicts"}, {"feedback", "--used", id, "--outcome", "success"}, {"config"}}
	for _, args := range asked {
		ok(t, bot, args...)
		ok(t, operator, args...)
	}
	for _, args := range [][]string{{"publish", "--flush", "I have a dog."}, {"status", "--wait"}, {"edit", id, "Alice lives in Paris, France."}, {"forget", "--session", "later", "--yes"}} {
		ok(t, bot, args...)
	}
	for _, args := range [][]string{{"banks"}, {"dead", "list"}, {"doctor"}, {"export", "--out", export}} {
		ok(t, operator, args...)
	}
	ok(t, append(base[:len(base):len(base)], "EUNOE_CREDS="+filepath.Join(data, "auth", "rex.nk")), "import", export, "--bank", "anew")
	for _, args := range [][]string{{"banks"}, {"dead", "list"}, {"forget", "--whole-bank", "--yes"}} {
		if r := run(t, t.Context(), bot, "", args...); r.code != 9 {
			t.Errorf("the bot is not refused %v: %+v", args, r)
		}
	}
	if r := run(t, t.Context(), operator, "", "publish", "x"); r.code != 9 || !strings.Contains(r.err, "publish to mem.alice.message") {
		t.Errorf("an operator publishes: %+v", r)
	}
	if out := ok(t, bot, "doctor"); !strings.Contains(out, "not checked: the streams and the stages") || !strings.Contains(out, "the store answers") {
		t.Errorf("doctor says to a bot: %s", out)
	}
	if out := ok(t, bot, "status"); strings.Contains(out, "No stage answers") {
		t.Error(out)
	}
	ok(t, operator, "forget", "--whole-bank", "--yes")
}
