package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/internal/app/offline"
	"github.com/eunoe-memory/eunoe/internal/app/storage"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/rebuild"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/store"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres/postgrestest"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// movesOf returns what each of the stores notes of its move.
func movesOf(t *testing.T, dsn string, shards int) (out []store.Move) {
	t.Helper()
	for _, s := range events.Shards(shards) {
		out = append(out, moveOf(t, store.ShardDSN(dsn, s)))
	}
	return out
}

// nothingAt checks that a move left nothing behind where the stores were to be.
func nothingAt(t *testing.T, to string, shards int) {
	t.Helper()
	for _, s := range events.Shards(shards) {
		if there, err := storage.Exists(t.Context(), storage.Unfinished(store.ShardDSN(to, s))); there || err != nil {
			t.Errorf("shard %s left something unfinished: %t, %v", s, there, err)
		}
	}
}

func TestSeveralStoresAreMovedTogether(t *testing.T) {
	t.Parallel()
	one, other := postgrestest.ForTest(t), postgrestest.ForTest(t)
	const shards, secret = 4, "glockenspiel"
	c := apptest.Settings(t, map[string]string{"SHARDS": fmt.Sprint(shards)})
	to := one.Schema("moved") + " " + other.Schema("moved")
	var banks, before []string
	var k *talker
	session(t, c, func(p plain, l *local.Local) {
		banks = settledSailors(p)
		p.publish("mem.talk.message.s1", `{"id":"secret","speaker":"Alice","content":"My safe opens with the word `+secret+`."}`)
		p.publish("mem.talk.flush.s1", "")
		p.settle("talk")
		before = answersOf(p, banks)
		k = talk(t, l.URL, 100*time.Millisecond)
		var shown []rebuild.Progress
		s, err := offline.RebuildLive(t.Context(), l.Conn, wire.RebuildRequest{To: to}, func(r rebuild.Progress) {
			if shown = append(shown, r); len(shown) == 1 {
				p.mustAsk("mem.talk.forget", `{"id":"secret"}`)
			}
		})
		if err != nil || s.Store != to || s.Paused <= 0 || len(shown) == 0 {
			t.Fatalf("moved: %+v, %v, shown %v", s, err, shown)
		}
		for i, m := range movesOf(t, c.Store, shards) {
			if m != (store.Move{To: to, Step: store.MoveDone}) {
				t.Errorf("store %d notes %+v", i, m)
			}
		}
		if again, err := offline.RebuildLive(t.Context(), l.Conn, wire.RebuildRequest{To: to}, nil); err != nil || again.Store != to {
			t.Errorf("asked once more: %+v, %v", again, err)
		}
		p.publish("mem.talk.message.s9", `{"speaker":"Alice","content":"The anchor is rusty."}`) // nobody applies it
		p.publish("mem.talk.flush.s9", "")
		k.end()
	})
	if _, err := local.Start(t.Context(), c, os.Stderr); err == nil || !strings.Contains(err.Error(), "was moved to "+to+": set EUNOE_STORE to that") {
		t.Errorf("started with the old stores: %v", err)
	}
	old := c.Store
	c.Store = to
	session(t, c, func(p plain, l *local.Local) {
		p.settle("talk")
		heldOnce(t, p, k.said)
		if diff := cmp.Diff(before, answersOf(p, banks)); diff != "" {
			t.Errorf("answers (-before +after):\n%s", diff)
		}
		if r := p.mustAsk("mem.talk.recall", `{"query":"Is the anchor rusty?"}`); !strings.Contains(fmt.Sprint(r["items"]), "rusty") {
			t.Errorf("what was published between is not found: %v", r["items"])
		}
		waitErased(t, l, secret)
		if v := p.mustAsk("mem.admin.verify", `{"full":true}`); v["ok"] != true {
			t.Errorf("verify: %v", v)
		}
	})
	want := rowsOf(t, to, shards)
	if all := strings.Join(append(want, rowsOf(t, old, shards)...), "\n"); strings.Contains(all, secret) {
		t.Error("a store holds what was forgotten")
	}
	c.Store = filepath.Join(c.Data, "again.db")
	if err := offline.Rebuild(t.Context(), c, nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, rowsOf(t, c.Store, shards)); diff != "" {
		t.Errorf("the moved stores are not those of the log (-moved +rebuilt):\n%s", diff[max(0, len(diff)-4000):])
	}
}

func TestOneStoreThatCannotMoveKeepsTheOthers(t *testing.T) {
	t.Parallel()
	const shards = 4
	c := apptest.Settings(t, map[string]string{"SHARDS": fmt.Sprint(shards)})
	to := filepath.Join(c.Data, "moved.db")
	session(t, c, func(p plain, l *local.Local) {
		banks := settledSailors(p)
		taken := store.ShardDSN(to, events.Shards(shards)[3])
		apptest.Write(t, taken, "somebody's")
		_, err := offline.RebuildLive(t.Context(), l.Conn, wire.RebuildRequest{To: to}, nil)
		if err == nil || !strings.Contains(err.Error(), "there is something at "+taken) {
			t.Errorf("%v", err)
		}
		natstest.Eventually(t, "all of it is undone", func() bool {
			for _, m := range movesOf(t, c.Store, shards) {
				if m != (store.Move{}) {
					return false
				}
			}
			return true
		})
		nothingAt(t, to, shards)
		for _, b := range banks {
			p.publish("mem."+b+".message.again", `{"speaker":"Wilma","content":"The compass is broken."}`)
			p.publish("mem."+b+".flush.again", "")
			p.settle(b)
		}
		if err := os.Remove(taken); err != nil {
			t.Fatal(err)
		}

		// One of them is moved, as by a command whose other stores failed in the last moment.
		natstest.Eventually(t, "the store of shard 2 is moved alone", func() bool {
			s, ok := liveStatus(t, p, wire.RebuildRequest{Shard: 2, Start: true, Hold: true, To: to})
			if ok && s.Doing == "holding" {
				s, ok = liveStatus(t, p, wire.RebuildRequest{Shard: 2, Switch: s.ID})
			}
			return ok && s.ID != "" && s.Error == "" && !s.Running
		})
		for i, m := range movesOf(t, c.Store, shards) {
			if (m.Step == store.MoveDone) != (i == 2) {
				t.Errorf("store %d notes %+v", i, m)
			}
		}
		if _, err := offline.RebuildLive(t.Context(), l.Conn, wire.RebuildRequest{To: to}, nil); err != nil {
			t.Errorf("the same command again: %v", err)
		}
		for i, m := range movesOf(t, c.Store, shards) {
			if m.Step != store.MoveDone {
				t.Errorf("after it, store %d notes %+v", i, m)
			}
		}
	})
	want := rowsOf(t, to, shards)
	c.Store = filepath.Join(c.Data, "again.db")
	if err := offline.Rebuild(t.Context(), c, nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, rowsOf(t, c.Store, shards)); diff != "" {
		t.Errorf("the moved stores are not those of the log (-moved +rebuilt):\n%s", diff[max(0, len(diff)-4000):])
	}
}
