package recall_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/consolidatetest"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

const alice memory.BankID = "alice"

var noon = time.Date(2026, 5, 20, 12, 0, 0, 0, time.UTC)

// newRepetitiveStore returns an engine over a store of 120 messages and facts with a small vocabulary, some of which
// ended, and a function that returns n random words of it.
func newRepetitiveStore(t *testing.T) (e *recall.Engine, say func(n int) string) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	db, err := sqlite.Open(sqlite.DefaultConfig(filepath.Join(t.TempDir(), "eunoe.db")))
	check(err)
	t.Cleanup(func() { _ = db.Close() })
	model := consolidatetest.NewEmbedder("test:model")
	vector := func(text string) memory.Vector {
		v, err := model.Embed(t.Context(), []string{text})
		check(err)
		return v[0]
	}
	r := rand.New(rand.NewPCG(11, 5))
	words := strings.Fields("cat car bees roof garden Ann Ben Lisbon chess violin red blue old concert ticket yesterday moved kept broke bought")
	say = func(n int) string {
		out := make([]string, n)
		for i := range out {
			out[i] = words[r.IntN(len(words))]
		}
		return strings.Join(out, " ")
	}
	var messages []consolidate.MessageEvent
	changes := memory.Changes{}
	for i := range 120 {
		seq := uint64(i + 1)
		m := &memory.Message{ID: memory.MessageID(fmt.Sprintf("m%d", i)), Bank: alice, Session: memory.SessionID(fmt.Sprintf("s%d", i%7)), Speaker: words[5+r.IntN(2)],
			Content: "I " + say(4+r.IntN(6)) + ".", Time: noon.Add(-time.Duration(r.IntN(4000)) * time.Minute), Role: memory.RoleUser, Seq: seq}
		m.Stored = m.Time
		messages = append(messages, consolidate.MessageEvent{Seq: seq, Bank: alice, Session: m.Session, Stored: m.Time, State: memory.StatePending, Message: m})
		changes.MessageVectors = append(changes.MessageVectors, memory.LateVector{Record: memory.RecordMessage, Seq: seq, Model: model.Name(), Vector: vector(m.Content)})
		entity := memory.EntityID("thing:" + words[r.IntN(len(words))])
		f := memory.Fact{Bank: alice, Text: "Ann " + say(5) + ".", Kind: memory.KindWorld, Type: memory.TypeFact, Entities: []memory.EntityID{entity},
			Said: noon.Add(-time.Duration(i) * time.Hour), Confidence: .8, Recorded: noon, Version: 1, Model: model.Name(),
			Sources: []memory.Source{{Message: m.ID, Seq: seq, Said: noon, Start: noon}}}
		f.ID, f.Vector, f.Valid = memory.NewFactID(alice, f.Text, f.Kind), vector(f.Text), []memory.Interval{{From: f.Said}}
		if i%9 == 0 {
			end := f.Said.Add(time.Hour)
			f.Valid[0].To = &end
		}
		typ, name := entity.Split()
		changes.Facts, changes.Entities = append(changes.Facts, f), append(changes.Entities, memory.Entity{ID: entity, Type: typ, Name: name})
	}
	check(db.ApplyMessages(t.Context(), 0, 120, messages))
	write := memory.Write{Bank: alice, Kind: memory.WriteRetain, Seq: 1, Op: "op1", Time: noon}
	check(db.ApplyWrites(t.Context(), 0, 1, []memory.Write{write}, func(plan.View, memory.Write) (memory.Changes, error) { return changes, nil }))
	e, err = recall.New(recall.DefaultConfig(), recall.Deps{Store: db, Embedder: model, Now: func() time.Time { return noon }})
	check(err)
	return e, say
}

// TestFusingReadsWhatWasNotPrefetched fuses the results of a recall with all prefetched rows, with a part of them, with
// none and with more rows than were found.
func TestFusingReadsWhatWasNotPrefetched(t *testing.T) {
	t.Parallel()
	e, say := newRepetitiveStore(t)
	early := noon.Add(-24 * time.Hour)
	filters := []memory.Filter{{}, {Session: "s3"}, {AsOf: &early}, {Speakers: []string{"ann"}}}
	ended, links := 0, 0
	for i := range 20 {
		request := wire.RecallRequest{Query: "Who " + say(3) + "?", Filter: filters[i%len(filters)]}
		fused, e, l, err := e.FusePrefetched(t.Context(), alice, request, 200)
		if err != nil {
			t.Fatal(err)
		}
		ended, links = ended+e, links+l
		if strings.Contains(strings.Join(fused[0], "\n"), `""`) {
			t.Fatalf("%q returns a row that is not there:\n%s", request.Query, strings.Join(fused[0], "\n"))
		}
		for k, name := range []string{"a part", "nothing", "more than was found"} {
			if diff := cmp.Diff(fused[0], fused[k+1]); diff != "" {
				t.Fatalf("%q, with %s prefetched:\n%s", request.Query, name, diff)
			}
		}
	}
	if ended == 0 || links == 0 {
		t.Errorf("%d messages whose facts ended and %d sources of facts were prefetched, want some", ended, links)
	}
}

// TestAFailingStepBlocksNoOther fails the steps of one connection while the other connection waits for them.
func TestAFailingStepBlocksNoOther(t *testing.T) {
	t.Parallel()
	succeeds := func() error { return nil }
	broken := errors.New("the disk is gone")
	fails, panics := func() error { return broken }, func() error { panic("lost") }
	for name, steps := range map[string][2]func() error{"first": {fails, succeeds}, "second": {succeeds, fails}, "both": {fails, fails}} {
		if err := recall.RunOnBoth(context.Background(), steps[0], steps[1]); !errors.Is(err, broken) {
			t.Errorf("%s connection failed, and the error is %v", name, err)
		}
	}
	if err := recall.RunOnBoth(context.Background(), succeeds, succeeds); err != nil {
		t.Errorf("no connection failed, and the error is %v", err)
	}
	for name, steps := range map[string][2]func() error{"first": {panics, succeeds}, "second": {succeeds, panics}} {
		func() {
			defer func() {
				if got := recover(); got != "lost" {
					t.Errorf("%s connection panicked, and its caller saw %v", name, got)
				}
			}()
			err := recall.RunOnBoth(context.Background(), steps[0], steps[1])
			t.Errorf("%s connection panicked, and the error is %v", name, err)
		}()
	}
}
