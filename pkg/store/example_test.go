package store_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
	"github.com/eunoe-memory/eunoe/pkg/store"
)

// The consolidator opens a store for writing and applies the log to it; a query process opens it read-only and
// searches.
func ExampleOpen() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "eunoe-*")
	check(err)
	defer func() { check(os.RemoveAll(dir)) }()
	dsn := "sqlite:" + filepath.Join(dir, "eunoe.db")

	writer, err := store.Open(store.Config{DSN: dsn})
	check(err)
	said := time.Date(2026, 5, 20, 9, 14, 0, 0, time.UTC)
	m := memory.Message{ID: "m1", Bank: "team-7", Session: "s", Role: memory.RoleUser, Speaker: "Alice", Content: "I moved to Lisbon.", Time: said}
	check(writer.ApplyMessages(ctx, 0, 1, []consolidate.MessageEvent{
		{Seq: 1, Bank: m.Bank, Session: m.Session, Stored: said, State: memory.StatePending, Message: &m},
	}))

	reader, err := store.Open(store.Config{DSN: dsn, ReadOnly: true})
	check(err)
	check(reader.Search(ctx, "team-7", memory.Filter{}, func(s recall.Searcher) error {
		nos, _, err := s.Matching(memory.RecordMessage, recall.Term{Forms: []string{"lisbon"}}, 10)
		if err != nil {
			return err
		}
		found, err := s.Messages(nos)
		for _, m := range found {
			fmt.Printf("%s: %s\n", m.Speaker, m.Text)
		}
		return err
	}))
	check(reader.Close())
	check(writer.Close())
	// Output:
	// Alice: I moved to Lisbon.
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
