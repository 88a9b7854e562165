package server_test

import (
	"database/sql"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres/internal/server"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres/postgrestest"
)

// TestWhatIsErasedIsOnTheDisk commits until the server has not written something, which needs no erasure, and then erases.
func TestWhatIsErasedIsOnTheDisk(t *testing.T) {
	t.Parallel()
	own := postgrestest.ForTest(t)
	asked, err := sql.Open("pgx", own.Schema("tea"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = asked.Close() }()
	_, err = asked.ExecContext(t.Context(), `CREATE SCHEMA tea; CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL); INSERT INTO meta VALUES ('commits', '0')`)
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.Open(server.Config{DSN: own.Schema("tea"), Readers: 1, Busy: time.Second, Locked: time.Second, Idle: time.Second, Scrub: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	lacks := func(where string) (lacks bool) { // whether the disk lacks a place of the server's log
		t.Helper()
		if err := asked.QueryRowContext(t.Context(), `SELECT $1::pg_lsn > pg_current_wal_flush_lsn()`, where).Scan(&lacks); err != nil {
			t.Fatal(err)
		}
		return lacks
	}
	for range 200 {
		if err := s.Write(t.Context(), func(*engine.Tx) error { return nil }); err != nil {
			t.Fatal(err)
		}
		var end string
		if err := asked.QueryRowContext(t.Context(), `SELECT pg_current_wal_insert_lsn()::text`).Scan(&end); err != nil {
			t.Fatal(err)
		}
		if !lacks(end) {
			continue // it wrote it at once
		}
		if err := s.Write(t.Context(), (*engine.Tx).RequestScrub); err != nil {
			t.Fatal(err)
		}
		if lacks(end) {
			t.Error("the disk lacks what was committed before an erasure, and so the erasure")
		}
		return
	}
	t.Error("the server writes every commit to the disk at once, and is not asked to")
}
