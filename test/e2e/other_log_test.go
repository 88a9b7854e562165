package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/internal/app/offline"
	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// session runs a pipeline on a data directory until f returns.
func session(t *testing.T, c settings.Config, f func(p plain, l *local.Local)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	l, err := local.Start(ctx, c, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	p := dial(t, l.URL)
	f(p, l)
	p.nc.Close()
	if err := l.Close(ctx); err != nil {
		t.Fatal(err)
	}
}

// notItsLog checks that nothing is consolidated, that requests say so, and that readiness names a stream.
func notItsLog(t *testing.T, p plain, http, bank, stream string) {
	t.Helper()
	natstest.Eventually(t, "readiness names "+stream, func() bool {
		status, says := readiness(t, http)
		return status == 503 && strings.Contains(says, "log: stream "+stream) && strings.Contains(says, "rebuild --smaller")
	})
	for _, r := range []struct{ name, body string }{{"status", ""}, {"retain", `{"facts":[{"text":"Ida keeps a parrot."}]}`}} {
		if out, code := p.ask("mem."+bank+"."+r.name, r.body); code != "503" || !strings.Contains(fmt.Sprint(out), "the log is not the one") {
			t.Errorf("%s: %s %v", r.name, code, out)
		}
	}
	after := p.publish("mem."+bank+".message.new", `{"speaker":"Ida","content":"I bought a harpsichord."}`)
	p.publish("mem."+bank+".flush.new", "")
	r := p.mustAsk("mem."+bank+".recall", fmt.Sprintf(`{"query":"harpsichord","after":%d}`, after))
	if r["fresh"] != false || len(list(r["degraded"])) == 0 {
		t.Errorf("a recall is fresh: %v", r)
	}
}

func readiness(t *testing.T, address string) (int, string) {
	t.Helper()
	return apptest.Get(t, "http://"+address+"/readyz")
}

// stopsAtOtherLog checks that a pipeline on a data directory applies nothing, that its rebuild is refused, and that one
// which is told to makes the store that the log describes.
func stopsAtOtherLog(t *testing.T, c settings.Config, stream string, more int) {
	t.Helper()
	before := dump(t, c.Store)
	session(t, c, func(p plain, l *local.Local) {
		notItsLog(t, p, l.HTTP, "talk", stream)
		for i := range more { // past the position of the store
			p.publish("mem.talk.message.later", fmt.Sprintf(`{"speaker":"Ida","content":"Number %d is on the list."}`, i))
		}
		notItsLog(t, p, l.HTTP, "talk", stream)
	})
	if dump(t, c.Store) != before {
		t.Error("something was applied")
	}
	session(t, c, func(p plain, l *local.Local) { notItsLog(t, p, l.HTTP, "talk", stream) })
	if err := offline.Rebuild(t.Context(), c, nil); !errors.Is(err, memory.ErrConflict) || !strings.Contains(err.Error(), "--smaller") {
		t.Errorf("a rebuild gave %v", err)
	}
	if dump(t, c.Store) != before {
		t.Error("the refused rebuild changed the store")
	}
	if err := offline.Rebuild(t.Context(), c, nil, offline.Smaller); err != nil {
		t.Fatal(err)
	}
	session(t, c, func(p plain, l *local.Local) {
		p.publish("mem.talk.flush.later", "")
		p.publish("mem.talk.flush.new", "")
		p.settle("talk")
		if status, says := readiness(t, l.HTTP); status != http.StatusOK {
			t.Errorf("after the rebuild: %d %s", status, says)
		}
	})
}

func TestStreamsThatAreRolledBackStopConsolidation(t *testing.T) {
	t.Parallel()
	c := apptest.Settings(t, nil)
	streams, backup := filepath.Join(c.Data, "streams"), filepath.Join(t.TempDir(), "backup")
	session(t, c, func(p plain, _ *local.Local) {
		converse(p, "talk", 20)
		p.settle("talk")
	})
	if err := os.CopyFS(backup, os.DirFS(streams)); err != nil {
		t.Fatal(err)
	}
	session(t, c, func(p plain, _ *local.Local) {
		converse(p, "more", 30)
		p.settle("more")
	})
	if err := errors.Join(os.RemoveAll(streams), os.Rename(backup, streams)); err != nil {
		t.Fatal(err)
	}
	stopsAtOtherLog(t, c, "MEM_MESSAGES", 60)
}

func TestAStreamThatIsCutStopsConsolidation(t *testing.T) {
	t.Parallel()
	c := apptest.Settings(t, nil)
	session(t, c, func(p plain, _ *local.Local) {
		converse(p, "talk", 40)
		p.settle("talk")
	})
	found, err := filepath.Glob(filepath.Join(c.Data, "streams", "jetstream", "*", "streams", "MEM_MESSAGES", "msgs", "*.blk"))
	if err != nil || len(found) != 1 {
		t.Fatalf("blocks %v, %v", found, err)
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		data[len(data)/2+i] ^= 0x5a
	}
	apptest.Write(t, found[0], string(data))
	// What the server keeps to start sooner: it is not there after a crash.
	if err := os.Remove(filepath.Join(filepath.Dir(found[0]), "index.db")); err != nil {
		t.Fatal(err)
	}
	stopsAtOtherLog(t, c, "MEM_MESSAGES", 50)
}

// A crash tears the last event off, which is a flush, and new events take its place.
func TestAStreamThatLostItsLastFlushStopsConsolidation(t *testing.T) {
	t.Parallel()
	c := apptest.Settings(t, nil)
	session(t, c, func(p plain, _ *local.Local) {
		converse(p, "talk", 6)
		p.settle("talk")
	})
	found, err := filepath.Glob(filepath.Join(c.Data, "streams", "jetstream", "*", "streams", "MEM_MESSAGES", "msgs", "*.blk"))
	if err != nil || len(found) != 1 {
		t.Fatalf("blocks %v, %v", found, err)
	}
	info, err := os.Stat(found[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Truncate(found[0], info.Size()-7), os.Remove(filepath.Join(filepath.Dir(found[0]), "index.db"))); err != nil {
		t.Fatal(err)
	}
	stopsAtOtherLog(t, c, "MEM_MESSAGES", 10)
}

func TestAnotherBrokerStopsConsolidation(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	s := runStages(t, b.url)
	p := dial(t, b.url)
	waitAnswering(p)
	converse(p, "talk", 8)
	p.settle("talk")
	s.allReady(t)
	b.Stop(t)
	b.dir = t.TempDir()
	b.start()
	for name := range s.run { // stages that run refuse to make the lost streams; new ones make them
		s.run[name].Kill(t)
		s.start(t, name)
	}
	natstest.Eventually(t, "the client is connected again", p.nc.IsConnected)
	waitAnswering(p)
	natstest.Eventually(t, "the streams are made", func() bool {
		m, err := p.nc.Request("mem.talk.message.s", []byte(`{"content":"I sail."}`), time.Second)
		return err == nil && strings.Contains(string(m.Data), `"seq"`)
	})
	converse(p, "talk", 20)
	for _, name := range []string{"query", "consolidator"} {
		notItsLog(t, p, s.http[name], "talk", "MEM_MESSAGES")
	}
	// A consolidator takes the lease for the moment in which it compares the log with the store.
	natstest.Eventually(t, "doctor tells of the log and that nobody consolidates", func() bool {
		told := doctor(t, b.url)
		return strings.Contains(told, "the log is not the one") && strings.Contains(told, "nobody consolidates")
	})
}
