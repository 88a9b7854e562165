package postgres_test

import (
	"errors"
	"math/rand/v2"
	"net/url"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres/postgrestest"
)

// within begins a transaction of a connection that no store knows, with one statement. It returns its connection, and what ends it.
func within(t *testing.T, dsn, statement string) (conn *pgx.Conn, end func()) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	for _, s := range []string{"BEGIN", statement} {
		if _, err := conn.Exec(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	return conn, func() {
		t.Helper()
		if _, err := conn.Exec(t.Context(), "ROLLBACK"); err != nil {
			t.Error(err)
		}
	}
}

// named adds a name to a DSN, by which the server knows its connections.
func named(t *testing.T, dsn, name string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("application_name", name)
	u.RawQuery = q.Encode()
	return u.String()
}

// TestWhoOpensAStoreWaitsWhileItIsMade holds up the making of a store for longer than writers wait for each other.
func TestWhoOpensAStoreWaitsWhileItIsMade(t *testing.T) {
	t.Parallel()
	const openers = 3
	dsn, other := newSchema(t), newSchema(t)
	name := postgres.Schema(dsn)
	conn, release := within(t, dsn, "CREATE SCHEMA "+pgx.Identifier{name}.Sanitize())
	opened := make(chan error, openers)
	for range openers {
		go func() {
			cfg := postgres.DefaultConfig(named(t, dsn, name))
			cfg.Busy = 50 * time.Millisecond
			db, err := postgres.Open(cfg)
			if err == nil {
				err = db.Close()
			}
			opened <- err
		}()
	}
	natstest.Eventually(t, "all wait for longer than a writer does", func() bool {
		const find = `SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid)
WHERE NOT l.granted AND a.application_name = $1 AND l.waitstart < clock_timestamp() - interval '250 ms'`
		var waiting int
		if err := conn.QueryRow(t.Context(), find, name).Scan(&waiting); err != nil {
			t.Fatal(err)
		}
		if len(opened) > 0 {
			t.Fatalf("one did not wait: %v", <-opened)
		}
		return waiting == openers
	})
	open(t, postgres.DefaultConfig(other))
	if len(opened) > 0 {
		t.Fatalf("one did not wait while another store was made: %v", <-opened)
	}
	release()
	for range openers {
		if err := <-opened; err != nil {
			t.Error(err)
		}
	}
}

// TestAReadOfALockedTableEnds locks a table as a rewrite does, and cuts the standby off, which keeps it locked.
func TestAReadOfALockedTableEnds(t *testing.T) {
	t.Parallel()
	primary := postgrestest.ForTest(t)
	standby := primary.StandbyForTest(t)
	w := &writing{t: t, db: open(t, postgres.DefaultConfig(primary.Schema("eunoe"))), rng: rand.New(rand.NewPCG(1, 2))}
	w.say("b")
	cfg := postgres.DefaultConfig(standby.Schema("eunoe"))
	cfg.ReadOnly, cfg.Locked = true, 100*time.Millisecond
	var reader *postgres.DB
	natstest.Eventually(t, "the standby has the store", func() bool {
		db, err := postgres.Open(cfg)
		reader = db
		return err == nil
	})
	t.Cleanup(func() { _ = reader.Close() })
	read := func() error {
		return reader.Search(t.Context(), "b", memory.Filter{}, func(recall.Searcher) error { return nil })
	}
	natstest.Eventually(t, "the standby has the bank", func() bool { return read() == nil })
	_, release := within(t, primary.Schema("eunoe"), "LOCK TABLE banks IN ACCESS EXCLUSIVE MODE")
	natstest.Eventually(t, "the standby locks the table", func() bool { return errors.Is(read(), memory.ErrUnavailable) })
	join, err := standby.Part(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	release()
	if err := read(); !errors.Is(err, memory.ErrUnavailable) {
		t.Errorf("a read of a table that stays locked: %v", err)
	}
	if err := join(t.Context()); err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, "a standby that follows again unlocks the table", func() bool { return read() == nil })
}
