package postgres_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/consolidatetest"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
	"github.com/eunoe-memory/eunoe/pkg/store"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// TestARecallAnswersAsOnSQLite asks the same of both engines. On PostgreSQL the steps of a recall read together, on SQLite
// one after the other and by two connections.
func TestARecallAnswersAsOnSQLite(t *testing.T) {
	t.Parallel()
	model := consolidatetest.NewEmbedder("test:model")
	one, two := sqlite.DefaultConfig(filepath.Join(t.TempDir(), "eunoe.db")), sqlite.DefaultConfig(filepath.Join(t.TempDir(), "eunoe.db"))
	one.SecondReaders, two.SecondReaders = 0, 1
	server := postgres.DefaultConfig(newSchema(t))
	one.SketchFrom, two.SketchFrom, server.SketchFrom = 30, 30, 30
	stores := map[string]store.Store{"PostgreSQL": open(t, server)}
	for name, c := range map[string]sqlite.Config{"one connection": one, "two connections": two} {
		db, err := sqlite.Open(c)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
		stores[name] = db
	}
	engines := map[string]*recall.Engine{}
	planner := plan.NewPlanner(plan.DefaultConfig())
	for name, db := range stores {
		for n := 1; n <= 40; n++ {
			event, w := windowOf(t, model, n)
			if n%7 == 0 { // what an earlier one said has ended, and others are of another type
				w.Facts[0].State = &memory.State{Subject: w.Facts[0].Entities[0], Attribute: "hobby", Value: things[n%9]}
				w.Facts[1].Type = memory.TypePreference
			}
			err := db.ApplyMessages(t.Context(), w.Seq-1, w.Seq, []consolidate.MessageEvent{event})
			if err == nil {
				err = db.ApplyWrites(t.Context(), w.Seq-1, w.Seq, []memory.Write{w}, planner.Plan)
			}
			if err != nil {
				t.Fatal(name, err)
			}
		}
		e, err := recall.New(recall.DefaultConfig(), recall.Deps{Store: db, Embedder: model, Now: func() time.Time { return said.Add(24 * time.Hour) }})
		if err != nil {
			t.Fatal(err)
		}
		engines[name] = e
	}
	dumps := map[string]string{}
	for name, db := range stores {
		var dump bytes.Buffer
		if err := db.Dump(t.Context(), &dump); err != nil {
			t.Fatal(name, err)
		}
		dumps[name] = dump.String()
	}
	for name, dump := range dumps {
		if diff := cmp.Diff(dumps["PostgreSQL"], dump); diff != "" {
			t.Fatalf("what is stored with %s differs from that on PostgreSQL:\n%s", name, diff)
		}
	}
	middle, end := said.Add(20*time.Minute), said.Add(30*time.Minute)
	filters := []memory.Filter{{}, {Session: "s"}, {Session: "elsewhere"}, {From: &middle, To: &end}, {AsOf: &middle}, {Speakers: []string{"ann"}},
		{Types: []memory.Type{memory.TypePreference}}, {Entities: []string{"concept:bees"}}}
	queries := []string{"What hobby does Ann have?", "Since when does Ann like old clocks?", "bees maps violin", "What did Ann like at 12:20?", "Tell me about Ann", "?"}
	found := 0
	for _, f := range filters {
		for _, query := range queries {
			replies := map[string]wire.RecallReply{}
			for name, e := range engines {
				reply, err := e.Recall(t.Context(), "b", wire.RecallRequest{Query: query, Filter: f, Sources: new(true)})
				if err != nil {
					t.Fatalf("%s: %q: %v", name, query, err)
				}
				if reply.Recall, reply.Took = "", 0; len(reply.Items) > 0 {
					found++
				}
				replies[name] = reply
			}
			for name, reply := range replies {
				if diff := cmp.Diff(replies["PostgreSQL"], reply); diff != "" {
					t.Errorf("%q of %s differs from that of PostgreSQL:\n%s", query, fmt.Sprintf("%s, %+v", name, f), diff)
				}
			}
		}
	}
	if asked := len(filters) * len(queries) * len(engines); found < asked/2 {
		t.Errorf("%d of %d recalls find something", found, asked)
	}
}
