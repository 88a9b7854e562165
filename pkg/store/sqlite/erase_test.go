package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite"
)

// eventually waits for a state, for at most a minute: on a busy machine the file is rewritten after many seconds.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	end := time.NewTimer(time.Minute)
	defer end.Stop()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-end.C:
			t.Fatalf("still not so: %s", what)
		case <-tick.C:
		}
	}
}

// begin is the prefix of all words that are searched for in files; all have the same length.
const begin = "xanadu"

// filesHolding returns the files of a directory that contain one of the words, in any case.
func filesHolding(t *testing.T, dir string, words []string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, e := range entries {
		raw, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		raw = bytes.ToLower(raw)
		times := map[string]int{}
		for len(raw) > 0 { // one pass for all words: they begin alike
			i := bytes.Index(raw, []byte(begin))
			if i < 0 {
				break
			}
			raw = raw[i:]
			times[string(raw[:min(len(words[0]), len(raw))])]++
			raw = raw[len(begin):]
		}
		for _, w := range words {
			if n := times[w]; n > 0 {
				found = append(found, fmt.Sprintf("%s holds %s %d times", e.Name(), w, n))
			}
		}
	}
	return found
}

func TestForgottenWordsAreInNoFile(t *testing.T) {
	t.Parallel()
	const size, step, batch = 3000, 7, 50
	dir := t.TempDir()
	config := sqlite.DefaultConfig(filepath.Join(dir, "eunoe.db"))
	config.Checkpoint = 20 * time.Millisecond
	db, err := sqlite.Open(config)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	ctx := context.Background()
	secret := func(i int) string { return fmt.Sprintf(begin+"%04dq", i) }
	var words []string
	for from := 0; from < size; from += batch {
		var events []consolidate.MessageEvent
		var c memory.Changes
		for i := from; i < from+batch; i++ {
			seq, said := uint64(i+1), benchEpoch.Add(time.Duration(i)*time.Second)
			body := fmt.Sprintf("The password of locker %d at %s station is %s, keep it safe.", i, strings.Repeat("long ", i%60), secret(i))
			m := &memory.Message{Bank: "b", Session: "s", Seq: seq, ID: memory.SequenceID(seq), Role: memory.RoleUser, Speaker: "Ann", Content: body, Time: said}
			events = append(events, consolidate.MessageEvent{Seq: seq, Bank: "b", Session: "s", Stored: said, State: memory.StatePending, Message: m})
			id := memory.NewEntityID(memory.EntityOther, secret(i))
			c.Facts = append(c.Facts, memory.Fact{ID: memory.NewFactID("b", body, memory.KindWorld), Bank: "b", Text: body, Kind: memory.KindWorld, Type: memory.TypeFact,
				Entities: []memory.EntityID{id}, Said: said, Recorded: said, Valid: []memory.Interval{{From: said}}, Confidence: 1, Version: seq,
				Sources: []memory.Source{{Message: m.ID, Seq: seq, Said: said, Start: said}}, Metadata: map[string]any{"locker": secret(i)}})
			c.Entities = append(c.Entities, memory.Entity{ID: id, Type: memory.EntityOther, Name: strings.ToUpper(secret(i))})
		}
		apply(t, db, events, c)
	}
	var f memory.Forgotten
	for i := 0; i < size; i += step {
		f.Messages = append(f.Messages, uint64(i+1))
		body := fmt.Sprintf("The password of locker %d at %s station is %s, keep it safe.", i, strings.Repeat("long ", i%60), secret(i))
		f.Facts = append(f.Facts, memory.NewFactID("b", body, memory.KindWorld))
		words = append(words, strings.TrimSuffix(secret(i), "q")) // the beginning of a word tells enough
	}
	if len(filesHolding(t, dir, words)) == 0 {
		t.Fatal("the words are in no file before they are forgotten: the test sees nothing")
	}
	apply(t, db, nil, memory.Changes{Forgotten: &f})
	var left []string
	defer func() {
		if t.Failed() {
			t.Log(strings.Join(left[:min(len(left), 20)], "\n"))
		}
	}()
	eventually(t, "the forgotten words are in no file of the open store", func() bool {
		left = filesHolding(t, dir, words)
		return len(left) == 0
	})
	if err := db.Check(ctx); err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if left = filesHolding(t, dir, words); len(left) > 0 {
		t.Error("forgotten words are in a file of the closed store")
	}
	vocabulary(t, config.Path, words)
}

// vocabulary fails the test if a text index still contains one of the words.
func vocabulary(t *testing.T, path string, words []string) {
	t.Helper()
	raw, err := sql.Open("sqlite3", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = raw.Close() }()
	for _, table := range []string{"messages_terms", "facts_terms"} {
		var known int
		if err := raw.QueryRow("SELECT count(*) FROM " + table + " WHERE term >= 'xanadu' AND term < 'xanadv'").Scan(&known); err != nil {
			t.Fatal(err)
		}
		if known == 0 {
			t.Errorf("%s knows none of the words that stay", table)
		}
		for _, w := range words {
			var n int
			if err := raw.QueryRow("SELECT count(*) FROM "+table+" WHERE substr(term, 1, ?) = ?", len(w), w).Scan(&n); err != nil || n != 0 {
				t.Errorf("%s still knows %s: %v", table, w, err)
			}
		}
	}
}

// apply applies events and then changes, each at the position of the store.
func apply(t *testing.T, db *sqlite.DB, events []consolidate.MessageEvent, c memory.Changes) {
	t.Helper()
	ctx := context.Background()
	messages, writes, err := db.Applied(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.ApplyMessages(ctx, messages, messages+uint64(len(events)), events); err != nil {
		t.Fatal(err)
	}
	w := memory.Write{Bank: "b", Kind: memory.WriteWindow, Seq: writes + 1, Op: fmt.Sprintf("op-%d", writes+1), Time: benchEpoch}
	err = db.ApplyWrites(ctx, writes, writes+1, []memory.Write{w}, func(plan.View, memory.Write) (memory.Changes, error) { return c, nil })
	if err != nil {
		t.Fatal(err)
	}
}
