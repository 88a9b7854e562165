package sqlite_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite"
)

func TestASecondReaderSeesTheSameState(t *testing.T) {
	t.Parallel()
	ctx, path := t.Context(), filepath.Join(t.TempDir(), "eunoe.db")
	c := sqlite.DefaultConfig(path)
	c.SecondReaders = 1
	db := openStore(t, c)
	varied(t, db, 60)
	wrote := uint64(2)
	// commit changes a value that every search reads: the applied position.
	commit := func() error {
		wrote++
		w := memory.Write{Bank: "b", Kind: memory.WriteRetain, Seq: wrote, Op: fmt.Sprintf("op-%d", wrote), Time: benchEpoch}
		return db.ApplyWrites(ctx, wrote-1, wrote, []memory.Write{w}, func(plan.View, memory.Write) (memory.Changes, error) { return memory.Changes{}, nil })
	}
	search := func(db *sqlite.DB, fn func(s recall.Searcher) error) {
		t.Helper()
		f := memory.Filter{Session: "s1"}
		if err := db.Search(ctx, "b", f, fn); err != nil {
			t.Fatal(err)
		}
	}
	beside := func(s recall.Searcher) bool {
		t.Helper()
		other, err := s.SecondReader()
		if err != nil {
			t.Fatal(err)
		}
		return other != nil
	}
	search(db, func(s recall.Searcher) error {
		other, err := s.SecondReader()
		if err != nil || other == nil {
			return fmt.Errorf("no second searcher: %w", err)
		}
		if err := commit(); err != nil { // neither of the two sees it
			return err
		}
		for _, ask := range []func(recall.Searcher) (any, error){
			func(s recall.Searcher) (any, error) { _, writes, err := s.Applied(); return writes, err },
			func(s recall.Searcher) (any, error) { return s.Recent(memory.RecordMessage, 100) },
			func(s recall.Searcher) (any, error) { return s.Recent(memory.RecordFact, 100) },
			func(s recall.Searcher) (any, error) { return s.Bank() },
		} {
			mine, err := ask(s)
			if err != nil {
				return err
			}
			theirs, err := ask(other)
			if diff := cmp.Diff(mine, theirs); diff != "" || err != nil {
				t.Errorf("the searcher beside sees otherwise (%v):\n%s", err, diff)
			}
		}
		search(db, func(s recall.Searcher) error {
			if beside(s) {
				t.Error("two searches read by the one connection there is for that")
			}
			return nil
		})
		return nil
	})
	search(db, func(s recall.Searcher) error {
		if err := commit(); err != nil {
			return err
		}
		if beside(s) {
			t.Error("a searcher was given that sees a later commit")
		}
		return nil
	})
	search(db, func(s recall.Searcher) error {
		if !beside(s) {
			t.Error("the connection of a search that is over was not given back")
		}
		return nil
	})
	c.SecondReaders, c.ReadOnly = 0, true
	search(openStore(t, c), func(s recall.Searcher) error {
		if beside(s) {
			t.Error("a searcher was given where there is to be none")
		}
		return nil
	})
}

func TestASearchNeedsNoSecondConnection(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "eunoe.db")
	c := sqlite.DefaultConfig(path)
	c.SecondReaders = 1
	db := openStore(t, c)
	varied(t, db, 20)
	// The connection is opened on first use, and finds nothing.
	err := db.Search(t.Context(), "b", memory.Filter{}, func(s recall.Searcher) error {
		if err := os.Rename(path, path+".away"); err != nil {
			return err
		}
		other, err := s.SecondReader()
		if err := errors.Join(err, os.Rename(path+".away", path)); err != nil {
			return err
		}
		if other != nil {
			t.Error("a searcher reads a file that is not there")
		}
		nos, err := s.Recent(memory.RecordFact, 5)
		if len(nos) == 0 {
			t.Error("the search found nothing")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
