package e2e_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/pkg/store"
	"github.com/eunoe-memory/eunoe/test/programs"
)

// TestAFileThatAPowerCutTookBack kills the consolidators and queries, whose file is then what it was some commits before.
func TestAFileThatAPowerCutTookBack(t *testing.T) {
	t.Parallel()
	data, url := t.TempDir(), startBroker(t)
	place, before := filepath.Join(data, "memory.db"), filepath.Join(data, "before.db")
	env := []string{"EUNOE_URL=" + url, "EUNOE_DATA=" + data, "EUNOE_LOG=error", "EUNOE_IDLE_AFTER=1m", "EUNOE_STORE=" + place}
	away := []*programs.Process{programs.Start(t, env, "ingest"), programs.Start(t, env, "extractor")}
	host := []string{"consolidator", "consolidator", "query", "query"}
	var stages []*programs.Process
	start := func() {
		stages = nil
		for _, name := range host {
			stages = append(stages, programs.Start(t, env, name))
		}
	}
	start()
	p := dial(t, url)
	waitAnswering(p)
	said := talkAround(p, func() {
		if err := store.Copy(t.Context(), place, before); err != nil {
			t.Fatal(err)
		}
	})
	for _, s := range stages {
		s.Kill(t)
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Remove(place + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	if err := os.Rename(before, place); err != nil {
		t.Fatal(err)
	}
	start()
	waitAnswering(p)
	said.isThereAgain(p)
	stopAndRebuild(t, append(away, stages...), url, data, place)
}

// stopAndRebuild stops all stages and checks that the store is the one that the log makes.
func stopAndRebuild(t *testing.T, stages []*programs.Process, url, data, place string) {
	t.Helper()
	for _, s := range stages {
		s.Stop(t)
	}
	set, _, err := settings.Load(nil, map[string]string{"URL": url, "DATA": data, "STORE": place, "LOG": "error"})
	if err != nil {
		t.Fatal(err)
	}
	asOffline(t, set)
}

// saidBefore is what three banks hold, with a write of one and a message of another.
type saidBefore struct {
	written, seq uint64
	facts        map[string][]string
}

// talkAround says something, calls save, and then writes, edits, forgets and says more.
func talkAround(p plain, save func()) saidBefore {
	p.t.Helper()
	converse(p, "talk", 40)
	p.settle("talk")
	save()
	written := p.mustAsk("mem.talk.retain", `{"facts":[{"text":"Ben's locker is number 4711."}],"wait":"60s"}`)["write"].(float64)
	editedThenForgotten(p)
	converse(p, "late", 40)
	out := saidBefore{written: uint64(written), facts: map[string][]string{}}
	out.seq = p.publish("mem.late.message.s0", `{"id":"last","speaker":"Carla","content":"Mein Boot heißt Seeadler."}`)
	p.publish("mem.late.flush.s0", "{}")
	for _, bank := range []string{"talk", "late", "solo"} {
		p.settle(bank)
		out.facts[bank] = facts(p, bank)
	}
	return out
}

// isThereAgain checks that a store that fell back gets what it lost, although nobody says anything in the banks. One process
// may wait for the other, so each is asked twice.
func (said saidBefore) isThereAgain(p plain) {
	p.t.Helper()
	for range 4 {
		found := p.patiently("mem.talk.recall", fmt.Sprintf(`{"query":"What number is Ben's locker?","after_write":%d,"wait":"60s"}`, said.written))
		if found["fresh"] != true || !strings.Contains(fmt.Sprint(found["items"]), "4711") {
			p.t.Errorf("a write from before is not seen: %v", found)
		}
		found = p.patiently("mem.late.recall", fmt.Sprintf(`{"query":"Wie heißt das Boot?","after":%d,"wait":"60s"}`, said.seq))
		if found["fresh"] != true || !strings.Contains(fmt.Sprint(found["items"]), "Seeadler") {
			p.t.Errorf("a message from before is not seen: %v", found)
		}
	}
	for bank, want := range said.facts {
		p.settle(bank)
		if diff := cmp.Diff(want, facts(p, bank)); diff != "" {
			p.t.Errorf("facts of %s (-before +after):\n%s", bank, diff)
		}
	}
}
