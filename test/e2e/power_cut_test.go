package e2e_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
)

// TestWhatAPowerCutLeavesIsGoneOnWith damages files that hold nothing which cannot be made anew, as a power cut may, in a
// copy of a data directory: everything that was said is there, and what is said next is consolidated.
func TestWhatAPowerCutLeavesIsGoneOnWith(t *testing.T) {
	t.Parallel()
	c := apptest.Settings(t, nil)
	files, running := filepath.Join(t.TempDir(), "stopped"), filepath.Join(t.TempDir(), "running")
	session(t, c, func(p plain, _ *local.Local) {
		converse(p, "talk", 12)
		p.settle("talk")
		natstest.Eventually(t, "a copy during which no file goes away", func() bool {
			err := errors.Join(os.RemoveAll(running), os.CopyFS(running, os.DirFS(c.Data)))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Error(err)
			}
			return err == nil
		})
	})
	if err := os.CopyFS(files, os.DirFS(c.Data)); err != nil {
		t.Fatal(err)
	}
	half := func(file []byte) []byte { return file[:len(file)/2] }
	flip := func(file []byte) []byte { file[len(file)/2] ^= 0x40; return file }
	for name, cut := range map[string]struct {
		from, file string // the base name, or the end of it, behind the directory that it is in, if that matters
		damage     func([]byte) []byte
	}{
		"nothing, without a stop":            {running, "", half},
		"the state of a consumer is torn":    {files, "o.dat", half},
		"the state of a consumer is empty":   {files, "o.dat", func([]byte) []byte { return nil }},
		"the index of a stream is torn":      {files, "index.db", half},
		"the index of a stream is of zeros":  {files, "index.db", func(b []byte) []byte { clear(b); return b }},
		"the state of ingest is torn":        {files, "KV_MEM_INGEST/1.blk", half},
		"the index of a stream is flipped":   {files, "index.db", flip},
		"the state of a consumer is flipped": {files, "o.dat", flip},
		"blocks end in zeros":                {running, ".blk", func(b []byte) []byte { return append(b, make([]byte, 4096)...) }},
		"blocks end in a part of an event":   {running, ".blk", func(b []byte) []byte { return append(b, b[:min(100, len(b))]...) }},
		"the write-ahead log is torn":        {running, "-wal", half},
		"the store was never written":        {files, ".db", func([]byte) []byte { return nil }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own := apptest.Settings(t, nil)
			if err := os.CopyFS(own.Data, os.DirFS(cut.from)); err != nil {
				t.Fatal(err)
			}
			if n := damageFiles(t, own.Data, cut.file, cut.damage); n == 0 && cut.file != "" {
				t.Fatalf("there is no %s", cut.file)
			}
			session(t, own, func(p plain, _ *local.Local) {
				p.publish("mem.talk.message.new", `{"speaker":"Ida","content":"I bought a harpsichord."}`)
				p.publish("mem.talk.flush.new", "")
				p.settle("talk")
				if s := p.mustAsk("mem.talk.status", ""); s["conservation"].(object)["published"] != 13.0 {
					t.Errorf("the status is %v", s)
				}
				if found := strings.Join(facts(p, "talk"), "\n"); !strings.Contains(found, "harpsichord") {
					t.Errorf("the facts are\n%s", found)
				}
				if v := p.mustAsk("mem.admin.verify", `{}`); v["ok"] != true {
					t.Errorf("verify says %v", v["problems"])
				}
			})
		})
	}
}

// damageFiles changes the files whose path ends so and returns how many there are.
func damageFiles(t *testing.T, dir, end string, damage func([]byte) []byte) (n int) {
	t.Helper()
	in, end, ok := strings.Cut(end, "/")
	if !ok {
		in, end = "", in
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || end == "" || !strings.Contains(path, in) || !strings.HasSuffix(path, end) || end == ".db" && filepath.Base(path) == "index.db" {
			return err
		}
		raw, err := os.ReadFile(path)
		n++
		return errors.Join(err, os.WriteFile(path, damage(raw), 0o600))
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
