package reflect_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/query/reflect"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// The more skeptical a bank is, the more confidence a fact needs to be shown.
func ExampleLeastConfidence() {
	for skepticism := 3; skepticism <= 5; skepticism++ {
		fmt.Println(skepticism, reflect.LeastConfidence(skepticism))
	}
	// Output:
	// 3 0
	// 4 0.5
	// 5 0.7
}

// Without a language model the reply is the context for a model of your own. A service puts the reflector together.
func ExampleReflector() {
	dir, err := os.MkdirTemp("", "eunoe")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	db, err := sqlite.Open(sqlite.DefaultConfig(filepath.Join(dir, "eunoe.db")))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = db.Close() }()
	noon := time.Date(2026, 5, 20, 12, 0, 0, 0, time.UTC)
	fact := memory.Fact{Bank: "alice", Text: "Alice moved to Lisbon.", Kind: memory.KindWorld, Type: memory.TypeFact, Said: noon, Recorded: noon,
		Confidence: .9, Version: 1, Valid: []memory.Interval{{From: noon}}}
	fact.ID = memory.NewFactID(fact.Bank, fact.Text, fact.Kind)
	retain := memory.Write{Bank: "alice", Kind: memory.WriteRetain, Seq: 1, Op: "op1", Time: noon}
	err = db.ApplyWrites(context.Background(), 0, 1, []memory.Write{retain}, func(plan.View, memory.Write) (memory.Changes, error) {
		return memory.Changes{Facts: []memory.Fact{fact}}, nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	service, err := query.New(query.DefaultConfig(), query.Deps{Store: db})
	if err != nil {
		fmt.Println(err)
		return
	}
	reply, err := service.Reflect(context.Background(), "alice", wire.ReflectRequest{RecallRequest: wire.RecallRequest{Query: "Where did Alice move?"}, Style: reflect.StyleContext})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(reply.Response)
	// Output:
	// ## Facts
	// - [1] [said 2026-05-20] Alice moved to Lisbon.
}
