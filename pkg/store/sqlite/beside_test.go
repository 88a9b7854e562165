package sqlite_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite"
)

func TestASearchBesideReadsTheSameState(t *testing.T) {
	t.Parallel()
	ctx, path := t.Context(), filepath.Join(t.TempDir(), "eunoe.db")
	c := sqlite.DefaultConfig(path)
	c.Beside = 1
	db := openStore(t, c)
	varied(t, db, 60)
	wrote := uint64(2)
	// commit changes what every search sees: how much was applied.
	commit := func() error {
		wrote++
		w := memory.Write{Bank: "b", Kind: memory.WriteRetain, Seq: wrote, Op: fmt.Sprintf("op-%d", wrote), Time: benchEpoch}
		return db.ApplyWrites(ctx, wrote-1, wrote, []memory.Write{w}, func(consolidate.View, memory.Write) (memory.Changes, error) { return memory.Changes{}, nil })
	}
	search := func(db *sqlite.DB, fn func(s query.Searcher) error) {
		t.Helper()
		f := memory.Filter{Session: "s1"}
		if err := db.Search(ctx, "b", f, fn); err != nil {
			t.Fatal(err)
		}
	}
	beside := func(s query.Searcher) bool {
		t.Helper()
		other, err := s.Beside()
		if err != nil {
			t.Fatal(err)
		}
		return other != nil
	}
	search(db, func(s query.Searcher) error {
		other, err := s.Beside()
		if err != nil || other == nil {
			return fmt.Errorf("no second searcher: %w", err)
		}
		if err := commit(); err != nil { // neither of the two sees it
			return err
		}
		for _, ask := range []func(query.Searcher) (any, error){
			func(s query.Searcher) (any, error) { _, writes, err := s.Applied(); return writes, err },
			func(s query.Searcher) (any, error) { return s.Recent(memory.RecordMessage, 100) },
			func(s query.Searcher) (any, error) { return s.Recent(memory.RecordFact, 100) },
			func(s query.Searcher) (any, error) { return s.Bank() },
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
		search(db, func(s query.Searcher) error {
			if beside(s) {
				t.Error("two searches read by the one connection there is for that")
			}
			return nil
		})
		return nil
	})
	search(db, func(s query.Searcher) error {
		if err := commit(); err != nil {
			return err
		}
		if beside(s) {
			t.Error("a searcher was given that sees a later commit")
		}
		return nil
	})
	search(db, func(s query.Searcher) error {
		if !beside(s) {
			t.Error("the connection of a search that is over was not given back")
		}
		return nil
	})
	c.Beside, c.ReadOnly = 0, true
	search(openStore(t, c), func(s query.Searcher) error {
		if beside(s) {
			t.Error("a searcher was given where there is to be none")
		}
		return nil
	})
}

func TestASearchGoesOnWithoutASecondConnection(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "eunoe.db")
	c := sqlite.DefaultConfig(path)
	c.Beside = 1
	db := openStore(t, c)
	varied(t, db, 20)
	// The connection is opened when it is first asked for, and finds nothing.
	err := db.Search(t.Context(), "b", memory.Filter{}, func(s query.Searcher) error {
		if err := os.Rename(path, path+".away"); err != nil {
			return err
		}
		other, err := s.Beside()
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
