package query_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// exampleService returns a service over a store that holds one fact, and a function that removes the store.
func exampleService() (*query.Service, func(), error) {
	dir, err := os.MkdirTemp("", "eunoe")
	if err != nil {
		return nil, nil, err
	}
	db, err := sqlite.Open(sqlite.DefaultConfig(filepath.Join(dir, "eunoe.db")))
	if err != nil {
		return nil, nil, err
	}
	fact := memory.Fact{Bank: alice, Text: "Alice adopted a grey cat.", Kind: memory.KindWorld, Type: memory.TypeFact, Said: noon, Recorded: noon,
		Confidence: .9, Version: 1, Valid: []memory.Interval{{From: noon}}}
	fact.ID = memory.NewFactID(fact.Bank, fact.Text, fact.Kind)
	retain := memory.Write{Bank: alice, Kind: memory.WriteRetain, Seq: 1, Op: "op1", Time: noon}
	err = db.ApplyWrites(context.Background(), 0, 1, []memory.Write{retain}, func(plan.View, memory.Write) (memory.Changes, error) {
		return memory.Changes{Facts: []memory.Fact{fact}}, nil
	})
	if err != nil {
		return nil, nil, err
	}
	service, err := query.New(query.DefaultConfig(), query.Deps{Store: db, Now: func() time.Time { return noon }})
	return service, func() { _, _ = db.Close(), os.RemoveAll(dir) }, err
}

// A service answers without NATS too, where a program has the store at hand.
func ExampleService_Recall() {
	service, remove, err := exampleService()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer remove()
	reply, err := service.Recall(context.Background(), alice, wire.RecallRequest{Query: "Which pet does Alice have?"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, item := range reply.Items {
		fmt.Println(item.Record, item.Text)
	}
	// Output: fact Alice adopted a grey cat.
}

// A list is read page by page: the next page begins at the cursor of the one before.
func ExampleService_List() {
	service, remove, err := exampleService()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer remove()
	page, err := service.List(context.Background(), alice, wire.ListRequest{Record: memory.RecordFact, Limit: 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(page.Items), page.Items[0].Text, page.Next == "")
	// Output: 1 Alice adopted a grey cat. true
}
