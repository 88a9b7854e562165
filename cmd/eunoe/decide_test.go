package main_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// retainFacts retains facts through the CLI and returns their ids.
func retainFacts(t *testing.T, environ []string, bank string, texts ...string) []string {
	t.Helper()
	ids := make([]string, 0, len(texts))
	for _, text := range texts {
		r := apptest.Decode[wire.RetainReply](t, ok(t, environ, "retain", "--bank", bank, "--entities", "person:kim", "--json", text))
		if len(r.Results) != 1 || r.Results[0].ID == "" {
			t.Fatalf("%s: %+v", text, r)
		}
		ids = append(ids, r.Results[0].ID)
	}
	return ids
}

func TestDecisions(t *testing.T) {
	t.Parallel()
	_, environ := startLocal(t, t.TempDir())

	t.Run("edit changes a fact in place, and a different text supersedes it", func(t *testing.T) {
		t.Parallel()
		id := retainFacts(t, environ, "edited", "Kim owns a red bike.")[0]
		if out := ok(t, environ, "edit", "--bank", "edited", id, "--type", "preference", "--tags", "toys,red", "--pin"); !strings.Contains(out, id+" is changed") {
			t.Errorf("got %s", out)
		}
		it := apptest.Decode[memory.Item](t, ok(t, environ, "get", "--bank", "edited", "--json", id))
		if it.Type != "preference" || len(it.Tags) != 2 {
			t.Errorf("got %+v", it)
		}
		ok(t, environ, "edit", "--bank", "edited", id, "--tags", "", "--pin=false")
		if it := apptest.Decode[memory.Item](t, ok(t, environ, "get", "--bank", "edited", "--json", id)); len(it.Tags) != 0 {
			t.Errorf("got %+v", it)
		}
		if r := run(t, t.Context(), environ, "", "edit", "--bank", "edited", id, "--version", "1", "Kim owns a blue bike."); r.code != 4 {
			t.Errorf("an old version: %+v", r)
		}
		r := run(t, t.Context(), environ, "Kim owns a blue bike.\n", "edit", "--bank", "edited", id, "-")
		if r.code != 0 || !strings.Contains(r.out, "takes the place of "+id) {
			t.Fatalf("%+v", r)
		}
		if out := ok(t, environ, "history", "--bank", "edited", id); !strings.Contains(out, "superseded by") || !strings.Contains(out, "blue bike") {
			t.Errorf("got %s", out)
		}
		if r := run(t, t.Context(), environ, "", "edit", "--bank", "edited", "f_none", "--pin"); r.code != 3 {
			t.Errorf("an unknown fact: %+v", r)
		}
	})
	t.Run("conflicts are listed with both facts, resolved and dismissed", func(t *testing.T) {
		t.Parallel()
		ids := retainFacts(t, environ, "torn", "Kim likes boiled spinach.", "Kim hates boiled spinach.", "Kim likes cold cinemas.", "Kim hates cold cinemas.")
		type conflict struct {
			ID    string
			Facts []memory.Item
		}
		open := apptest.Decode[wire.Page[conflict]](t, ok(t, environ, "conflicts", "--bank", "torn", "--json")).Items
		if len(open) != 2 || len(open[0].Facts) != 2 {
			t.Fatalf("got %+v", open)
		}
		out := ok(t, environ, "conflicts", "--bank", "torn")
		for _, want := range append([]string{open[0].ID, open[1].ID, "open", "spinach"}, ids...) {
			if !strings.Contains(out, want) {
				t.Errorf("%q is not in\n%s", want, out)
			}
		}
		winner := open[0].Facts[1].ID
		if out := ok(t, environ, "conflicts", "resolve", "--bank", "torn", open[0].ID, "--winner", winner); !strings.Contains(out, "is resolved") {
			t.Errorf("got %s", out)
		}
		if out := ok(t, environ, "conflicts", "--bank", "torn", "--state", "resolved"); !strings.Contains(out, "winner") {
			t.Errorf("got %s", out)
		}
		if out := ok(t, environ, "history", "--bank", "torn", open[0].Facts[0].ID); !strings.Contains(out, "superseded by "+winner) {
			t.Errorf("got %s", out)
		}
		if r := run(t, t.Context(), environ, "", "conflicts", "dismiss", "--bank", "torn", open[1].ID, "--version", "1"); r.code != 4 {
			t.Errorf("an old version: %+v", r)
		}
		if out := ok(t, environ, "conflicts", "dismiss", "--bank", "torn", open[1].ID); !strings.Contains(out, "is dismissed") {
			t.Errorf("got %s", out)
		}
		if out := ok(t, environ, "conflicts", "--bank", "torn"); out != "No open conflicts.\n" {
			t.Errorf("got %s", out)
		}
		if r := run(t, t.Context(), environ, "", "conflicts", "dismiss", "--bank", "torn", open[0].ID); r.code != 4 {
			t.Errorf("a decision is final: %+v", r)
		}
		if r := run(t, t.Context(), environ, "", "conflicts", "--bank", "torn", "--state", "odd"); r.code != 2 || !strings.Contains(r.err, "state") {
			t.Errorf("%+v", r)
		}
	})
	t.Run("an alias joins two names, is exported and imported, and forget parts them", func(t *testing.T) {
		t.Parallel()
		retainFacts(t, environ, "named", "Kim plays the cello.", "Kimberley sells violins.")
		out := ok(t, environ, "alias", "--bank", "named", "person:Kim", "Kimberley", "Kim-chan")
		if !strings.Contains(out, "person:kim is also called Kim-chan, Kimberley") {
			t.Errorf("got %s", out)
		}
		log := ok(t, environ, "export", "--bank", "named")
		if r := run(t, t.Context(), environ, log, "import", "--bank", "renamed", "-"); r.code != 0 {
			t.Fatalf("imported: %+v", r)
		}
		if out := ok(t, environ, "entities", "--bank", "renamed"); !strings.Contains(out, "Kim-chan, Kimberley") {
			t.Errorf("imported are %s", out)
		}
		ok(t, environ, "forget", "--bank", "named", "--yes", "person:kim-chan")
		if out := ok(t, environ, "alias", "--bank", "named", "--remove", "Kim", "Kimberley"); !strings.Contains(out, "nothing else") {
			t.Errorf("parted: %s", out)
		}
		if r := run(t, t.Context(), environ, "", "alias", "--bank", "named", "--remove", "Kim", "Kimberley"); r.code != 3 {
			t.Errorf("%+v", r)
		}
	})
	t.Run("feedback names the ids that recall explains", func(t *testing.T) {
		t.Parallel()
		ids := retainFacts(t, environ, "praised", "Kim plays the cello.", "Kim sells cellos.")
		out := ok(t, environ, "recall", "--bank", "praised", "--explain", "cello")
		if !strings.Contains(out, ids[0]) || !strings.Contains(out, "\nrecall ") {
			t.Fatalf("no ids in\n%s", out)
		}
		_, after, _ := strings.Cut(out, "\nrecall ")
		recall, _, _ := strings.Cut(after, "\n")
		out = ok(t, environ, "feedback", "--bank", "praised", "--recall", recall, "--retrieved", strings.Join(ids, ","), "--used", ids[0], "--outcome", "success")
		if !strings.Contains(out, "2 found, 1 of use") {
			t.Errorf("got %s", out)
		}
		w := apptest.Decode[memory.WriteOutcome](t, ok(t, environ, "feedback", "--bank", "praised", "--used", ids[1], "--json"))
		if w.Op == "" || w.Write == 0 {
			t.Errorf("got %+v", w)
		}
		if r := run(t, t.Context(), environ, "", "feedback", "--bank", "praised", "--used", ids[0], "--outcome", "great"); r.code != 2 || !strings.Contains(r.err, "outcome") {
			t.Errorf("%+v", r)
		}
	})
}

func TestRebuildNeedsALog(t *testing.T) {
	t.Parallel()
	none := t.TempDir()
	if r := run(t, t.Context(), nil, "", "rebuild", "--data", none); r.code != 2 || !strings.Contains(r.err, "--data") {
		t.Errorf("no streams: %+v", r)
	}
	if r := run(t, t.Context(), nil, "", "rebuild", "--data", none, "--url", "nats://127.0.0.1:1"); r.code != 5 {
		t.Errorf("no server: %+v", r)
	}
	_, environ := startLocal(t, t.TempDir())
	if r := run(t, t.Context(), environ, "", "rebuild", "--data", none); r.code != 4 || !strings.Contains(r.err, "stop it first") {
		t.Errorf("a running consolidator: %+v", r)
	}
}

func TestMigrate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, environ := startLocal(t, dir)
	to, taken := filepath.Join(dir, "moved.db"), filepath.Join(dir, "taken.db")
	apptest.Write(t, taken, "somebody's")
	if r := run(t, t.Context(), environ, "", "migrate"); r.code != 2 || !strings.Contains(r.err, "--to") {
		t.Errorf("to nowhere: %+v", r)
	}
	if r := run(t, t.Context(), environ, "", "migrate", "--to", "moved.db"); r.code != 2 || !strings.Contains(r.err, "absolute path") {
		t.Errorf("to a path of whoever asks: %+v", r)
	}
	if r := run(t, t.Context(), environ, "", "migrate", "--to", taken); r.code != 4 || !strings.Contains(r.err, "move it away first") {
		t.Errorf("to what there is: %+v", r)
	}
	if out := ok(t, environ, "migrate", "--to", to); !strings.Contains(out, "moved to "+to) || !strings.Contains(out, "Set EUNOE_STORE") {
		t.Errorf("got %s", out)
	}
	if r := run(t, t.Context(), environ, "", "rebuild", "--live"); r.code != 4 || !strings.Contains(r.err, "was moved to "+to) {
		t.Errorf("rebuilt after the move: %+v", r)
	}
	stop(t, l)
	if r := run(t, t.Context(), nil, "", "up", "--data", dir, "--port", "-1"); r.code != 4 || !strings.Contains(r.err, "was moved to "+to) {
		t.Errorf("with the old store: %+v", r)
	}
	ok(t, []string{"EUNOE_STORE=" + to}, "verify", "--offline", "--data", dir)
}
