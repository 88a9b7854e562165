package offline_test

import (
	"bufio"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/internal/app/offline"
	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/test/scriptedmodel"
)

// stopped creates a data directory with a small store that no process has open, and returns its settings.
func stopped(t *testing.T) settings.Config {
	t.Helper()
	c := apptest.Settings(t, map[string]string{"DATA": t.TempDir()})
	l := apptest.Start(t, c)
	for i := range 12 {
		request(t, l, "mem.b.message.s", fmt.Sprintf(`{"content":"I bought boat number %d in Dover. My sister sails it.","speaker":"Ida"}`, i), func(string) bool { return true })
	}
	request(t, l, "mem.b.flush.s", "", func(string) bool { return true })
	settled := func(r string) bool { return strings.Contains(r, `"settled":true`) && !strings.Contains(r, `"facts":0`) }
	request(t, l, "mem.b.status", "", settled)
	stop(t, l)
	return c
}

// killed rebuilds the store of a directory in a child process, kills it when it reports the step at, and returns its
// output.
func killed(t *testing.T, dir string, at int, environ ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "EUNOE_TEST_REBUILD="+dir, "EUNOE_TEST_AT="+strconv.Itoa(at))
	cmd.Env = append(cmd.Env, environ...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
	_ = cmd.Wait() // it says "killed", which is what was asked for
	return line
}

func left(c settings.Config) bool {
	_, err := os.Stat(c.Store + ".rebuild")
	return err == nil
}

func TestARebuildThatIsKilled(t *testing.T) {
	t.Parallel()
	c := stopped(t)
	before := dumped(t, c.Store)
	for _, at := range []int{1, 2, 4, -1} { // -1: when the last write is applied
		if said := killed(t, c.Data, at); !strings.HasPrefix(said, "here") {
			t.Fatalf("at %d it said %q", at, said)
		}
		if !left(c) {
			t.Errorf("at %d it left nothing: it was not killed within the rebuild", at)
		}
		if dumped(t, c.Store) != before {
			t.Errorf("at %d it changed the old store", at)
		}
	}
	v, err := offline.Verify(t.Context(), c, true, false)
	if err != nil || !v.OK {
		t.Errorf("verify: %q, %v", v.Problems, err)
	}
	t.Run("the next one starts from the beginning", func(t *testing.T) {
		if err := offline.Rebuild(t.Context(), c, nil); err != nil {
			t.Fatal(err)
		}
		if dumped(t, c.Store) != before || left(c) {
			t.Errorf("the store differs, or something is left: %v", left(c))
		}
	})
	t.Run("and the consolidator removes its leftovers", func(t *testing.T) {
		killed(t, c.Data, 2)
		if !left(c) {
			t.Fatal("nothing is left to remove")
		}
		l := apptest.Start(t, c)
		request(t, l, "mem.b.status", "", func(string) bool { return !left(c) })
		stop(t, l)
		if dumped(t, c.Store) != before {
			t.Error("the store differs")
		}
	})
}

// with returns the settings of another embedding model.
func with(url, dir string) map[string]string {
	return map[string]string{"DATA": dir, "EMBED": "openai:other-model", "EMBED_URL": url, "EMBED_KEY": "none"}
}

func TestAChangeOfTheEmbeddingModelThatIsKilled(t *testing.T) {
	t.Parallel()
	srv := scriptedmodel.Start(t, nil)
	embedded := func() int { return srv.Stats().Stages[memory.StageEmbed].Calls }
	c := stopped(t)
	whole := apptest.Settings(t, with(srv.URL, t.TempDir()))
	if err := errors.Join(os.CopyFS(whole.Data, os.DirFS(c.Data)), offline.Reembed(t.Context(), whole, nil)); err != nil {
		t.Fatal(err)
	}
	before, all := dumped(t, c.Store), embedded()
	made := all
	for _, at := range []int{1, 3, -1} {
		if said := killed(t, c.Data, at, "EUNOE_TEST_EMBED="+srv.URL); !strings.HasPrefix(said, "here") {
			t.Fatalf("at %d it said %q", at, said)
		}
		if dumped(t, c.Store) != before || embedded() == made {
			t.Errorf("at %d the old store changed, or nothing was embedded", at)
		}
		made = embedded()
	}
	if v, err := offline.Verify(t.Context(), c, true, false); err != nil || !v.OK {
		t.Errorf("verify of the old store: %q, %v", v.Problems, err)
	}
	next := apptest.Settings(t, with(srv.URL, c.Data))
	if err := offline.Reembed(t.Context(), next, nil); err != nil {
		t.Fatal(err)
	}
	if rest := embedded() - made; rest >= all {
		t.Errorf("%d calls embed again what the killed runs had embedded; a whole run makes %d", rest, all)
	}
	anew := dumped(t, next.Store)
	if err := offline.Rebuild(t.Context(), next, nil); err != nil {
		t.Fatal(err)
	}
	if dumped(t, next.Store) != anew || left(next) {
		t.Error("a plain rebuild makes another store, or something is left")
	}
	if v, err := offline.Verify(t.Context(), next, true, false); err != nil || !v.OK {
		t.Errorf("verify: %q, %v", v.Problems, err)
	}
}

func TestARebuildStoppedWhileItReplacesTheStore(t *testing.T) {
	t.Parallel()
	c := stopped(t)
	before := dumped(t, c.Store)
	steps := len(offline.ReplaceSteps(c.Store, c.Store))
	for n := range steps + 1 {
		t.Run(fmt.Sprintf("after %d steps", n), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "eunoe.db")
			for _, name := range []string{path, path + ".rebuild"} {
				copyFile(t, c.Store, name)
			}
			// The new store has a distinguishing row, and part of the old one is in its write-ahead log, as after a
			// kill.
			execute(t, path+".rebuild", `INSERT INTO meta VALUES ('which', 'new')`)
			walled(t, path)
			for _, step := range offline.ReplaceSteps(path, path+".rebuild")[:n] {
				if err := step(); err != nil {
					t.Fatal(err)
				}
			}
			which := scalar(t, path, `SELECT value FROM meta WHERE key = 'which'`)
			if want := []string{"old", "new"}; !slices.Contains(want, which) || (which == "new") != (n >= steps-1) {
				t.Errorf("the store is the %s one", which)
			}
			if dumped(t, path) != before {
				t.Error("its content differs")
			}
		})
	}
}

// walled adds a row that is only in the write-ahead log of a store and not in its main file.
func walled(t *testing.T, path string) {
	t.Helper()
	raw, err := sql.Open("sqlite3", "file:"+path+"?_journal_mode=WAL")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := raw.Exec(`PRAGMA wal_autocheckpoint = 0; INSERT INTO meta VALUES ('which', 'old')`); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"", "-wal"} { // as they are, before closing checkpoints them
		copyFile(t, path+suffix, path+suffix+".kept")
	}
	if err := raw.Close(); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"", "-wal"} {
		if err := os.Rename(path+suffix+".kept", path+suffix); err != nil {
			t.Fatal(err)
		}
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func execute(t *testing.T, path, statement string) {
	t.Helper()
	raw, err := sql.Open("sqlite3", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	if _, err := raw.Exec(statement); err != nil {
		t.Fatal(err)
	}
}

func scalar(t *testing.T, path, query string) (s string) {
	t.Helper()
	raw, err := sql.Open("sqlite3", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	if err := raw.QueryRow(query).Scan(&s); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestARebuildOntoAFullDisk(t *testing.T) {
	t.Parallel()
	c := stopped(t)
	before := dumped(t, c.Store)
	whole, err := os.Stat(c.Store)
	if err != nil {
		t.Fatal(err)
	}
	for _, room := range []int64{64 << 10, whole.Size() - 32<<10} { // less than an empty store needs, and nearly enough
		full := c
		full.StoreLimit = room
		err := offline.Rebuild(t.Context(), full, nil)
		if !errors.Is(err, memory.ErrUnavailable) || !strings.Contains(err.Error(), "the old store stays as it was") || !strings.Contains(err.Error(), "full") {
			t.Errorf("with room for %d bytes it gave %v", room, err)
		}
		if dumped(t, c.Store) != before || left(c) {
			t.Errorf("the store differs, or something is left: %v", left(c))
		}
	}
	if err := offline.Rebuild(t.Context(), c, nil); err != nil || dumped(t, c.Store) != before {
		t.Errorf("with room again: %v", err)
	}
}

func TestAStoreOfANewerProgramIsRefused(t *testing.T) {
	t.Parallel()
	c := stopped(t)
	execute(t, c.Store, `PRAGMA user_version = 99`)
	_, starting := local.Start(t.Context(), c, os.Stderr)
	_, verifying := offline.Verify(t.Context(), c, false, false)
	for what, err := range map[string]error{"start": starting, "rebuild": offline.Rebuild(t.Context(), c, nil), "verify": verifying} {
		if !errors.Is(err, memory.ErrConflict) || !strings.Contains(err.Error(), "version 99") || !strings.Contains(err.Error(), "run the newer program") {
			t.Errorf("%s gave %v", what, err)
		}
	}
	if got := scalar(t, c.Store, `SELECT count(*) FROM facts`); got == "0" {
		t.Error("the store was emptied")
	}
}
