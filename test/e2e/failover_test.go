package e2e_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres/postgrestest"
	"github.com/eunoe-memory/eunoe/test/programs"
)

// TestAFailoverToAStandbyThatLags kills a server and promotes a standby that lacks the last minutes of it.
func TestAFailoverToAStandbyThatLags(t *testing.T) {
	t.Parallel()
	primary := postgrestest.ForTest(t)
	standby := primary.StandbyForTest(t)
	fallsBack(t, postgrestest.Written("eunoe", primary, standby), func() {
		if _, err := standby.Part(t.Context()); err != nil {
			t.Fatal(err)
		}
	}, func() {
		if err := primary.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := standby.Promote(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

// TestAServerRestoredFromAnOldBackup kills a server and starts it with the files of a backup that is older than the log.
func TestAServerRestoredFromAnOldBackup(t *testing.T) {
	t.Parallel()
	server := postgrestest.ForTest(t)
	var backup *postgrestest.Server
	fallsBack(t, server.Schema("eunoe"), func() {
		var err error
		if backup, err = server.Backup(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = backup.Stop() }) // its files
	}, func() {
		if err := server.Restore(backup); err != nil {
			t.Fatal(err)
		}
	})
}

// fallsBack has a store fall back, while a bot talks in one bank and nobody in others, to what it was when saved was called.
// Nothing that was acknowledged is lost, and whoever waits for it sees it.
func fallsBack(t *testing.T, place string, save, fall func()) {
	t.Helper()
	data, url := t.TempDir(), startBroker(t)
	env := []string{"EUNOE_URL=" + url, "EUNOE_DATA=" + data, "EUNOE_LOG=error", "EUNOE_IDLE_AFTER=1m", "EUNOE_STORE=" + place}
	var stages []*programs.Process
	for _, name := range []string{"ingest", "extractor", "consolidator", "consolidator", "query", "query"} {
		stages = append(stages, programs.Start(t, env, name))
	}
	p := dial(t, url)
	waitAnswering(p)
	told := announced(p)
	said := talkAround(p, save)

	b := ask(t, url, "busy")
	b.await(4)
	fall()
	b.await(b.count() + 6)
	said.isThereAgain(p)
	b.end()
	p.publish("mem.busy.flush.chat", "")
	conserved(t, p.settle("busy"), b.count())
	natstest.Eventually(t, "every fact was announced", func() bool {
		for _, f := range append(append(said.facts["talk"], said.facts["late"]...), facts(p, "busy")...) {
			if id, _, _ := strings.Cut(f, " "); !told(id) {
				return false
			}
		}
		return true
	})
	stopAndRebuild(t, stages, url, data, place)
}

// editedThenForgotten says two things at once, edits what came of one, and then forgets the other: the log then holds what is
// left of both behind the edit.
func editedThenForgotten(p plain) {
	p.t.Helper()
	p.publish("mem.solo.message.s0", `{"id":"kept","speaker":"Alice","content":"My violin is in the attic."}`)
	p.publish("mem.solo.message.s0", `{"id":"gone","speaker":"Alice","content":"I was born in Valparaíso."}`)
	p.publish("mem.solo.flush.s0", "{}")
	p.settle("solo")
	var violin string
	for _, f := range facts(p, "solo") {
		if strings.Contains(f, "violin") {
			violin, _, _ = strings.Cut(f, " ")
		}
	}
	p.mustAsk("mem.solo.edit", fmt.Sprintf(`{"id":%q,"text":"Alice's violin is in the cellar.","wait":"60s"}`, violin))
	p.mustAsk("mem.solo.forget", `{"id":"gone","wait":"60s"}`)
	p.settle("solo")
	if left := fmt.Sprint(facts(p, "solo")); !strings.Contains(left, "cellar") || strings.Contains(left, "Valpara") {
		p.t.Errorf("after an edit and a forget: %s", left)
	}
}

// announced collects change events, and returns whether one has named a record.
func announced(p plain) func(record string) bool {
	p.t.Helper()
	var mu sync.Mutex
	var all strings.Builder
	if _, err := p.nc.Subscribe("mem.*.change.>", func(m *nats.Msg) {
		mu.Lock()
		defer mu.Unlock()
		all.Write(m.Data)
	}); err != nil {
		p.t.Fatal(err)
	}
	return func(record string) bool {
		mu.Lock()
		defer mu.Unlock()
		return strings.Contains(all.String(), `"`+record+`"`)
	}
}

// patiently repeats a request that is unavailable: a store is away.
func (p plain) patiently(subject, body string) (out object) {
	p.t.Helper()
	natstest.Eventually(p.t, subject+" is answered", func() bool {
		var code string
		if out, code = p.ask(subject, body); code != "" && code != "503" && code != "404" {
			p.t.Fatalf("%s %s: %s %v", subject, body, code, out)
		}
		return code == ""
	})
	return out
}

// asker says something and asks for it, until it is ended, also while the store is away.
type asker struct {
	stop chan struct{}
	done chan struct{}
	mu   sync.Mutex
	n    int
	t    *testing.T
}

func ask(t *testing.T, url, bank string) *asker {
	t.Helper()
	p := dial(t, url)
	a := &asker{stop: make(chan struct{}), done: make(chan struct{}), t: t}
	go func() {
		defer close(a.done)
		for i := 0; ; i++ {
			select {
			case <-a.stop:
				return
			default:
			}
			seq := p.publish("mem."+bank+".message.chat", fmt.Sprintf(`{"id":"c%d","speaker":"Ida","content":"La caisse numéro %d contient %s."}`, i, i, words[i%len(words)]))
			found := p.patiently("mem."+bank+".recall", fmt.Sprintf(`{"query":"Que contient la caisse numéro %d ?","after":%d,"wait":"60s"}`, i, seq))
			if seen, _ := found["seen"].(float64); found["fresh"] != true || uint64(seen) < seq || !strings.Contains(fmt.Sprint(found["items"]), fmt.Sprintf("numéro %d ", i)) {
				t.Errorf("message %d is not seen: %v", i, found)
				return
			}
			a.mu.Lock()
			a.n++
			a.mu.Unlock()
		}
	}()
	return a
}

// count returns how many messages were said and found.
func (a *asker) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.n
}

func (a *asker) await(n int) {
	a.t.Helper()
	natstest.Eventually(a.t, fmt.Sprintf("%d messages are found", n), func() bool { return a.count() >= n })
}

func (a *asker) end() {
	close(a.stop)
	select {
	case <-a.done:
	case <-time.After(natstest.Patience):
		a.t.Error("the last request does not end")
	}
}
