package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/internal/app/offline"
	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/internal/app/storage"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/store"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres/postgrestest"
	"github.com/eunoe-memory/eunoe/test/programs"
)

var questions = []string{"Where does Alice live?", "What is Alice allergic to?", "What did Ben buy last Friday?", "Who adopted a cat?", "harbour engineer",
	"What happened on day 12?", "What does Alice prefer to drink?", "Who plays the cello?", "Carla's work", "Porto", "your passport", "彼女"}

// recalled asks all questions of a bank, in several ways, and returns the answers without what differs in every run.
func recalled(p plain, bank string) []string {
	p.t.Helper()
	var out []string
	for _, q := range questions {
		for _, how := range []string{``, `,"max_facts":30,"explain":true`, `,"speakers":["Alice"]`, `,"as_of":"2026-03-02T10:00:00Z"`, `,"strategies":{"semantic":1}`} {
			r := p.mustAsk("mem."+bank+".recall", fmt.Sprintf(`{"query":%q,"now":"2026-04-01T00:00:00Z"%s}`, q, how))
			line := q + how
			for _, i := range list(r["items"]) {
				it := i.(object)
				line += fmt.Sprintf("\n  %v %.9v %v", it["id"], it["score"], it["text"])
			}
			out = append(out, line)
		}
	}
	return out
}

// run starts a whole pipeline, calls do, and stops it.
func run(t *testing.T, c settings.Config, do func(p plain)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	l, err := local.Start(ctx, c, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	p := dial(t, l.URL)
	do(p)
	p.nc.Close()
	if err := l.Close(ctx); err != nil {
		t.Fatal(err)
	}
}

func TestAStoreOnPostgreSQLHoldsAndAnswersWhatOneOfSQLiteDoes(t *testing.T) {
	t.Parallel()
	answersAlike(t, postgrestest.ForTest(t).Schema("live"))
}

// answersAlike compares a store at a place with one of SQLite.
func answersAlike(t *testing.T, place string) {
	t.Helper()
	c := apptest.Settings(t, map[string]string{"STORE": place})
	var onServer []string
	run(t, c, func(p plain) {
		history(p)
		onServer = recalled(p, "talk")
		seq := p.publish("mem.talk.message.s9", `{"speaker":"Alice","content":"My violin is in the attic."}`)
		found := list(p.mustAsk("mem.talk.recall", fmt.Sprintf(`{"query":"Where is the violin?","after":%d}`, seq))["items"])
		if len(found) == 0 || found[0].(object)["text"] != "My violin is in the attic." {
			t.Errorf("a recall after a publish found %v", found)
		}
		p.publish("mem.talk.flush.s9", "")
		p.settle("talk")
	})
	want := dump(t, c.Store)
	if n := bytes.Count([]byte(want), []byte("\n")); n < 200 {
		t.Fatalf("the dump has %d lines", n)
	}

	inFile := c
	inFile.Store = filepath.Join(c.Data, "eunoe.db")
	for _, again := range []settings.Config{inFile, c} { // a rebuild on the server puts a new schema in the place of the old
		if err := offline.Rebuild(t.Context(), again, nil); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(lines(want), lines(dump(t, again.Store))); diff != "" {
			t.Fatalf("the store %s differs (-live +rebuilt):\n%s", again.Store, diff[max(0, len(diff)-6000):])
		}
		v, err := offline.Verify(t.Context(), again, true, false)
		if err != nil || !v.OK {
			t.Errorf("verified: %q, %v", v.Problems, err)
		}
	}

	twin := apptest.Settings(t, nil)
	run(t, twin, func(p plain) {
		history(p)
		if diff := cmp.Diff(recalled(p, "talk"), onServer); diff != "" {
			t.Errorf("the answers differ (-SQLite +PostgreSQL):\n%s", diff)
		}
	})
}

func TestAConsolidatorOnPostgreSQLThatIsKilledLosesNothing(t *testing.T) {
	t.Parallel()
	const messages = 120
	server := postgrestest.ForTest(t)
	url := startBroker(t)
	env := []string{"EUNOE_URL=" + url, "EUNOE_DATA=" + t.TempDir(), "EUNOE_LOG=error", "EUNOE_IDLE_AFTER=1m", "EUNOE_STORE=" + server.Schema("eunoe")}
	killed := programs.Start(t, env, "consolidator")
	for _, name := range []string{"ingest", "extractor", "query"} {
		programs.Start(t, env, name)
	}
	p := dial(t, url)
	waitAnswering(p)
	converse(p, "talk", messages)
	killed.Kill(t)
	programs.Start(t, env, "consolidator")
	conserved(t, p.settle("talk"), messages)

	whole := dial(t, startLocal(t, nil).URL)
	converse(whole, "talk", messages)
	whole.settle("talk")
	if diff := cmp.Diff(facts(whole, "talk"), facts(p, "talk")); diff != "" {
		t.Errorf("the facts differ from those of one process on SQLite (-SQLite +PostgreSQL):\n%s", diff)
	}
}

// TestALiveRebuildOnPostgreSQL rebuilds while a bot publishes and recalls, and then while somebody reads for longer than the
// switch waits.
func TestALiveRebuildOnPostgreSQL(t *testing.T) {
	t.Parallel()
	rebuildLive(t, postgrestest.ForTest(t).Schema("eunoe"))
}

// rebuildLive is TestALiveRebuildOnPostgreSQL of a store at a place.
func rebuildLive(t *testing.T, place string) {
	t.Helper()
	data := t.TempDir()
	url := startBroker(t)
	env := []string{"EUNOE_URL=" + url, "EUNOE_DATA=" + data, "EUNOE_LOG=warn", "EUNOE_IDLE_AFTER=1m", "EUNOE_STORE=" + place}
	var stages []*programs.Process
	for _, name := range []string{"ingest", "extractor", "consolidator", "query", "query"} {
		stages = append(stages, programs.Start(t, env, name))
	}
	p := dial(t, url)
	waitAnswering(p)
	converse(p, "talk", 60)
	p.settle("talk")
	want := facts(p, "talk")
	c := chat(t, url, "busy", true)
	for range 2 {
		if out, err := live(t, url); err != nil || !strings.Contains(out, "rebuilt ") {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if n := c.end(); n < 5 {
		t.Errorf("only %d recalls meanwhile", n)
	}

	reader, err := store.OpenCurrent(store.Config{DSN: place, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	began, over, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- reader.Read(t.Context(), "talk", func(r query.Reader) error {
			if _, err := r.Bank(); err != nil {
				return err
			}
			close(began)
			<-over
			_, err := r.Tally()
			return err
		})
	}()
	<-began
	if out, err := live(t, url); err == nil {
		t.Errorf("a reader did not keep the store: %s", out)
	}
	close(over)
	if err := <-done; err != nil {
		t.Errorf("the reader: %v", err)
	}
	if out, err := live(t, url); err != nil {
		t.Errorf("after the reader: %v: %s", err, out)
	}
	if banks, err := reader.Banks(t.Context(), "", 10); err != nil || len(banks) != 2 {
		t.Errorf("the reader, of the new store: %v %v", banks, err)
	}

	p.publish("mem.busy.flush.chat", "")
	p.settle("busy")
	if diff := cmp.Diff(want, facts(p, "talk")); diff != "" {
		t.Errorf("facts (-before +after):\n%s", diff)
	}
	natstest.Eventually(t, "the store that was replaced is gone", func() bool {
		left, err := storage.Exists(t.Context(), storage.Unfinished(place))
		return err == nil && !left
	})
	for _, s := range stages {
		s.Stop(t)
	}
	set, _, err := settings.Load(nil, map[string]string{"URL": url, "DATA": data, "STORE": place, "LOG": "error"})
	if err != nil {
		t.Fatal(err)
	}
	asOffline(t, set)
}

func TestWhatIsForgottenIsInNoFileOfPostgreSQL(t *testing.T) {
	t.Parallel()
	server := postgrestest.ForTest(t)
	forgetsInFiles(t, server, server.Schema("eunoe"))
}

// forgetsInFiles looks for what is forgotten in the files of a server that has the store at a place.
func forgetsInFiles(t *testing.T, server *postgrestest.Server, place string) {
	t.Helper()
	p := dial(t, startLocal(t, map[string]string{"STORE": place}).URL)
	converse(p, "talk", 40)
	p.publish("mem.talk.message.s0", `{"id":"secret","speaker":"Alice","content":"Zyxqwertia keeps her brother Plumbojack in Fnordhaven."}`)
	p.publish("mem.talk.flush.s0", "")
	p.settle("talk")
	words := []string{"yxqwert", "lumbojack", "nordhaven"} // as written, and as the index has them
	holding := func() (files []string) {
		t.Helper()
		if err := server.Checkpoint(t.Context()); err != nil {
			t.Fatal(err)
		}
		err := filepath.WalkDir(filepath.Join(server.Dir(), "data", "base"), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil //nolint:nilerr // a file that was removed meanwhile holds nothing
			}
			content, err := os.ReadFile(path)
			for _, w := range words {
				if err == nil && bytes.Contains(content, []byte(w)) {
					files = append(files, filepath.Base(path)+" "+w)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	if err := server.Analyze(t.Context()); err != nil { // as the server does in its own time
		t.Fatal(err)
	}
	if len(holding()) < 6 {
		t.Fatalf("before the forget the words are in %q", holding())
	}
	p.mustAsk("mem.talk.forget", `{"id":"secret"}`)
	p.settle("talk")
	natstest.Eventually(t, "no table and no index holds the words", func() bool { return len(holding()) == 0 })
}
