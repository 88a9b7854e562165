package main_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

func TestReextractCommand(t *testing.T) {
	t.Parallel()
	l, environ := startLocal(t, t.TempDir())
	talk(t, environ, "alice")
	texts := func() []string {
		t.Helper()
		var out []string
		for _, f := range apptest.Decode[page](t, ok(t, environ, "list", "--bank", "alice", "--json")).Items {
			out = append(out, f.Text)
		}
		slices.Sort(out)
		return out
	}
	before := texts()
	r := apptest.Decode[wire.ReextractReply](t, ok(t, environ, "re-extract", "--bank", "alice", "--session", "later", "--json"))
	if r.Windows != 1 {
		t.Errorf("one session: %+v", r)
	}
	ok(t, environ, "status", "--bank", "alice", "--wait")
	if out := ok(t, environ, "re-extract", "--bank", "alice"); !strings.Contains(out, "3 windows to extract anew") {
		t.Errorf("the bank: %s", out)
	}
	ok(t, environ, "status", "--bank", "alice", "--wait")
	if after := texts(); !slices.Equal(before, after) {
		t.Errorf("the same extractor gave other facts:\n%q\n%q", before, after)
	}
	if r := run(t, t.Context(), environ, "", "re-extract", "--bank", "nobody"); r.code != 3 {
		t.Errorf("an unknown bank: %+v", r)
	}
	usage := []memory.StageUsage{{Stage: memory.StageExtract, Model: "fake:model", Usage: memory.Usage{Calls: 7, Failed: 2, PromptTokens: 1234, CompletionTokens: 56}}}
	seq, err := l.Conn.AppendWrite(t.Context(), memory.Write{Bank: "alice", Kind: memory.WriteUsage, Op: "told", Usage: usage})
	if err != nil || seq == 0 {
		t.Fatal(err)
	}
	ok(t, environ, "status", "--bank", "alice", "--wait")
	out := ok(t, environ, "status", "--bank", "alice")
	for _, want := range []string{"fake:model", "1234", "COMPLETION"} {
		if !strings.Contains(out, want) {
			t.Errorf("%s is not in\n%s", want, out)
		}
	}
}
