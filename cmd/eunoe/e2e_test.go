package main_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// startLocal starts all stages in a temporary directory and returns the environment of a command line that talks to them.
func startLocal(t *testing.T, dir string) (*local.Local, []string) {
	t.Helper()
	cfg, _, err := settings.Load(nil, map[string]string{"DATA": dir, "PORT": "-1", "LOG": "error", "SYNC": "false"})
	if err != nil {
		t.Fatal(err)
	}
	l, err := local.Start(t.Context(), cfg, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, l) })
	c, err := client.New(client.DefaultConfig(), client.Deps{Conn: l.Conn})
	if err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, "the query stage answers", func() bool {
		_, err := c.Status(t.Context(), "nobody")
		return errors.Is(err, memory.ErrNotFound)
	})
	return l, []string{"EUNOE_URL=" + l.URL, "EUNOE_TIMEOUT=60s"}
}

func stop(t *testing.T, l *local.Local) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 30*time.Second)
	defer cancel()
	if err := l.Close(ctx); err != nil {
		t.Error(err)
	}
}

// talk publishes a small conversation to a bank and waits until status reports settled.
func talk(t *testing.T, environ []string, bank string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "talk.jsonl")
	apptest.Write(t, path, strings.Join([]string{
		`{"session":"chat","id":"m1","speaker":"Alice","content":"I live in Paris.","time":"2026-01-05T10:00:00Z"}`,
		`{"session":"chat","id":"m2","speaker":"Alice","content":"I am allergic to shellfish.","time":"2026-01-05T10:01:00Z"}`,
		`{"session":"chat","id":"m3","speaker":"Bob","content":"I work at Globex and I love old maps.","time":"2026-01-05T10:02:00Z"}`,
		`{"session":"chat","flush":true}`,
		`{"session":"later","id":"m4","speaker":"Alice","content":"I moved to Lisbon.","time":"2026-05-20T10:00:00Z"}`,
		`{"session":"later","id":"m5","speaker":"Alice","content":"I am allergic to shellfish and to mussels.","time":"2026-05-20T10:01:00Z"}`,
	}, "\n"))
	ok(t, environ, "import", path, "--bank", bank)
}

type page = wire.Page[memory.Item]

func TestEveryCommand(t *testing.T) {
	t.Parallel()
	l, environ := startLocal(t, t.TempDir())
	talk(t, environ, "alice")
	facts := apptest.Decode[page](t, ok(t, environ, "list", "--bank", "alice", "--json")).Items
	if len(facts) == 0 {
		t.Fatal("no facts")
	}

	t.Run("publish stores a message and flushes its session", func(t *testing.T) {
		t.Parallel()
		p := apptest.Decode[map[string]any](t, ok(t, environ, "publish", "--bank", "pub", "--speaker", "Ana", "--id", "p1", "--flush", "--json", "I moved to Porto."))
		if p["seq"] == nil || p["flush"] == nil {
			t.Errorf("got %v", p)
		}
		ok(t, environ, "status", "--bank", "pub", "--wait")
		r := run(t, t.Context(), environ, "from standard input\n", "publish", "--bank", "pub", "-")
		if r.code != 0 || !strings.Contains(r.out, "stored as message") {
			t.Errorf("%+v", r)
		}
		if r := run(t, t.Context(), environ, "", "publish", "--bank", "pub", "--id", "seq:1", "x"); r.code != 2 || !strings.Contains(r.err, "id") {
			t.Errorf("%+v", r)
		}
	})
	t.Run("recall finds, explains, and returns the wire object", func(t *testing.T) {
		t.Parallel()
		r := apptest.Decode[wire.RecallReply](t, ok(t, environ, "recall", "--bank", "alice", "--json", "what is Alice allergic to"))
		if len(r.Items) == 0 || !strings.Contains(r.Items[0].Text, "shellfish") {
			t.Errorf("got %+v", r.Items)
		}
		out := ok(t, environ, "recall", "--bank", "alice", "--explain", "--max-facts", "3", "--records", "message", "what is Alice allergic to")
		for _, want := range []string{"SCORE", "SOURCES", "KEYWORD", "shellfish", "m2"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s is not in\n%s", want, out)
			}
		}
		for _, command := range []string{"recall", "reflect"} {
			if r := run(t, t.Context(), environ, "what is Alice allergic to\n", command, "--bank", "alice", "-"); r.code != 0 || !strings.Contains(r.out, "shellfish") || strings.Contains(r.out, "degraded") {
				t.Errorf("%s of standard input: %+v", command, r)
			}
		}
		if r := run(t, t.Context(), environ, "", "recall", "--bank", "nobody", "x"); r.code != 3 || !strings.HasPrefix(r.err, "eunoe: bank \"nobody\": not found\n") {
			t.Errorf("an unknown bank: %+v", r)
		}
		if r := run(t, t.Context(), environ, "", "recall", "--bank", "alice", "--kinds", "song", "x"); r.code != 2 || !strings.Contains(r.err, "kinds") {
			t.Errorf("a wrong filter: %+v", r)
		}
	})
	t.Run("reflect packs the context where there is no model", func(t *testing.T) {
		t.Parallel()
		r := apptest.Decode[wire.ReflectReply](t, ok(t, environ, "reflect", "--bank", "alice", "--json", "what should I cook for Alice"))
		if r.Mode != "context" || !strings.Contains(r.Response, "shellfish") {
			t.Errorf("got %+v", r)
		}
		for _, args := range [][]string{{}, {"--stream"}} {
			if out := ok(t, environ, append([]string{"reflect", "--bank", "alice", "what should I cook for Alice"}, args...)...); !strings.Contains(out, "shellfish") || !strings.Contains(out, "mode context") {
				t.Errorf("got %s", out)
			}
		}
	})
	t.Run("a judge and adequacy rounds can be requested, and are reported as degraded without a model", func(t *testing.T) {
		t.Parallel()
		for _, judge := range []string{"--judge", "--judge=0.9"} {
			r := apptest.Decode[wire.RecallReply](t, ok(t, environ, "recall", "--bank", "alice", "--json", judge, "--adequacy", "2", "what should I cook for Alice"))
			if all := strings.Join(r.Degraded, ";"); len(r.Items) == 0 || !strings.Contains(all, "judge: no language model") || !strings.Contains(all, "adequacy: no language model") {
				t.Errorf("%s returns %+v", judge, r)
			}
		}
		if r := run(t, t.Context(), environ, "", "recall", "--bank", "alice", "--judge=2", "x"); r.code != 2 || !strings.Contains(r.err, "judge") {
			t.Errorf("a wrong threshold: %+v", r)
		}
		if r := run(t, t.Context(), environ, "", "recall", "--bank", "alice", "--judge=often", "x"); r.code != 2 {
			t.Errorf("no threshold: %+v", r)
		}
	})
	t.Run("get, list, history, tree and entities show the stored records", func(t *testing.T) {
		t.Parallel()
		it := apptest.Decode[memory.Item](t, ok(t, environ, "get", "--bank", "alice", "--json", facts[0].ID))
		if it.ID != facts[0].ID || len(it.Sources) == 0 {
			t.Errorf("got %+v", it)
		}
		for _, tc := range []struct {
			want string
			args []string
		}{
			{facts[0].ID, []string{"get", facts[0].ID}},
			{"m3", []string{"list", "--record", "message", "--speakers", "Bob"}},
			{facts[0].ID, []string{"history", facts[0].ID}},
			{"person:alice", []string{"entities"}},
			{"person:alice", []string{"entities", "--json", "--match", "ali", "--type", "person"}},
			{"", []string{"tree", "--depth", "3"}},
			{"items", []string{"tree", "--json"}},
		} {
			if out := ok(t, environ, append(tc.args, "--bank", "alice")...); out == "" || !strings.Contains(out, tc.want) {
				t.Errorf("%v: %q is not in\n%s", tc.args, tc.want, out)
			}
		}
		if r := run(t, t.Context(), environ, "", "get", "--bank", "alice", "f_none"); r.code != 3 {
			t.Errorf("%+v", r)
		}
	})
	t.Run("retain, observe and consolidate write", func(t *testing.T) {
		t.Parallel()
		first := apptest.Decode[wire.RetainReply](t, ok(t, environ, "retain", "--bank", "kept", "--key", "k", "--type", "preference", "--json", "Kim likes tea."))
		if len(first.Results) != 1 || first.Results[0].Outcome != memory.OutcomeAdded || first.Write == 0 {
			t.Fatalf("got %+v", first)
		}
		if out := ok(t, environ, "retain", "--bank", "kept", "--entities", "person:kim", "--said", "2026-05-01", "--confidence", "0.5", "Kim owns a bike."); !strings.Contains(out, "added") {
			t.Errorf("got %s", out)
		}
		if out := ok(t, environ, "retain", "--bank", "kept", "--extract", "--said", "2026-05-01", "--speaker", "Kim", "I work at Initech."); !strings.Contains(out, "op ") {
			t.Errorf("got %s", out)
		}
		if out := ok(t, environ, "list", "--bank", "kept"); !strings.Contains(out, "Kim works at Initech.") {
			t.Errorf("the text's facts do not name its speaker:\n%s", out)
		}
		ok(t, environ, "observe", "--bank", "kept")
		ok(t, environ, "observe", "--bank", "kept", "--types", "pattern", "--json")
		if out := ok(t, environ, "consolidate", "--bank", "kept", "--force"); out == "" {
			t.Error("consolidate says nothing")
		}
	})
	t.Run("bank shows and sets the profile; banks lists all", func(t *testing.T) {
		t.Parallel()
		ok(t, environ, "bank", "set", "--bank", "prof", "--create", "--name", "Prof", "--mission", "Teach")
		if r := run(t, t.Context(), environ, "", "bank", "set", "--bank", "prof", "--create"); r.code != 4 {
			t.Errorf("%+v", r)
		}
		ok(t, environ, "bank", "set", "--bank", "prof", "--skepticism", "5")
		ok(t, environ, "bank", "set", "--bank", "prof", "--empathy", "1")
		b := apptest.Decode[memory.Bank](t, ok(t, environ, "bank", "show", "--bank", "prof", "--json"))
		if b.Name != "Prof" || b.Disposition != (memory.Disposition{Skepticism: 5, Literalism: 3, Empathy: 1}) {
			t.Errorf("got %+v", b)
		}
		if out := ok(t, environ, "bank", "--bank", "prof"); !strings.Contains(out, "skepticism 5") || !strings.Contains(out, "Teach") {
			t.Errorf("got %s", out)
		}
		ok(t, environ, "bank", "set", "--bank", "prof", "--facts-quota", "500", "--trigger-every", "4")
		ok(t, environ, "bank", "set", "--bank", "prof", "--messages-per-second", "2.5", "--idle-after", "45s")
		b = apptest.Decode[memory.Bank](t, ok(t, environ, "bank", "show", "--bank", "prof", "--json"))
		if b.Quotas == nil || *b.Quotas != (memory.Quotas{MessagesPerSecond: 2.5, Facts: 500}) {
			t.Errorf("the quotas are %+v", b.Quotas)
		}
		if w := b.Windows; w == nil || *w.TriggerEvery != 4 || time.Duration(*w.IdleAfter) != 45*time.Second || w.WindowSize != nil {
			t.Errorf("the windows are %+v", w)
		}
		if out := ok(t, environ, "bank", "--bank", "prof"); !strings.Contains(out, "trigger_every 4") || !strings.Contains(out, "idle_after 45s") {
			t.Errorf("got %s", out)
		}
		if r := run(t, t.Context(), environ, "", "bank", "set", "--bank", "prof", "--idle-after", "soon"); r.code != 2 || !strings.Contains(r.err, "--idle-after") {
			t.Errorf("%+v", r)
		}
		if r := run(t, t.Context(), environ, "", "bank", "set", "--bank", "prof", "--empathy", "9"); r.code != 2 || !strings.Contains(r.err, "empathy") {
			t.Errorf("%+v", r)
		}
		if out := ok(t, environ, "banks"); !strings.Contains(out, "alice") {
			t.Errorf("got %s", out)
		}
	})
	t.Run("forget asks first, erases, and shows the receipt", func(t *testing.T) {
		t.Parallel()
		talk(t, environ, "gone")
		if r := run(t, t.Context(), environ, "no\n", "forget", "--bank", "gone", "--session", "later"); r.code != 2 || !strings.Contains(r.err, "Type yes") {
			t.Errorf("%+v", r)
		}
		would := ok(t, environ, "forget", "--bank", "gone", "--session", "later", "--preview")
		if !strings.Contains(would, "would be forgotten") || !strings.Contains(would, "of session later") {
			t.Errorf("the preview is\n%s", would)
		}
		r := run(t, t.Context(), environ, "yes\n", "forget", "--bank", "gone", "--session", "later")
		if r.code != 0 || !strings.Contains(r.out, "forgotten") {
			t.Fatalf("%+v", r)
		}
		if out := ok(t, environ, "list", "--bank", "gone", "--record", "message", "--json"); strings.Contains(out, "Lisbon") || !strings.Contains(out, "Paris") {
			t.Errorf("got %s", out)
		}
		for _, whose := range []string{"--speaker", "--session"} {
			for _, how := range []string{"--yes", "--preview"} {
				r := run(t, t.Context(), environ, "", "forget", "--bank", "gone", whose, "Nobody", how)
				if r.code != 3 || r.out != "" || !strings.Contains(r.err, "Nobody") {
					t.Errorf("forget %s Nobody %s: %+v", whose, how, r)
				}
			}
		}
		ok(t, environ, "forget", "--bank", "gone", "--whole-bank", "--yes", "--json")
		natstest.Eventually(t, "the bank is gone", func() bool {
			return run(t, t.Context(), environ, "", "bank", "--bank", "gone").code == 3
		})
	})
	t.Run("status reports live stages and their lag", func(t *testing.T) {
		t.Parallel()
		out := ok(t, environ, "status", "--bank", "alice")
		for _, want := range []string{"ALIVE", "eunoe-ingest", "settled", "5 messages published", "dead letters"} {
			if !strings.Contains(out, want) {
				t.Errorf("%q is not in\n%s", want, out)
			}
		}
		if s := apptest.Decode[wire.Status](t, ok(t, environ, "status", "--bank", "alice", "--json")); !s.Settled || s.Conservation.Published != 5 {
			t.Errorf("got %+v", s)
		}
	})
	t.Run("tail prints past and new changes, and ends after a given count", func(t *testing.T) {
		t.Parallel()
		out := ok(t, environ, "tail", "--bank", "alice", "--after", "0", "--count", "2")
		if strings.Count(out, "\n") != 2 {
			t.Errorf("got %q", out)
		}
		for _, what := range []string{"message", "fact", "entity"} {
			out := ok(t, environ, "tail", "--bank", "alice", "--after", "0", "--what", what, "--count", "2")
			if strings.Count(out, what) != 2 {
				t.Errorf("got %q", out)
			}
		}
		out = ok(t, environ, "tail", "--bank", "alice", "--after", "0", "--what", "fact", "--count", "1")
		if id := strings.Fields(out)[4]; !strings.Contains(out, apptest.Decode[memory.Item](t, ok(t, environ, "get", "--bank", "alice", "--json", id)).Text) {
			t.Errorf("the text of the fact is not in %q", out)
		}
		done := make(chan result, 1)
		go func() {
			done <- run(t, t.Context(), environ, "", "tail", "--bank", "tailed", "--what", "fact", "--count", "1", "--json")
		}()
		var got result
		natstest.Eventually(t, "a change was printed", func() bool {
			ok(t, environ, "retain", "--bank", "tailed", "Tea is warm at "+time.Now().Format(time.RFC3339Nano))
			select {
			case got = <-done:
				return true
			default:
				return false
			}
		})
		ch := apptest.Decode[map[string]any](t, got.out)
		if ch["what"] != "fact" || ch["op"] != "added" {
			t.Errorf("got %v", ch)
		}
	})
	t.Run("tail ends without an error when it is interrupted", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if r := run(t, ctx, environ, "", "tail", "--bank", "quiet"); r.code != 0 {
			t.Errorf("%+v", r)
		}
	})
	t.Run("dead letters are listed, shown, sent again and dropped", func(t *testing.T) {
		t.Parallel()
		for range 2 {
			if _, err := l.Conn.JS.Publish(t.Context(), l.Conn.Naming.MessageSubject("broken", "s"), []byte(`{"role":"boss","content":"x"}`)); err != nil {
				t.Fatal(err)
			}
		}
		var letters wire.Page[memory.DeadLetter]
		natstest.Eventually(t, "two dead letters", func() bool {
			letters = apptest.Decode[wire.Page[memory.DeadLetter]](t, ok(t, environ, "dead", "list", "--json"))
			return len(letters.Items) >= 2
		})
		id := json.Number(func() string { b, _ := json.Marshal(letters.Items[0].ID); return string(b) }()).String() //nolint:errcheck // a number
		if out := ok(t, environ, "dead", "list"); !strings.Contains(out, "broken") || !strings.Contains(out, "role") {
			t.Errorf("got %s", out)
		}
		if out := ok(t, environ, "dead", "show", id); !strings.Contains(out, `"boss"`) {
			t.Errorf("got %s", out)
		}
		ok(t, environ, "dead", "drop", id)
		if r := run(t, t.Context(), environ, "", "dead", "show", id); r.code != 3 {
			t.Errorf("%+v", r)
		}
		second, _ := json.Marshal(letters.Items[1].ID) //nolint:errcheck // a number
		if out := ok(t, environ, "dead", "retry", string(second)); !strings.Contains(out, "sent again") {
			t.Errorf("got %s", out)
		}
		list := func(args ...string) int {
			return len(apptest.Decode[wire.Page[memory.DeadLetter]](t, ok(t, environ, append([]string{"dead", "list", "--json"}, args...)...)).Items)
		}
		natstest.Eventually(t, "it is dead again", func() bool { return list("--bank", "broken", "--stage", "ingest") == 1 })
		if n := list("--bank", "whole") + list("--stage", "extract"); n != 0 {
			t.Errorf("%d letters of another bank and stage", n)
		}
		if out := ok(t, environ, "dead", "retry", "--all", "--stage", "extract"); out != "No dead letters of stage extract.\n" {
			t.Errorf("got %s", out)
		}
		if r := run(t, t.Context(), environ, "no\n", "dead", "drop", "--all", "--bank", "broken"); r.code != 2 || !strings.Contains(r.err, "of bank broken") || list() != 1 {
			t.Errorf("%+v", r)
		}
		if out := ok(t, environ, "dead", "drop", "--all", "--bank", "broken", "--yes"); out != "dropped: 1 dead letter\n" || list() != 0 {
			t.Errorf("got %s", out)
		}
	})
	t.Run("doctor reports a healthy system, and names each problem", func(t *testing.T) {
		t.Parallel()
		out := ok(t, environ, "doctor")
		for _, want := range []string{"broker", "jetstream", "MEM_MESSAGES", "consolidator", "answers", "model"} {
			if !strings.Contains(out, want) {
				t.Errorf("%q is not in\n%s", want, out)
			}
		}
		if strings.Contains(out, "BAD") {
			t.Error(out)
		}
		bare := natstest.Start(t)
		r := run(t, t.Context(), []string{"EUNOE_URL=" + bare.NC.ConnectedUrl(), "EUNOE_TIMEOUT=5s"}, "", "doctor")
		if r.code != 5 || !strings.Contains(r.out, "BAD  ingest") || !strings.Contains(r.out, "→") {
			t.Errorf("%+v", r)
		}
	})
	t.Run("demo runs from end to end", func(t *testing.T) {
		t.Parallel()
		out := ok(t, nil, "demo", "--data", filepath.Join(t.TempDir(), "demo"))
		for _, want := range []string{"What to do next", "eunoe up --data", "Mara's favourite dish is ramen.", ", 0 dead letters", "[3] ",
			"What is Mara allergic to?\n     → Mara is allergic to shellfish.",
			"Where does Mara live?\n     → Mara lives in Lisbon",
			"What is Mara's phone number?\n     → Mara's phone number is 555 0124.",
			"When does Mara's flight to Lisbon leave?\n     → Mara's flight to Lisbon leaves on 16 May 2026 at 07:40.",
			"When does Biscuit need his pills?\n     → Biscuit needs his pills at eight in the morning",
		} {
			if !strings.Contains(out, want) {
				t.Errorf("%q is not in\n%s", want, out)
			}
		}
		if n := strings.Count(out, "   ["); n != 3 {
			t.Errorf("%d branches of the tree; 3 are expected\n%s", n, out)
		}
	})
}

func TestUpAndRebuild(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "memory")
	environ := []string{"EUNOE_LOG=error", "EUNOE_HTTP=127.0.0.1:0"}
	serve := func() (url string, end func()) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		out := &firstLine{line: make(chan string, 1)}
		done := make(chan int, 1)
		go func() { done <- executeTo(ctx, environ, out, "up", "--data", data, "--port", "-1", "--json") }()
		select {
		case line := <-out.line:
			return apptest.Decode[map[string]string](t, line)["url"], func() {
				cancel()
				if code := <-done; code != 0 {
					t.Errorf("up ended with %d", code)
				}
			}
		case code := <-done:
			cancel()
			t.Fatalf("up ended with %d", code)
			return "", nil
		}
	}
	url, end := serve()
	talk(t, []string{"EUNOE_URL=" + url}, "alice")
	question := []string{"recall", "--bank", "alice", "--now", "2026-07-01", "--url"}
	before := apptest.Decode[wire.RecallReply](t, ok(t, nil, append(question, url, "--json", "where does Alice live")...))
	if r := run(t, t.Context(), environ, "", "up", "--data", data, "--port", "-1"); r.code == 0 || !strings.Contains(r.err, data) {
		t.Errorf("a second one on the same data: %+v", r)
	}
	end()
	if out := ok(t, environ, "rebuild", "--data", data); !strings.Contains(out, "rebuilt") {
		t.Errorf("got %s", out)
	}
	url, end = serve()
	defer end()
	after := apptest.Decode[wire.RecallReply](t, ok(t, nil, append(question, url, "--json", "where does Alice live")...))
	if diff := cmp.Diff(before, after, cmpopts.IgnoreFields(wire.RecallReply{}, "Recall", "Took")); diff != "" {
		t.Errorf("the rebuilt store answers otherwise:\n%s", diff)
	}
}

func TestImportExport(t *testing.T) {
	t.Parallel()
	one, first := startLocal(t, t.TempDir())
	_, second := startLocal(t, t.TempDir())
	t.Run("export then import into an empty store returns identical recall results", func(t *testing.T) {
		t.Parallel()
		talk(t, first, "alice")
		ok(t, first, "bank", "set", "--bank", "alice", "--mission", "Cook for Alice", "--skepticism", "4")
		ok(t, first, "publish", "--bank", "alice", "--session", "open", "--speaker", "Bob", "--time", "2026-06-01T10:00:00Z", "--flush", "I bought a canoe.") // no id
		ok(t, first, "status", "--bank", "alice", "--wait")
		ok(t, first, "retain", "--bank", "alice", "--key", "tea", "--said", "2026-06-02", "--sources", "m3", "--tags", "drink", "Bob likes green tea.")
		ok(t, first, "retain", "--bank", "alice", "--key", "tea", "--said", "2026-06-03", "Bob likes black tea.")
		ok(t, first, "status", "--bank", "alice", "--wait")

		ok(t, first, "publish", "--bank", "alice", "--session", "secret", "--id", "s1", "--flush", "The password of the attic is marzipan.")
		ok(t, first, "status", "--bank", "alice", "--wait")
		ok(t, first, "forget", "--bank", "alice", "--session", "secret", "--yes")
		c, err := client.New(client.DefaultConfig(), client.Deps{Conn: one.Conn})
		if err != nil {
			t.Fatal(err)
		}
		tea := string(memory.NewFactID("alice", "Bob likes black tea.", memory.KindWorld))
		if _, err := c.Edit(t.Context(), "alice", wire.EditRequest{ID: memory.FactID(tea), Text: "Bob likes black tea with lemon."}); err != nil {
			t.Fatal(err)
		}

		said := []memory.MessageID{"m3"}
		if _, err := c.Apply(t.Context(), "alice", wire.ApplyRequest{WriteControl: wire.WriteControl{Op: "tidy"}, Changes: []memory.Curation{
			{Op: memory.CurateRemember, As: "$canoe", FactInput: memory.FactInput{Sources: said, Tags: []string{"boat"}}, Text: "The canoe of Bob is called Mistral."},
			{Op: memory.CuratePin, ID: "$canoe", Pin: new(true)},
			{Op: memory.CurateEdit, ID: string(memory.NewFactID("alice", "Bob likes black tea with lemon.", memory.KindWorld)), Text: "Bob likes black tea with honey."},
		}}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Apply(t.Context(), "alice", wire.ApplyRequest{WriteControl: wire.WriteControl{Op: "wrong"}, Changes: []memory.Curation{
			{Op: memory.CurateRemember, Text: "Bob dislikes boats."}}}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Undo(t.Context(), "alice", wire.UndoRequest{Apply: "wrong"}); err != nil {
			t.Fatal(err)
		}

		path := filepath.Join(t.TempDir(), "alice.jsonl")
		ok(t, first, "export", "--bank", "alice", "--out", path)
		if text, err := os.ReadFile(path); err != nil || strings.Contains(string(text), "marzipan") {
			t.Errorf("what was forgotten is exported (%v)", err)
		}
		report := apptest.Decode[map[string]int](t, ok(t, second, "import", "--json", path))
		if report["facts_differ"]+report["facts_retained"]+report["facts_missing"] != 0 || report["facts_same"] == 0 {
			t.Errorf("got %v", report)
		}
		for _, q := range []string{"where does Alice live", "what is Alice allergic to", "what does Bob drink", "who bought a canoe", "what is the canoe called", "does Bob dislike boats", "old maps"} {
			a := apptest.Decode[wire.RecallReply](t, ok(t, first, "recall", "--bank", "alice", "--json", "--now", "2026-07-01", q))
			b := apptest.Decode[wire.RecallReply](t, ok(t, second, "recall", "--bank", "alice", "--json", "--now", "2026-07-01", q))
			if diff := cmp.Diff(alike(a), alike(b)); diff != "" {
				t.Errorf("%s:\n%s", q, diff)
			}
		}
		for _, record := range []string{"fact", "composite", "message"} {
			a := apptest.Decode[page](t, ok(t, first, "list", "--bank", "alice", "--json", "--record", record))
			b := apptest.Decode[page](t, ok(t, second, "list", "--bank", "alice", "--json", "--record", record))
			if diff := cmp.Diff(alike(wire.RecallReply{Items: a.Items}), alike(wire.RecallReply{Items: b.Items})); diff != "" {
				t.Errorf("%ss:\n%s", record, diff)
			}
		}
		a, b := apptest.Decode[memory.Bank](t, ok(t, first, "bank", "--bank", "alice", "--json")), apptest.Decode[memory.Bank](t, ok(t, second, "bank", "--bank", "alice", "--json"))
		if diff := cmp.Diff(a, b, cmpopts.IgnoreFields(memory.Bank{}, "Created", "Version")); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("facts written by a model are imported exactly as they were exported", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "worded.jsonl")
		apptest.Write(t, path, strings.Join([]string{
			`{"record":"export","format":1,"bank":"worded"}`,
			`{"record":"message","bank":"worded","session":"s","seq":4,"speaker":"Ann","content":"Rosebud was my sled.","time":"2026-01-05T10:00:00Z"}`,
			`{"record":"fact","bank":"worded","item":{"id":"f_x","record":"fact","kind":"world","type":"fact","text":"As a child Ann had a sled, which she named Rosebud.","entities":["person:ann"],"said":"2026-01-05T10:00:00Z","confidence":0.9,"sources":["seq:4"],"children":[]}}`,
			`{"record":"end","lines":3}`,
		}, "\n"))
		if report := apptest.Decode[map[string]int](t, ok(t, second, "import", "--json", path)); report["facts_retained"] != 1 {
			t.Errorf("got %v", report)
		}
		id := string(memory.NewFactID("worded", "As a child Ann had a sled, which she named Rosebud.", memory.KindWorld))
		it := apptest.Decode[memory.Item](t, ok(t, second, "get", "--bank", "worded", "--json", id))
		if len(it.Sources) != 1 || !strings.HasPrefix(string(it.Sources[0]), "imp_") {
			t.Errorf("got %+v", it)
		}
	})
	t.Run("an interrupted import resumes where it stopped, without duplicates", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "long.jsonl")
		var lines []string
		for range 450 {
			lines = append(lines, `{"session":"s","speaker":"Ann","content":"Hello again."}`)
		}
		apptest.Write(t, path, strings.Join(lines, "\n"))
		ctx, cancel := context.WithCancel(t.Context())
		c, err := client.New(client.DefaultConfig(), client.Deps{Conn: one.Conn})
		if err != nil {
			t.Fatal(err)
		}
		interrupted := make(chan result, 1)
		go func() { interrupted <- run(t, ctx, first, "", "import", "--bank", "long", path) }()
		natstest.Eventually(t, "some of it is in", func() bool {
			last, err := c.Conn().LastMessage(t.Context(), "long")
			return err == nil && last > 0
		})
		cancel()
		if r := <-interrupted; r.code == 0 && !strings.Contains(r.out, "450 messages") {
			t.Errorf("%+v", r)
		}
		ok(t, first, "import", "--bank", "long", path)
		s := apptest.Decode[wire.Status](t, ok(t, first, "status", "--bank", "long", "--json"))
		if c := s.Conservation; c.Published-c.Duplicate != 450 || c.Sum() != c.Published {
			t.Errorf("got %+v", c)
		}
		if _, err := os.Stat(path + ".eunoe-progress"); !os.IsNotExist(err) {
			t.Errorf("the checkpoint is left: %v", err)
		}
	})
	t.Run("a flag names another bank; standard input works", func(t *testing.T) {
		t.Parallel()
		r := run(t, t.Context(), first, `{"session":"s","bank":"inside","speaker":"Ann","content":"I live in Rome."}`, "import", "-", "--bank", "outside")
		if r.code != 0 {
			t.Fatalf("%+v", r)
		}
		ok(t, first, "bank", "--bank", "outside")
		if r := run(t, t.Context(), first, "", "bank", "--bank", "inside"); r.code != 3 {
			t.Errorf("%+v", r)
		}
	})
}

// alike removes values that differ from log to log: recall ids, message ids derived from stream sequences, versions and
// storage times.
func alike(r wire.RecallReply) []memory.Item {
	out := append([]memory.Item{}, r.Items...)
	for i := range out {
		out[i].Version = 0
		if strings.HasPrefix(out[i].ID, "seq:") || strings.HasPrefix(out[i].ID, "imp_") {
			out[i].ID = "named"
		}
		for j, s := range out[i].Sources {
			if strings.HasPrefix(string(s), "seq:") || strings.HasPrefix(string(s), "imp_") {
				out[i].Sources[j] = "named"
			}
		}
	}
	return out
}

// firstLine is a writer that delivers the first line written to it.
type firstLine struct {
	line chan string
	text strings.Builder
}

func (f *firstLine) Write(p []byte) (int, error) {
	f.text.Write(p)
	if line, _, found := strings.Cut(f.text.String(), "\n"); found {
		select {
		case f.line <- line:
		default:
		}
	}
	return len(p), nil
}
