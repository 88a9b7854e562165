package query_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/hashed"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

const alice memory.BankID = "alice"

var noon = time.Date(2026, 5, 20, 12, 0, 0, 0, time.UTC)

// fixture is a store that a test fills and a service that reads from it.
type fixture struct {
	t       testing.TB
	path    string // of the store
	db      *sqlite.DB
	service *query.Service
	seq     uint64 // last message
	write   uint64 // last write
	seqs    map[string]uint64
}

func newFixture(t testing.TB) *fixture { return newFixtureWith(t, query.DefaultConfig(), nil) }

func newFixtureWith(t testing.TB, cfg query.Config, change func(*query.Deps)) *fixture {
	t.Helper()
	path := filepath.Join(t.TempDir(), "eunoe.db")
	db, err := sqlite.Open(sqlite.DefaultConfig(path))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	w := &fixture{t: t, path: path, db: db, seqs: map[string]uint64{}}
	deps := query.Deps{Store: db, Preview: func(ctx context.Context, w memory.Write) (memory.Changes, error) {
		return db.Preview(ctx, w, planHashed)
	},
		Embedder: hashed.New(), Log: zerolog.Nop(), Now: func() time.Time { return noon }}
	if change != nil {
		change(&deps)
	}
	if w.service, err = query.New(cfg, deps); err != nil {
		t.Fatal(err)
	}
	return w
}

// say stores messages, in order.
func (w *fixture) say(messages ...memory.Message) {
	w.t.Helper()
	after := w.seq
	var list []consolidate.MessageEvent
	for _, m := range messages {
		w.seq++
		if m.Bank == "" {
			m.Bank = alice
		}
		if m.Session == "" {
			m.Session = "s1"
		}
		if m.Time.IsZero() {
			m.Time = noon.Add(-time.Hour).Add(time.Duration(w.seq) * time.Second)
		}
		if m.ID == "" {
			m.ID = memory.MessageID(fmt.Sprintf("m%d", w.seq))
		}
		if m.Speaker == "" {
			m.Speaker = "Alice"
		}
		if m.Role == "" {
			m.Role = memory.RoleUser
		}
		m.Seq, m.Stored = w.seq, m.Time
		w.seqs[string(m.Bank)+"/"+string(m.ID)] = w.seq
		list = append(list, consolidate.MessageEvent{Seq: w.seq, Bank: m.Bank, Session: m.Session, Stored: m.Time, State: memory.StatePending, Message: &m})
	}
	if err := w.db.ApplyMessages(context.Background(), after, w.seq, list); err != nil {
		w.t.Fatal(err)
	}
}

// apply stores changes as one write to a bank.
func (w *fixture) apply(bank memory.BankID, c memory.Changes) {
	w.t.Helper()
	w.write++
	ev := memory.Write{Bank: bank, Kind: memory.WriteRetain, Seq: w.write, Op: fmt.Sprintf("op%d", w.write), Time: noon}
	for i := range c.Facts {
		c.Facts[i].Version = w.write
	}
	err := w.db.ApplyWrites(context.Background(), w.write-1, w.write, []memory.Write{ev},
		func(plan.View, memory.Write) (memory.Changes, error) { return c, nil })
	if err != nil {
		w.t.Fatal(err)
	}
}

// know stores facts of a bank, with missing fields filled in.
func (w *fixture) know(bank memory.BankID, facts ...memory.Fact) {
	w.t.Helper()
	w.apply(bank, memory.Changes{Facts: w.complete(bank, facts), Entities: entitiesOf(facts)})
}

func (w *fixture) complete(bank memory.BankID, facts []memory.Fact) []memory.Fact {
	out := append([]memory.Fact(nil), facts...)
	for i := range out {
		f := &out[i]
		f.Bank = bank
		if f.Kind == "" {
			f.Kind = memory.KindWorld
		}
		if f.Type == "" {
			f.Type = memory.TypeFact
		}
		if f.ID == "" {
			f.ID = memory.NewFactID(bank, f.Text, f.Kind)
		}
		if f.Said.IsZero() {
			f.Said = noon.Add(-time.Hour)
		}
		if f.Valid == nil {
			f.Valid = []memory.Interval{{From: f.Said}}
		}
		if f.Confidence == 0 {
			f.Confidence = .8
		}
		f.Recorded = noon
		if f.Vector == nil {
			v, err := hashed.New().Embed(context.Background(), []string{f.Text})
			if err != nil {
				w.t.Fatal(err)
			}
			f.Vector, f.Model = v[0], "hashed-v1"
		}
	}
	return out
}

func entitiesOf(facts []memory.Fact) []memory.Entity {
	seen := map[memory.EntityID]bool{}
	var out []memory.Entity
	for _, f := range facts {
		for _, e := range f.Entities {
			if !seen[e] {
				seen[e] = true
				typ, name := e.Split()
				out = append(out, memory.Entity{ID: e, Type: typ, Name: name})
			}
		}
	}
	return out
}

// from returns the messages with the given ids as sources of a fact.
func (w *fixture) from(bank memory.BankID, ids ...string) []memory.Source {
	var out []memory.Source
	for _, id := range ids {
		out = append(out, memory.Source{Message: memory.MessageID(id), Seq: w.seqs[string(bank)+"/"+id], Said: noon, Start: noon})
	}
	return out
}

func (w *fixture) recall(bank memory.BankID, r wire.RecallRequest) wire.RecallReply {
	w.t.Helper()
	reply, err := w.service.Recall(context.Background(), bank, r)
	if err != nil {
		w.t.Fatal(err)
	}
	return reply
}

func textsOf(items []memory.Item) []string {
	out := make([]string, len(items))
	for i, item := range items {
		out[i] = item.Text
	}
	return out
}

func ptr[T any](v T) *T { return &v }
