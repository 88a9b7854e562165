package store_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/store"
)

// filled makes a closed store whose messages are applied up to a sequence.
func filled(t *testing.T, path string, messages uint64) {
	t.Helper()
	st, err := store.Open(store.Config{DSN: path, Unsynced: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(st.ApplyMessages(t.Context(), 0, messages, nil), st.Close()); err != nil {
		t.Fatal(err)
	}
}

// applied returns how far the messages of a store are applied.
func applied(t *testing.T, st store.Store) uint64 {
	t.Helper()
	n, _, err := st.Applied(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestCurrentAnswersFromTheStoreThatIsInPlace(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "eunoe.db")
	filled(t, path, 7)
	cur, err := store.OpenCurrent(store.Config{DSN: path})
	if err != nil {
		t.Fatal(err)
	}
	old, err := store.Open(store.Config{DSN: path})
	if err != nil {
		t.Fatal(err)
	}
	if err := old.ApplyMessages(t.Context(), 7, 8, nil); err != nil { // stands in the write-ahead log alone
		t.Fatal(err)
	}
	if got := applied(t, cur); got != 8 {
		t.Fatalf("the old store stands at %d", got)
	}
	for n := uint64(20); n < 23; n++ {
		filled(t, path+".next", n)
		if err := store.Replace(t.Context(), path, path+".next"); err != nil {
			t.Fatal(err)
		}
		if got := applied(t, cur); got != n {
			t.Errorf("after a store at %d took its place it stands at %d", n, got)
		}
	}
	if err := cur.ApplyMessages(t.Context(), 22, 23, nil); err != nil {
		t.Error(err)
	}
	if err := cur.ApplyMessages(t.Context(), 8, 9, nil); !errors.Is(err, memory.ErrConflict) {
		t.Errorf("applied at the position of the old store: %v", err)
	}
	t.Run("a store that was opened before stays what it is, or says so", func(t *testing.T) {
		if n, _, err := old.Applied(t.Context()); err == nil && n != 8 || err != nil && !errors.Is(err, store.ErrReplaced) {
			t.Errorf("it stands at %d: %v", n, err)
		}
		// More connections than it has open: none of them may be one to the new file.
		err := old.Read(t.Context(), "nobody", func(query.Reader) error { return nil })
		if !errors.Is(err, memory.ErrNotFound) && !errors.Is(err, store.ErrReplaced) {
			t.Error(err)
		}
	})
	if err := errors.Join(old.Close(), cur.Close(), cur.Close()); err != nil {
		t.Error(err)
	}
	again, err := store.Open(store.Config{DSN: path})
	if err != nil {
		t.Fatal(err)
	}
	if got := applied(t, again); got != 23 {
		t.Errorf("closing the old store changed the new one, which stands at %d", got)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

func TestAReplaceThatIsInterruptedLeavesTheOldStoreWhole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "eunoe.db")
	filled(t, path, 7)
	st, err := store.Open(store.Config{DSN: path})
	if err != nil {
		t.Fatal(err)
	}
	if err := st.ApplyMessages(t.Context(), 7, 8, nil); err != nil {
		t.Fatal(err)
	}
	next := filepath.Join(dir, "directory") // cannot take the place of a file: everything before the rename is done
	if err := os.Mkdir(next, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := store.Replace(t.Context(), path, next); err == nil || !strings.Contains(err.Error(), "put the new store in place") {
		t.Fatalf("the rename: %v", err)
	}
	content, err := os.ReadFile(path) // as a process finds it that starts after a kill
	if err != nil {
		t.Fatal(err)
	}
	found := filepath.Join(t.TempDir(), "eunoe.db")
	if err := os.WriteFile(found, content, 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := store.Open(store.Config{DSN: found})
	if err != nil {
		t.Fatal(err)
	}
	if got := applied(t, again); got != 8 {
		t.Errorf("it stands at %d", got)
	}
	if err := again.Check(t.Context()); err != nil {
		t.Error(err)
	}
	if err := errors.Join(again.Close(), st.ApplyMessages(t.Context(), 8, 9, nil)); err != nil {
		t.Error(err)
	}
	other, err := store.Open(store.Config{DSN: path})
	if err != nil {
		t.Fatal(err)
	}
	if got := applied(t, other); got != 9 {
		t.Errorf("what was applied afterwards is not seen by others: %d", got)
	}
	if err := errors.Join(st.Close(), other.Close()); err != nil {
		t.Error(err)
	}
}

func TestAReplacementThatIsCancelledChangesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "eunoe.db")
	st, err := store.Open(store.Config{DSN: path, Unsynced: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	if err := st.ApplyMessages(t.Context(), 0, 7, nil); err != nil {
		t.Fatal(err)
	}
	filled(t, path+".next", 9)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := store.Replace(ctx, path, path+".next"); err == nil {
		t.Error("it was replaced")
	}
	if got := applied(t, st); got != 7 {
		t.Errorf("the store stands at %d", got)
	}
	if err := store.Replace(t.Context(), "postgres://db/eunoe", path); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("a store on a server by a file: %v", err)
	}
}
