package main_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/deadletter"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

func TestDeadLettersByCommand(t *testing.T) {
	t.Parallel()
	l, environ := startLocal(t, t.TempDir())
	talk(t, environ, "alice")
	facts := func() []string {
		t.Helper()
		var out []string
		for _, f := range apptest.Decode[page](t, ok(t, environ, "list", "--bank", "alice", "--json")).Items {
			out = append(out, f.ID+" "+fmt.Sprint(f.Sources))
		}
		slices.Sort(out)
		return out
	}
	before := facts()
	// Completed windows are recorded as dead letters too, as after a crash between writing the letter and the
	// acknowledgement.
	n := 0
	_, err := ordered.Scan(t.Context(), l.Conn, l.Conn.Naming.Writes(), []string{l.Conn.Naming.WriteSubject("alice", memory.WriteWindow)}, 0, func(e events.Event) error {
		w, err := e.Write()
		if err != nil || w.Window == nil {
			return err
		}
		n++
		body := fmt.Sprintf(`{"id":%q,"generation":0,"new":[{"seq":%d}],"trigger":"flush"}`, w.Window.ID, w.Window.First())
		return deadletter.Publish(t.Context(), l.Conn, memory.DeadLetter{Stage: "extract", Bank: "alice", Session: "chat", Reason: "the answer holds no list", Attempts: 5,
			Stream: l.Conn.Naming.Windows(), Seq: uint64(n), Subject: l.Conn.Naming.WindowSubject("alice", w.Window.SessionID), Payload: []byte(body), //nolint:gosec // few
			Output: "certainly!", Prompt: "extract/1", First: e.Stored, Last: e.Stored})
	})
	if err != nil || n == 0 {
		t.Fatalf("%d windows, %v", n, err)
	}
	list := func() []memory.DeadLetter {
		t.Helper()
		return apptest.Decode[wire.Page[memory.DeadLetter]](t, ok(t, environ, "dead", "list", "--json")).Items
	}
	letters := list()
	if len(letters) != n {
		t.Fatalf("%d letters of %d windows", len(letters), n)
	}
	shown := ok(t, environ, "dead", "show", fmt.Sprint(letters[0].ID))
	for _, want := range []string{"the answer holds no list", "certainly!", "extract/1", "attempts", "stored", "given up", `"trigger":"flush"`} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not in\n%s", want, shown)
		}
	}
	own := apptest.Decode[wire.Page[memory.DeadLetter]](t, ok(t, environ, "dead-letters", "--bank", "alice", "--json")).Items
	if len(own) != n || own[0].ID != letters[0].ID {
		t.Errorf("the bank's own letters are %+v", own)
	}
	if out := ok(t, environ, "dead-letters", "--bank", "alice", fmt.Sprint(letters[0].ID)); out != shown {
		t.Errorf("the bank's own letter is\n%s", out)
	}
	if out := ok(t, environ, "windows", "--bank", "alice", "--ended"); strings.Count(out, "ended") != n {
		t.Errorf("the windows are\n%s", out)
	}
	if out := ok(t, environ, "sessions", "--bank", "alice"); strings.Count(out, "chat") != 1 {
		t.Errorf("the sessions are\n%s", out)
	}
	if out := ok(t, environ, "dead", "retry", fmt.Sprint(letters[0].ID)); !strings.Contains(out, "sent again") {
		t.Errorf("got %s", out)
	}
	if r := run(t, t.Context(), environ, "", "dead", "retry", fmt.Sprint(letters[0].ID)); r.code != 3 {
		t.Errorf("the second time: %+v", r)
	}
	if out := ok(t, environ, "dead", "retry", "--all", "--bank", "alice"); n > 1 && !strings.Contains(out, "sent again") {
		t.Errorf("got %s", out)
	}
	natstest.Eventually(t, "no letters, and settled", func() bool {
		r := run(t, t.Context(), environ, "", "status", "--bank", "alice", "--wait")
		return r.code == 0 && len(list()) == 0
	})
	if after := facts(); !slices.Equal(before, after) {
		t.Errorf("before\n%q\nafter\n%q", before, after)
	}
}

func TestApplyByCommand(t *testing.T) {
	t.Parallel()
	_, environ := startLocal(t, t.TempDir())
	changes := `[{"op":"remember","as":"$a","text":"Alice owns a canoe."},{"op":"pin","id":"$a","pin":true}]`
	if r := run(t, t.Context(), environ, changes, "apply", "--bank", "alice", "--dry-run", "-"); r.code != 0 || !strings.Contains(r.out, "nothing was changed") {
		t.Errorf("a dry run: %+v", r)
	}
	if r := run(t, t.Context(), environ, changes, "apply", "--bank", "alice", "--op", "canoe", "-"); r.code != 0 || !strings.Contains(r.out, "remember") {
		t.Errorf("applied: %+v", r)
	}
	if r := run(t, t.Context(), environ, "", "undo", "--bank", "alice", "--dry-run", "canoe"); r.code != 0 || !strings.Contains(r.out, "nothing was changed") {
		t.Errorf("a dry run of the undo: %+v", r)
	}
	if r := run(t, t.Context(), environ, "", "undo", "--bank", "alice", "canoe"); r.code != 0 || !strings.Contains(r.out, "removed") {
		t.Errorf("taken back: %+v", r)
	}
	if r := run(t, t.Context(), environ, "", "undo", "--bank", "alice", "canoe"); r.code == 0 || !strings.Contains(r.err, "apply: ") {
		t.Errorf("taken back twice: %+v", r)
	}
	if r := run(t, t.Context(), environ, changes, "apply", "--bank", "alice", "-"); r.code != 0 {
		t.Errorf("applied again: %+v", r)
	}
	if r := run(t, t.Context(), environ, "", "snapshot", "--bank", "alice", "recent:5", "stats"); r.code != 0 || !strings.Contains(r.out, "recent:5\n  f_") || !strings.Contains(r.out, "  facts: ") {
		t.Errorf("snapshot: %+v", r)
	}
	if r := run(t, t.Context(), environ, "", "recalls", "--bank", "alice"); r.code != 0 || !strings.Contains(r.out, "not kept") {
		t.Errorf("recalls: %+v", r)
	}
	if r := run(t, t.Context(), environ, "", "bank", "set", "--bank", "alice", "--keep-recalls"); r.code != 0 || !strings.Contains(r.out, "recalls") {
		t.Errorf("kept: %+v", r)
	}
	if r := run(t, t.Context(), environ, "", "recalls", "--bank", "alice"); r.code != 0 || !strings.Contains(r.out, "No recall has been kept yet") {
		t.Errorf("recalls of a bank that has kept none: %+v", r)
	}
	natstest.Eventually(t, "a recall is kept", func() bool {
		run(t, t.Context(), environ, "", "recall", "--bank", "alice", "Who owns a canoe?")
		return strings.Contains(run(t, t.Context(), environ, "", "recalls", "--bank", "alice").out, "recall  Who owns a canoe?\n  f_")
	})
	if r := run(t, t.Context(), environ, "no", "apply", "--bank", "alice", "-"); r.code != 2 {
		t.Errorf("no JSON: %+v", r)
	}
	if r := run(t, t.Context(), environ, "", "apply", "--bank", "alice", "nowhere.json"); r.code != 2 {
		t.Errorf("no file: %+v", r)
	}
}
