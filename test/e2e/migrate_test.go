package e2e_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/internal/app/offline"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres/postgrestest"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// moveOf returns what a store notes of its move.
func moveOf(t *testing.T, dsn string) store.Move {
	t.Helper()
	st, err := store.Open(store.Config{DSN: dsn, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	m, err := st.Move(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// talker publishes to the bank "busy" until it is stopped, and recalls what it published, without waiting for it.
type talker struct {
	stop    chan struct{}
	running sync.WaitGroup
	said    int
}

// slowAfter is after how many messages a talker slows down tenfold: a consolidator on a busy machine must be able to follow.
const slowAfter = 30

// talk starts a talker, which publishes a message every so often.
func talk(t *testing.T, url string, every time.Duration) *talker {
	t.Helper()
	p := dial(t, url)
	k := &talker{stop: make(chan struct{})}
	k.running.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		seen := 0.
		for ; ; k.said++ {
			if k.said == slowAfter {
				tick.Reset(10 * every)
			}
			select {
			case <-tick.C:
			case <-k.stop:
				return
			}
			seq := p.publish("mem.busy.message.chat", fmt.Sprintf(`{"id":"c%d","speaker":"Ida","content":"Crate number %d is in Hall %d."}`, k.said, k.said, k.said))
			r, code := p.ask("mem.busy.recall", fmt.Sprintf(`{"query":"Where is crate number %d?","after":%d,"deadline":"50ms"}`, k.said, seq))
			if at, _ := r["seen"].(float64); code == "" && at >= seen {
				seen = at
				continue
			}
			t.Errorf("a recall after one that saw %v: %s %v", seen, code, r)
			return
		}
	})
	return k
}

// end stops the talker and returns how many messages it has published.
func (k *talker) end() int {
	close(k.stop)
	k.running.Wait()
	return k.said
}

// heldOnce checks that every message of a talker became one fact, with its source.
func heldOnce(t *testing.T, p plain, said int) {
	t.Helper()
	p.publish("mem.busy.flush.chat", "")
	p.settle("busy")
	all := strings.Join(facts(p, "busy"), "\n")
	for i := range said {
		if n := strings.Count(all, fmt.Sprintf("rate number %d is in Hall %d", i, i)); n != 1 {
			t.Errorf("message %d of %d became %d facts", i, said, n)
		}
	}
	if t.Failed() {
		t.Log(all)
	}
}

// moveTo has the store moved while the talker talks and a message is forgotten, and reports whether the forget came while
// the new store was being filled.
func moveTo(t *testing.T, p plain, l *local.Local, to, forget string) (within bool) {
	t.Helper()
	var s wire.RebuildStatus
	natstest.Eventually(t, "a move begins", func() (ok bool) {
		s, ok = liveStatus(t, p, wire.RebuildRequest{Start: true, To: to})
		return ok && s.ID != ""
	})
	p.mustAsk("mem.talk.forget", `{"id":"`+forget+`"}`)
	if now, ok := liveStatus(t, p, wire.RebuildRequest{}); ok && now.ID == s.ID && now.Doing == "following the log" {
		within = true
	}
	awaitLive(t, p)
	again, err := offline.RebuildLive(t.Context(), l.Conn, wire.RebuildRequest{To: to}, nil)
	if err != nil || again.ID != s.ID {
		t.Errorf("asked once more, it says %+v, %v", again, err)
	}
	if _, err := offline.RebuildLive(t.Context(), l.Conn, wire.RebuildRequest{}, nil); err == nil || !strings.Contains(err.Error(), "was moved to") {
		t.Errorf("a moved store is rebuilt: %v", err)
	}
	return within
}

func TestAStoreIsMovedWhileEverythingRuns(t *testing.T) {
	t.Parallel()
	server := postgrestest.ForTest(t)
	const secret = "xylophonist"
	within := 0
	for _, d := range []struct{ name, from, to string }{
		{"from a file to a server", "", server.Schema("first")},
		{"from a server to a file", server.Schema("second"), "moved.db"},
		{"from a file to a file", "", "moved.db"},
	} {
		c := apptest.Settings(t, map[string]string{"STORE": d.from})
		if !strings.Contains(d.to, ":") {
			d.to = filepath.Join(c.Data, d.to)
		}
		var k *talker
		session(t, c, func(p plain, l *local.Local) {
			converse(p, "talk", 36)
			p.publish("mem.talk.message.secret", `{"id":"secret","speaker":"Alice","content":"My safe opens with the word `+secret+`."}`)
			p.publish("mem.talk.flush.secret", "")
			p.settle("talk")
			k = talk(t, l.URL, 100*time.Millisecond)
			if moveTo(t, p, l, d.to, "secret") {
				within++
			}
			if m := moveOf(t, c.Store); m != (store.Move{To: d.to, Step: store.MoveDone}) {
				t.Errorf("%s: the old store notes %+v", d.name, m)
			}
			p.publish("mem.talk.message.s9", `{"speaker":"Alice","content":"The anchor is rusty."}`) // nobody applies it
			p.publish("mem.talk.flush.s9", "")
			k.end()
		})
		ctx := t.Context()
		if _, err := local.Start(ctx, c, os.Stderr); err == nil || !strings.Contains(err.Error(), "was moved to "+d.to+": set EUNOE_STORE to that") {
			t.Errorf("%s: started with the old store: %v", d.name, err)
		}
		after := c
		after.Store = d.to
		session(t, after, func(p plain, l *local.Local) {
			p.settle("talk")
			heldOnce(t, p, k.said)
			if r := p.mustAsk("mem.talk.recall", `{"query":"Is the anchor rusty?"}`); !strings.Contains(fmt.Sprint(r["items"]), "rusty") {
				t.Errorf("%s: what was published between is not found: %v", d.name, r["items"])
			}
			waitErased(t, l, secret)
			if v := p.mustAsk("mem.admin.verify", `{"full":true}`); v["ok"] != true {
				t.Errorf("%s: verify: %v", d.name, v)
			}
		})
		for _, dsn := range []string{c.Store, d.to} {
			if strings.Contains(dump(t, dsn), secret) {
				t.Errorf("%s: the store %s holds what was forgotten", d.name, dsn)
			}
		}
		if natstest.OnDisk(t, c.Data, secret) {
			t.Errorf("%s: a file holds what was forgotten", d.name)
		}
		asOffline(t, after)
	}
	if within == 0 {
		t.Error("no forget came while a store was being filled")
	}
}

func TestAMoveThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	c := apptest.Settings(t, nil)
	session(t, c, func(p plain, l *local.Local) {
		converse(p, "talk", 6)
		p.settle("talk")
		taken, left := filepath.Join(c.Data, "taken.db"), filepath.Join(c.Data, "left.db")
		for _, path := range []string{taken, left + ".rebuild"} {
			apptest.Write(t, path, "somebody's")
		}
		if err := os.Link(c.Store, filepath.Join(c.Data, "other-name.db")); err != nil {
			t.Fatal(err)
		}
		for to, says := range map[string]string{
			c.Store:                                  "is the store that is in use",
			filepath.Join(c.Data, "other-name.db"):   "is the store that is in use",
			taken:                                    "there is something at " + taken,
			left:                                     "there is something at " + left + ".rebuild",
			c.Store + ".rebuild":                     "would be taken for what a killed rebuild left",
			"moved.db":                               "neither an absolute path nor the address",
			filepath.Join(c.Data, "no", "moved.db"):  "is no directory on the host of the consolidator",
			"postgres://eunoe:pw@db/eunoe":           "the address has a password",
			"postgres://eunoe@/eunoe?host=" + c.Data: "failed to connect",
		} {
			_, err := offline.RebuildLive(t.Context(), l.Conn, wire.RebuildRequest{To: to}, nil)
			if err == nil || !strings.Contains(err.Error(), says) || memory.Code(err) == memory.Code(nil) {
				t.Errorf("to %s: %v", to, err)
			}
		}
		if m := moveOf(t, c.Store); m != (store.Move{}) {
			t.Errorf("the store notes %+v", m)
		}
		p.publish("mem.talk.message.s9", `{"speaker":"Alice","content":"The anchor is rusty."}`)
		p.publish("mem.talk.flush.s9", "")
		p.settle("talk")
	})
	if !strings.Contains(dump(t, c.Store), "rusty") {
		t.Error("the store did not go on")
	}
}

func TestAServerThatFailsDuringAMoveStopsNobody(t *testing.T) {
	t.Parallel()
	server, err := postgrestest.Start()
	if errors.Is(err, postgrestest.ErrAbsent) {
		t.Skip("NOT TESTED:", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	stop := sync.OnceValue(server.Stop)
	t.Cleanup(func() { _ = stop() })
	c := apptest.Settings(t, nil)
	remember := func(p plain, text string) {
		p.publish("mem.talk.message.s9", `{"speaker":"Alice","content":"`+text+`"}`)
		p.publish("mem.talk.flush.s9", "")
		p.settle("talk")
	}
	session(t, c, func(p plain, _ *local.Local) {
		converse(p, "talk", 36)
		p.settle("talk")
		natstest.Eventually(t, "a move begins", func() bool {
			s, ok := liveStatus(t, p, wire.RebuildRequest{Start: true, To: server.Schema("eunoe")})
			return ok && s.ID != ""
		})
		natstest.Eventually(t, "the new store is being filled", func() bool {
			s, _ := liveStatus(t, p, wire.RebuildRequest{})
			return s.Progress.LastWrite > 0
		})
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		natstest.Eventually(t, "the move ends with an error", func() bool {
			s, _ := liveStatus(t, p, wire.RebuildRequest{})
			return !s.Running && strings.Contains(s.Error, "the old store stays as it was")
		})
		remember(p, "The anchor is rusty.")
	})
	if m := moveOf(t, c.Store); m.Step != store.MoveFilling {
		t.Errorf("while nothing can be removed there, the store notes %+v", m)
	}
	to := filepath.Join(c.Data, "moved.db")
	session(t, c, func(p plain, l *local.Local) {
		remember(p, "The sail is torn.")
		if _, err := offline.RebuildLive(t.Context(), l.Conn, wire.RebuildRequest{To: to}, nil); err != nil {
			t.Errorf("to another place: %v", err)
		}
	})
	c.Store = to
	asOffline(t, c)
}
