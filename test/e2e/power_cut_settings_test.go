package e2e_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/internal/app/offline"
	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
)

// TestASettingsFileOfAStreamThatIsTorn damages the files in which the broker has the settings of a stream, for which it leaves
// the whole stream out: it is there with its events, and the pipeline goes on, by another start too.
func TestASettingsFileOfAStreamThatIsTorn(t *testing.T) {
	t.Parallel()
	files := filepath.Join(t.TempDir(), "killed")
	killed := apptest.Settings(t, nil)
	session(t, killed, func(p plain, _ *local.Local) {
		converse(p, "talk", 12)
		p.settle("talk")
		natstest.Eventually(t, "a copy during which no file goes away", func() bool {
			return os.RemoveAll(files) == nil && os.CopyFS(files, os.DirFS(killed.Data)) == nil
		})
	})
	half := func(b []byte) []byte { return b[:len(b)/2] }
	empty := func([]byte) []byte { return nil }
	flip := func(b []byte) []byte { b[len(b)/2] ^= 0x40; return b }
	renamed := func(b []byte) []byte { return bytes.Replace(b, []byte(`"name":"`), []byte(`"name":"X`), 1) }
	for name, cut := range map[string]struct {
		streams, file string // which, as a pattern
		damage        func([]byte) []byte
	}{
		"all settings are empty":            {"*", "meta.inf", empty},
		"all settings are torn":             {"*", "meta.inf", half},
		"settings of messages are flipped":  {"MEM_MESSAGES", "meta.inf", flip},
		"settings of writes are flipped":    {"MEM_WRITES", "meta.inf", flip},
		"settings name another stream":      {"MEM_W*", "meta.inf", renamed},
		"all checksums are empty":           {"*", "meta.sum", empty},
		"all checksums are flipped":         {"*", "meta.sum", flip},
		"a consumer's settings are flipped": {"MEM_WINDOWS/obs/extract", "meta.inf", flip},
		"a consumer has another name": {"MEM_WINDOWS/obs/extract", "meta.inf", func(b []byte) []byte {
			return bytes.ReplaceAll(b, []byte(`"extract"`), []byte(`"extrabt"`))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own := apptest.Settings(t, nil)
			if err := os.CopyFS(own.Data, os.DirFS(files)); err != nil {
				t.Fatal(err)
			}
			found, err := filepath.Glob(filepath.Join(own.Data, "streams", "jetstream", "*", "streams", cut.streams, cut.file))
			if err != nil || len(found) == 0 {
				t.Fatalf("found %v, %v", found, err)
			}
			for _, path := range found {
				raw, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				apptest.Write(t, path, string(cut.damage(raw)))
			}
			goesOn(t, own, "harpsichord", 13)
			goesOn(t, own, "parrot", 14)
		})
	}
	withoutCopies := func() settings.Config {
		own := apptest.Settings(t, nil)
		if err := errors.Join(os.CopyFS(own.Data, os.DirFS(files)), os.RemoveAll(filepath.Join(own.Data, "streams", "settings"))); err != nil {
			t.Fatal(err)
		}
		return own
	}
	t.Run("without a copy, the checksum is written anew", func(t *testing.T) {
		t.Parallel()
		own := withoutCopies()
		damageFiles(t, own.Data, "meta.sum", empty)
		goesOn(t, own, "harpsichord", 13)
	})
	t.Run("without a copy, a kept stream without settings stops consolidation, and no event is lost", func(t *testing.T) {
		t.Parallel()
		own := withoutCopies()
		damageFiles(t, own.Data, "MEM_MESSAGES/meta.inf", half)
		session(t, own, func(p plain, l *local.Local) { notItsLog(t, p, l.HTTP, "talk", "MEM_MESSAGES") })
		if err := offline.Rebuild(t.Context(), own, nil, offline.Smaller); err != nil {
			t.Fatal(err)
		}
		goesOn(t, own, "parrot", 14) // one was published while nothing was consolidated
	})
}

// goesOn checks that a pipeline on a data directory is ready, has one more message after it was told of a thing, makes a fact
// of it, and is whole.
func goesOn(t *testing.T, c settings.Config, thing string, published float64) {
	t.Helper()
	session(t, c, func(p plain, l *local.Local) {
		p.publish("mem.talk.message."+thing, `{"speaker":"Ida","content":"I bought a `+thing+`."}`)
		p.publish("mem.talk.flush."+thing, "")
		p.settle("talk")
		if status, says := readiness(t, l.HTTP); status != 200 {
			t.Errorf("readiness: %d %s", status, says)
		}
		if s := p.mustAsk("mem.talk.status", ""); s["conservation"].(object)["published"] != published {
			t.Errorf("the status is %v", s)
		}
		if found := strings.Join(facts(p, "talk"), "\n"); !strings.Contains(found, thing) {
			t.Errorf("the facts are\n%s", found)
		}
		if v := p.mustAsk("mem.admin.verify", `{"full":true}`); v["ok"] != true {
			t.Errorf("verify says %v", v["problems"])
		}
	})
}
