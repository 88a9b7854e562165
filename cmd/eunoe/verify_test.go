package main_test

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3" // the driver that breaks a store

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/app/offline"
)

// breakStore executes a statement in the store of a stopped instance.
func breakStore(t *testing.T, dir, statement string) {
	t.Helper()
	raw, err := sql.Open("sqlite3", "file:"+filepath.Join(dir, "eunoe.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	r, err := raw.Exec(statement)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := r.RowsAffected(); err != nil || n == 0 {
		t.Fatalf("%s changed %d rows, %v", statement, n, err)
	}
}

func TestVerifyCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, environ := startLocal(t, dir)
	talk(t, environ, "alice")
	out := ok(t, environ, "verify")
	if !strings.Contains(out, "rules hold") || !strings.Contains(out, "messages") {
		t.Errorf("got %s", out)
	}
	type report struct {
		OK       bool           `json:"ok"`
		Counts   map[string]int `json:"counts"`
		Problems []string       `json:"problems"`
	}
	r := apptest.Decode[report](t, ok(t, environ, "verify", "--full", "--json"))
	if !r.OK || r.Counts["messages"] != 5 || r.Problems == nil {
		t.Errorf("got %+v", r)
	}
	if r := run(t, t.Context(), environ, "", "verify", "--data", dir); r.code != 2 || !strings.Contains(r.err, "--offline") {
		t.Errorf("got %+v", r)
	}
	if r := run(t, t.Context(), nil, "", "verify", "--offline", "--data", dir); r.code == 0 || !strings.Contains(r.err, "in use") {
		t.Errorf("beside a running one: %+v", r)
	}
	stop(t, l)
	if out := ok(t, nil, "verify", "--offline", "--data", dir); !strings.Contains(out, "rules hold") {
		t.Errorf("got %s", out)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "eunoe.db-*")); err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
	if r := run(t, t.Context(), nil, "", "verify", "--offline", "--data", t.TempDir()); r.code != 5 || !strings.Contains(r.err, "no store") {
		t.Errorf("where there is none: %+v", r)
	}
	breakStore(t, dir, `UPDATE entity_counts SET live = live + 1`)
	bad := run(t, t.Context(), nil, "", "verify", "--offline", "--data", dir)
	if bad.code != 1 || !strings.Contains(bad.out, "broken: the live facts of an entity are counted") || !strings.Contains(bad.err, "eunoe rebuild") {
		t.Errorf("got %+v", bad)
	}
	bad = run(t, t.Context(), nil, "", "verify", "--offline", "--data", dir, "--json")
	if r := apptest.Decode[report](t, bad.out); bad.code != 1 || r.OK || len(r.Problems) != 1 {
		t.Errorf("got %+v", bad)
	}
	ok(t, nil, "rebuild", "--data", dir)
	ok(t, nil, "verify", "--offline", "--data", dir)
	// A log that lost the events of the store is reported as well.
	l, environ = startLocal(t, dir)
	if err := l.Conn.Erase(t.Context(), l.Conn.Naming.Messages(), 2); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"verify"}, {"verify", "--full"}} {
		if r := run(t, t.Context(), environ, "", args...); r.code != 1 || !strings.Contains(r.out, "the log holds") || !strings.Contains(r.out, "(2)") {
			t.Errorf("%v: %+v", args, r)
		}
	}
}

// TestBackupOfADamagedLog flips bits of the last write: the broker goes on as if it were whole, and the command says what the
// backup lacks.
func TestBackupOfADamagedLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, environ := startLocal(t, dir)
	talk(t, environ, "alice")
	stop(t, l)
	blocks, err := filepath.Glob(filepath.Join(dir, "streams", "jetstream", "*", "streams", "MEM_WRITES", "msgs", "*.blk"))
	if err != nil || len(blocks) != 1 {
		t.Fatalf("%v, %v", blocks, err)
	}
	raw, err := os.ReadFile(blocks[0])
	if err != nil {
		t.Fatal(err)
	}
	raw[bytes.LastIndex(raw, []byte(`"op"`))] ^= 0x2a
	apptest.Write(t, blocks[0], string(raw))
	copied := filepath.Join(t.TempDir(), "copied")
	r := run(t, t.Context(), nil, "", "backup", "--offline", "--data", dir, copied)
	if r.code != 1 || !strings.Contains(r.err, "MEM_WRITES counts ") || !strings.Contains(r.err, "verify --full") {
		t.Errorf("got %+v", r)
	}
	if m, err := offline.ReadManifest(copied); err != nil || len(m.Unreadable) != 1 {
		t.Errorf("it holds %+v, %v", m, err)
	}
}

func TestBackupAndRestoreCommands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, environ := startLocal(t, dir)
	talk(t, environ, "alice")
	online, offline := filepath.Join(t.TempDir(), "online"), filepath.Join(t.TempDir(), "offline")
	if out := ok(t, environ, "backup", "--data", dir, online); !strings.Contains(out, "and the store") {
		t.Errorf("got %s", out)
	}
	if r := run(t, t.Context(), environ, "", "backup", "--data", dir, online); r.code == 0 || !strings.Contains(r.err, "directory of its own") {
		t.Errorf("over a backup: %+v", r)
	}
	stop(t, l)
	ok(t, nil, "backup", "--offline", "--data", dir, offline)
	if r := run(t, t.Context(), nil, "", "restore", "--offline", "--data", dir, online); r.code != 4 || !strings.Contains(r.err, "move it away") {
		t.Errorf("over a store: %+v", r)
	}
	for _, backup := range []string{online, offline} {
		restored := filepath.Join(t.TempDir(), "restored")
		if out := ok(t, nil, "restore", "--offline", "--data", restored, backup); !strings.Contains(out, "rules hold") {
			t.Errorf("got %s", out)
		}
		again, environ := startLocal(t, restored)
		s := apptest.Decode[struct{ Conservation struct{ Committed int } }](t, ok(t, environ, "status", "--bank", "alice", "--json"))
		if s.Conservation.Committed != 5 {
			t.Errorf("%d messages of 5 are there", s.Conservation.Committed)
		}
		stop(t, again)
	}
	if r := run(t, t.Context(), nil, "", "restore", "--offline", "--data", t.TempDir(), t.TempDir()); r.code != 3 || !strings.Contains(r.err, "is no backup") {
		t.Errorf("what is no backup: %+v", r)
	}
}
