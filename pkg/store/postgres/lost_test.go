package postgres_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
	"github.com/eunoe-memory/eunoe/pkg/store"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres/postgrestest"
)

// patiently repeats what is unavailable: connections of before a fall fail once each.
func patiently(do func() error) error {
	for began := time.Now(); ; {
		if err := do(); !errors.Is(err, memory.ErrUnavailable) || time.Since(began) > 30*time.Second {
			return err
		}
	}
}

// TestAStoreIsOpenedAnewWhereItsServerWasRestored fills a store and restores its server from a backup that lacks all of it. The
// log is then applied with its streams in another order, so banks have other numbers than before.
func TestAStoreIsOpenedAnewWhereItsServerWasRestored(t *testing.T) {
	t.Parallel()
	server := postgrestest.ForTest(t)
	cur, err := store.OpenCurrent(store.Config{DSN: server.Schema("eunoe")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cur.Close(); err != nil {
			t.Error(err)
		}
	})
	said := time.Unix(1_700_000_000, 0).UTC()
	say := func(seq uint64, bank memory.BankID, content string) func() error {
		m := memory.Message{ID: memory.MessageID(fmt.Sprint(seq)), Bank: bank, Session: "s", Role: memory.RoleUser, Speaker: "Ime", Content: content, Time: said}
		event := consolidate.MessageEvent{Seq: seq, Bank: bank, Session: "s", Stored: said, State: memory.StatePending, Message: &m}
		return func() error { return cur.ApplyMessages(t.Context(), seq-1, seq, []consolidate.MessageEvent{event}) }
	}
	write := func() error {
		w := memory.Write{Seq: 1, Bank: "ravens", Kind: memory.WriteRetain, Op: "o", Time: said, Stored: said}
		return cur.ApplyWrites(t.Context(), 0, 1, []memory.Write{w}, func(plan.View, memory.Write) (memory.Changes, error) { return memory.Changes{}, nil })
	}
	first, second := say(1, "okapis", "An okapi ate the hibiscus."), say(2, "ravens", "Der Rabe stahl den Löffel.")
	apply := func(steps ...func() error) {
		t.Helper()
		for _, step := range steps {
			if err := patiently(step); err != nil {
				t.Fatal(err)
			}
		}
	}
	finds := func(bank memory.BankID, word string) {
		t.Helper()
		err := cur.Search(t.Context(), bank, memory.Filter{}, func(s recall.Searcher) error {
			if nos, _, err := s.Matching(memory.RecordMessage, recall.Term{Forms: []string{word}}, 10); len(nos) != 1 || err != nil {
				t.Errorf("%q is found in %s in messages %v, %v", word, bank, nos, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	backup, err := server.Backup()
	if err != nil {
		t.Fatal(err)
	}
	defer backup.Stop() //nolint:errcheck // it never ran
	apply(write, first, second)
	finds("okapis", "hibiscus")
	finds("ravens", "löffel")

	if err := server.Restore(backup); err != nil {
		t.Fatal(err)
	}
	err = patiently(func() error {
		messages, writes, err := cur.Applied(t.Context())
		if messages+writes > 0 {
			t.Errorf("the server has kept message %d and write %d", messages, writes)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	apply(first, second, write)
	finds("okapis", "hibiscus")
	finds("ravens", "löffel")
}

// TestAStoreWhoseTablesAreLost is that of a server which fell before it had synced that the tables were made.
func TestAStoreWhoseTablesAreLost(t *testing.T) {
	t.Parallel()
	dsn := newSchema(t)
	db := open(t, postgres.DefaultConfig(dsn))
	if err := db.ApplyMessages(t.Context(), 0, 1, nil); err != nil {
		t.Fatal(err)
	}
	if err := postgres.Remove(t.Context(), dsn); err != nil {
		t.Fatal(err)
	}
	if _, _, err := db.Applied(t.Context()); !errors.Is(err, store.ErrReplaced) {
		t.Errorf("read: %v", err)
	}
	if err := db.ApplyMessages(t.Context(), 0, 2, nil); !errors.Is(err, store.ErrReplaced) {
		t.Errorf("written: %v", err)
	}
	again := open(t, postgres.DefaultConfig(dsn))
	if messages, writes, err := again.Applied(t.Context()); err != nil || messages+writes != 0 {
		t.Errorf("opened anew: %d, %d, %v", messages, writes, err)
	}
}

// TestAStoreIsOfOneRunOfItsServer reads by a store that was opened before its server fell, in each of its connections.
func TestAStoreIsOfOneRunOfItsServer(t *testing.T) {
	t.Parallel()
	server := postgrestest.ForTest(t)
	db := open(t, postgres.DefaultConfig(server.Schema("eunoe")))
	if err := db.ApplyMessages(t.Context(), 0, 1, nil); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(server.Kill(), server.Restart()); err != nil {
		t.Fatal(err)
	}
	replaced := 0
	for range 20 {
		_, _, err := db.Applied(t.Context())
		if err == nil {
			t.Fatal("a store of an earlier run is read")
		}
		if !errors.Is(err, memory.ErrUnavailable) {
			t.Fatal(err)
		}
		if errors.Is(err, store.ErrReplaced) {
			replaced++
		}
	}
	if replaced == 0 {
		t.Error("no transaction says that the store was replaced")
	}
	if err := db.ApplyMessages(t.Context(), 0, 1, nil); err == nil {
		t.Error("a store of an earlier run is written")
	}
}
