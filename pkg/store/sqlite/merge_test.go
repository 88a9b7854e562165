package sqlite_test

import (
	"database/sql"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/store/sqlite"
)

// TestSegmentsAreMergedOnceNothingIsWritten writes many small transactions, each of which adds a segment to the text index,
// and waits until few are left.
func TestSegmentsAreMergedOnceNothingIsWritten(t *testing.T) {
	t.Parallel()
	config := sqlite.DefaultConfig(filepath.Join(t.TempDir(), "eunoe.db"))
	config.Checkpoint = time.Hour
	db := openStore(t, config)
	const n, atATime = 1500, 10
	events := benchMessages(rand.New(rand.NewPCG(1, 2)), 0, n)
	apply := func(db *sqlite.DB, from, to int) {
		t.Helper()
		if err := db.ApplyMessages(t.Context(), uint64(from), uint64(to), events[from:to]); err != nil { //nolint:gosec // small
			t.Fatal(err)
		}
	}
	for from := 0; from < n-atATime; from += atATime {
		apply(db, from, from+atATime)
	}
	raw, err := sql.Open("sqlite3", "file:"+config.Path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close() //nolint:errcheck // it was only read
	segments := func() (n int) {
		t.Helper()
		if err := raw.QueryRow(`SELECT count(DISTINCT segid) FROM messages_fts_idx`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := segments(); n < 6 {
		t.Fatalf("%d segments are too few to merge", n)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	config.Checkpoint = 20 * time.Millisecond
	db = openStore(t, config)
	apply(db, n-atATime, n)
	eventually(t, "there are few segments", func() bool { return segments() <= 3 })
	if err := db.Check(t.Context()); err != nil {
		t.Error(err)
	}
}
