package e2e_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/app/consolidator"
	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/internal/app/offline"
	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/wire"
	"github.com/eunoe-memory/eunoe/test/programs"
)

// live runs `eunoe rebuild --live` against a broker and returns what it printed.
func live(t *testing.T, url string) (string, error) {
	t.Helper()
	return runProgram(t, nil, "eunoe", "rebuild", "--live", "--url", url)
}

// liveStatus asks the active consolidator about its rebuild; ok is false while there is none.
func liveStatus(t *testing.T, p plain, r wire.RebuildRequest) (s wire.RebuildStatus, ok bool) {
	t.Helper()
	body, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.nc.Request(consolidator.RebuildSubject(events.Naming{}), body, 2*time.Second)
	if err != nil {
		return s, false
	}
	if err := json.Unmarshal(m.Data, &s); err != nil {
		t.Fatal(err)
	}
	return s, true
}

// startLive begins a rebuild.
func startLive(t *testing.T, p plain) (s wire.RebuildStatus) {
	t.Helper()
	natstest.Eventually(t, "a rebuild begins", func() (ok bool) {
		s, ok = liveStatus(t, p, wire.RebuildRequest{Start: true})
		return ok && s.Running
	})
	return s
}

// awaitLive waits until a rebuild has ended well.
func awaitLive(t *testing.T, p plain) {
	t.Helper()
	natstest.Eventually(t, "the rebuild ends", func() bool {
		s, ok := liveStatus(t, p, wire.RebuildRequest{})
		if ok && s.Error != "" {
			t.Fatal(s.Error)
		}
		return ok && !s.Running
	})
}

// asOffline checks that a stopped store is the one that an offline rebuild makes, and that nothing else is left.
func asOffline(t *testing.T, c settings.Config) {
	t.Helper()
	if left, err := filepath.Glob(c.Store + ".rebuild*"); err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
	before := dump(t, c.Store)
	if err := offline.Rebuild(t.Context(), c, nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(lines(before), lines(dump(t, c.Store))); diff != "" {
		t.Errorf("the switched store differs from one that is rebuilt offline (-live +offline):\n%s", diff[max(0, len(diff)-6000):])
	}
}

func TestALiveRebuildWhileEverythingRuns(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	s := runStages(t, b.url)
	data := strings.TrimPrefix(s.env[1], "EUNOE_DATA=")
	p := dial(t, b.url)
	waitAnswering(p)
	history(p)
	changes, err := p.nc.SubscribeSync("mem.busy.change.>")
	if err != nil {
		t.Fatal(err)
	}
	first, err := os.Stat(filepath.Join(data, "eunoe.db"))
	if err != nil {
		t.Fatal(err)
	}
	c := chat(t, b.url, "busy", true)
	for range 3 {
		if out, err := live(t, b.url); err != nil || !strings.Contains(out, "rebuilt ") {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if n := c.end(); n < 5 {
		t.Errorf("only %d recalls meanwhile", n)
	}
	now, err := os.Stat(filepath.Join(data, "eunoe.db"))
	if err != nil || os.SameFile(first, now) {
		t.Errorf("the file is the same: %v", err)
	}
	p.publish("mem.busy.flush.chat", "")
	p.settle("busy")
	s.allReady(t)
	told := map[string]bool{} // every message has its change
	natstest.Eventually(t, "all changes are announced", func() bool {
		for {
			m, err := changes.NextMsg(50 * time.Millisecond)
			if err != nil {
				return len(told) >= c.said
			}
			var change struct{ What, Record string }
			if json.Unmarshal(m.Data, &change) == nil && change.What == "message" {
				told[change.Record] = true
			}
		}
	})
	if v := p.mustAsk("mem.admin.verify", `{"full":true}`); v["ok"] != true {
		t.Errorf("verify: %v", v)
	}
	for name := range s.run {
		s.run[name].Stop(t)
	}
	set, _, err := settings.Load(nil, map[string]string{"URL": b.url, "DATA": data, "LOG": "error"})
	if err != nil {
		t.Fatal(err)
	}
	asOffline(t, set)
}

func TestALiveRebuildForgetsWhatIsForgottenMeanwhile(t *testing.T) {
	t.Parallel()
	c := apptest.Settings(t, nil)
	session(t, c, func(p plain, l *local.Local) {
		history(p)
		within, secret := 0, ""
		for i := 0; within == 0; i++ {
			if i == 50 {
				t.Fatal("no forget came within a rebuild")
			}
			secret = fmt.Sprintf("xylophonist%d", i)
			p.publish("mem.talk.message.secret", fmt.Sprintf(`{"id":"secret%d","speaker":"Alice","content":"My safe opens with the word %s."}`, i, secret))
			p.publish("mem.talk.flush.secret", "")
			p.settle("talk")
			s := startLive(t, p)
			p.mustAsk("mem.talk.forget", fmt.Sprintf(`{"id":"secret%d"}`, i))
			if now, ok := liveStatus(t, p, wire.RebuildRequest{}); ok && now.ID == s.ID && now.Running {
				within++
				if !held(t, l, secret) {
					t.Error("the log was erased from beneath the second store")
				}
			}
			awaitLive(t, p)
			waitErased(t, l, secret)
			if r := p.mustAsk("mem.talk.recall", `{"query":"Which word opens the safe?"}`); strings.Contains(fmt.Sprint(r["items"]), secret) {
				t.Errorf("recalled after a forget: %v", r["items"])
			}
		}
		waitApplied(t, l, c.Store) // also the receipt that takes the place of the last forget
	})
	if natstest.OnDisk(t, c.Data, "xylophonist") {
		t.Error("a file holds what was forgotten")
	}
	asOffline(t, c)
}

func TestALiveRebuildThatIsKilled(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	s := runStages(t, b.url)
	data := strings.TrimPrefix(s.env[1], "EUNOE_DATA=")
	p := dial(t, b.url)
	waitAnswering(p)
	converse(p, "talk", 60)
	p.settle("talk")
	c := chat(t, b.url, "busy", false)
	killed := map[string]bool{}
	for i, k := range []struct{ name, doing string }{
		{"consolidator", "following the log"}, {"consolidator", "checking"}, {"query", "switching"}, {"consolidator", "switching"}, {"consolidator", "switching"},
	} {
		if k.name == "query" { // nobody answers meanwhile
			c.end()
		}
		for s := startLive(t, p); s.Running && s.Doing != k.doing; {
			s, _ = liveStatus(t, p, wire.RebuildRequest{})
			killed[k.doing] = killed[k.doing] || s.Doing == k.doing
		}
		s.run[k.name].Kill(t)
		s.start(t, k.name)
		if k.name == "query" {
			waitAnswering(p)
			c = chat(t, b.url, fmt.Sprintf("busy%d", i), false)
		}
	}
	t.Log("killed while it was", killed)
	dir, err := programs.Dir()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "eunoe"), "rebuild", "--live", "--url", b.url)
	if err := errors.Join(cmd.Start(), cmd.Process.Kill()); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it says that it was killed
	natstest.Eventually(t, "a rebuild succeeds after all", func() bool {
		out, err := live(t, b.url)
		return err == nil && strings.Contains(out, "rebuilt ")
	})
	if n := c.end(); n < 1 {
		t.Error("nothing was recalled")
	}
	for _, bank := range []string{"talk", "busy", "busy2"} {
		p.publish("mem."+bank+".flush.chat", "")
		p.settle(bank)
	}
	s.allReady(t)
	for name := range s.run {
		s.run[name].Stop(t)
	}
	set, _, err := settings.Load(nil, map[string]string{"URL": b.url, "DATA": data, "LOG": "error"})
	if err != nil {
		t.Fatal(err)
	}
	asOffline(t, set)
}

// held reports whether a stream holds a word.
func held(t *testing.T, l *local.Local, word string) bool {
	t.Helper()
	found := false
	for _, stream := range []string{l.Conn.Naming.Messages(), l.Conn.Naming.Writes()} {
		_, err := ordered.Scan(t.Context(), l.Conn, stream, nil, 0, func(e events.Event) error {
			found = found || bytes.Contains(e.Data, []byte(word))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}
