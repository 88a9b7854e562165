package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/internal/app/offline"
)

// filesHolding returns the files below a directory that contain the word.
func filesHolding(t *testing.T, dir, word string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if raw, err := os.ReadFile(path); err == nil && bytes.Contains(raw, []byte(word)) {
			out = append(out, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestWhatIsForgottenIsInNoFile writes words through every endpoint that takes
// text, forgets them, and searches every file for them.
func TestWhatIsForgottenIsInNoFile(t *testing.T) {
	t.Parallel()
	c := apptest.Settings(t, nil)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	l, err := local.Start(ctx, c, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	p := dial(t, l.URL)

	p.publish("mem.keep.message.s", `{"id":"k","speaker":"Ann","content":"I keep bees in Ghent."}`)
	p.publish("mem.keep.flush.s", "")
	p.settle("keep")
	r := p.mustAsk("mem.keep.retain", `{"facts":[{"text":"Ann owns a qwordretain lathe."},{"text":"Ann owns a second lathe."}]}`)
	p.mustAsk("mem.keep.forget", `{"id":"`+outcome(r, 0)["id"].(string)+`"}`)
	r = p.mustAsk("mem.keep.retain", `{"facts":[{"text":"Ann owns a drum."}]}`)
	e := p.mustAsk("mem.keep.edit", `{"id":"`+outcome(r, 0)["id"].(string)+`","text":"Ann owns a qwordedit drum."}`)
	p.mustAsk("mem.keep.forget", `{"id":"`+e["id"].(string)+`"}`)
	r = p.mustAsk("mem.keep.retain", `{"facts":[{"text":"Ann owns a flute."}]}`)
	p.mustAsk("mem.keep.edit", `{"id":"`+outcome(r, 0)["id"].(string)+`","tags":["qwordedited"]}`)
	p.mustAsk("mem.keep.forget", `{"id":"`+outcome(r, 0)["id"].(string)+`"}`)
	o := p.mustAsk("mem.keep.observe", `{"observations":[{"type":"risk","text":"Ann may meet a qwordobserved bear.","reasoning":"a qwordreason"},{"type":"risk","text":"Ann may lose her lathe."}]}`)
	p.mustAsk("mem.keep.forget", fmt.Sprintf(`{"id":%q}`, list(o["observations"])[0].(object)["id"]))
	p.mustAsk("mem.keep.retain", `{"op":"rt","text":"My drawer holds a qwordtext key. I own a violin."}`)
	p.mustAsk("mem.keep.forget", `{"id":"rt"}`)
	p.publish("mem.keep.message.s", `{"id":"dup","speaker":"Ann","content":"I own a cello."}`)
	p.publish("mem.keep.message.t", `{"id":"dup","speaker":"Ann","content":"I own a qwordduplicate cello."}`)
	p.publish("mem.keep.message.t", `{"id":"sess","speaker":"Ann","content":"I own a qwordsession cello.","topic":"qwordtopic","metadata":{"a":"qwordmeta"},"images":[{"caption":"qwordcaption"}],"extra":"qwordextra"}`)
	p.publish("mem.keep.message.t", `{"id":"broken","content":5,"note":"qwordbroken"}`)
	p.publish("mem.keep.flush.t", "")
	p.publish("mem.keep.flush.s", "")
	p.settle("keep")
	p.mustAsk("mem.keep.forget", `{"session":"t"}`)

	p.publish("mem.gone.message.s", `{"id":"g","speaker":"Ann","content":"I keep qwordbees in Ghent."}`)
	p.publish("mem.gone.flush.s", "")
	p.settle("gone")
	p.mustAsk("mem.gone.bank", `{"name":"qwordname","description":"qworddescription","instructions":"qwordinstructions","mission":"qwordmission"}`)
	p.mustAsk("mem.gone.bank", `{"name":"qwordrenamed"}`)
	r = p.mustAsk("mem.gone.retain", `{"facts":[{"text":"Ann owns a qwordbank lathe.","key":"qwordkey","metadata":{"m":"qwordfactmeta"}}]}`)
	p.mustAsk("mem.gone.edit", `{"id":"`+outcome(r, 0)["id"].(string)+`","tags":["qwordtag"]}`)
	p.mustAsk("mem.gone.feedback", `{"used":["`+outcome(r, 0)["id"].(string)+`"],"note":"a qwordnote"}`)
	p.mustAsk("mem.gone.observe", `{"query":"qwordquery","observations":[{"type":"risk","text":"Ann may meet a qwordbear."}]}`)
	p.mustAsk("mem.admin.erase", `{"bank":"gone"}`)

	for _, word := range []string{"retain", "edit", "edited", "observed", "reason", "text", "duplicate", "session", "topic", "meta", "caption", "extra", "broken",
		"bees", "name", "description", "instructions", "mission", "renamed", "bank", "key", "factmeta", "tag", "note", "query", "bear"} {
		deadline := time.Now().Add(30 * time.Second)
		var held []string
		for {
			if held = filesHolding(t, c.Data, "qword"+word); len(held) == 0 || time.Now().After(deadline) {
				break
			}
			p.mustAsk("mem.keep.status", "")
		}
		if len(held) > 0 && filepath.Base(held[0]) != "store.db-wal" {
			t.Errorf("%s stands in %v", word, held)
		}
	}
	if left := texts(p.mustAsk("mem.keep.list", `{"record":"observation"}`)); len(left) != 1 {
		t.Errorf("observations %q", left)
	}
	want := facts(p, "keep")
	p.nc.Close()
	if err := l.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if held := filesHolding(t, c.Data, "qword"); len(held) > 0 {
		t.Errorf("after the end a forgotten word stands in %v", held)
	}
	if err := offline.Rebuild(ctx, c, nil); err != nil {
		t.Fatal(err)
	}
	again, err := local.Start(ctx, c, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close(ctx)
	q := dial(t, again.URL)
	q.settle("keep")
	if diff := cmp.Diff(want, facts(q, "keep")); diff != "" {
		t.Errorf("facts after a rebuild (-before +after):\n%s", diff)
	}
	if left := texts(q.mustAsk("mem.keep.list", `{"record":"observation"}`)); len(left) != 1 {
		t.Errorf("observations after a rebuild: %q", left)
	}
	q.code("mem.gone.status", "", "404")
	q.code("mem.gone.bank", "", "404")
}
