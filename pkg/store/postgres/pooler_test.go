package postgres_test

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/consolidatetest"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres/postgrestest"
	"github.com/eunoe-memory/eunoe/pkg/store/storetest"
)

// newPooler starts a pooler in transaction mode before the server of the tests, until the test ends.
func newPooler(t *testing.T, ignored ...string) *postgrestest.Pooler {
	t.Helper()
	newSchema(t) // or no server is installed
	p, err := started.Pool(ignored...)
	if errors.Is(err, postgrestest.ErrNoPooler) {
		t.Skip("NOT TESTED:", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func TestConformanceBehindAPooler(t *testing.T) {
	t.Parallel()
	p := newPooler(t)
	storetest.Run(t, func(t *testing.T) storetest.Opener {
		dsn := p.Schema(fmt.Sprintf("test_%d", schemas.Add(1)))
		return func(embedder string, dimension int) (store.Store, error) {
			return store.Open(store.Config{DSN: dsn, Embedder: embedder, Dimension: dimension, Unsynced: true})
		}
	})
}

// TestAPoolerIsNoticed fills a store by way of a pooler that refuses the settings of a session, of one that takes them and does
// nothing, and with an address that asks for no prepared statements. Other clients of the pooler find nothing of it on the
// connections that they share.
func TestAPoolerIsNoticed(t *testing.T) {
	t.Parallel()
	sent := []string{"search_path", "enable_hashjoin", "enable_mergejoin", "enable_seqscan", "random_page_cost", "jit", "synchronous_commit",
		"plan_cache_mode", "lock_timeout", "idle_in_transaction_session_timeout", "statement_timeout"}
	for _, c := range []struct {
		name    string
		ignored []string
		more    string
	}{
		{name: "one that refuses"},
		{name: "one that ignores", ignored: sent},
		{name: "an address that says so", ignored: sent, more: "&default_query_exec_mode=exec"},
		{name: "an address with a setting", more: "&statement_timeout=60000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPooler(t, c.ignored...)
			name := fmt.Sprintf("test_%d", schemas.Add(1))
			db := open(t, postgres.DefaultConfig(p.Schema(name)+c.more))
			model, planner := consolidatetest.NewEmbedder("test:model"), plan.NewPlanner(plan.DefaultConfig())
			for n := 1; n <= 8; n++ {
				event, w := windowOf(t, model, n)
				if err := db.ApplyMessages(t.Context(), w.Seq-1, w.Seq, []consolidate.MessageEvent{event}); err != nil {
					t.Fatal(err)
				}
				if err := db.ApplyWrites(t.Context(), w.Seq-1, w.Seq, []memory.Write{w}, planner.Plan); err != nil {
					t.Fatal(err)
				}
			}
			if counts, err := db.Counts(t.Context()); counts["facts"] == 0 || err != nil {
				t.Errorf("the store has %v, %v", counts, err)
			}
			if found, err := postgres.Exists(t.Context(), started.Schema(name)); !found || err != nil {
				t.Errorf("the schema %s is there: %v, %v", name, found, err)
			}
			sharesNothing(t, p.Schema(""))
		})
	}
}

// sharesNothing looks at a connection that a pooler lends after a store has used it.
func sharesNothing(t *testing.T, dsn string) {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Del("search_path")
	u.RawQuery = q.Encode()
	conn, err := pgx.Connect(t.Context(), u.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	var set string
	var prepared int
	const find = `SELECT coalesce(string_agg(name || '=' || setting, ' '), ''), (SELECT count(*) FROM pg_prepared_statements)
FROM pg_settings WHERE source = 'session' AND context = 'user' AND name NOT IN ('application_name', 'client_encoding', 'DateStyle', 'TimeZone')`
	if err := conn.QueryRow(t.Context(), find, pgx.QueryExecModeExec).Scan(&set, &prepared); err != nil {
		t.Fatal(err)
	}
	if set = strings.TrimSpace(set); set != "" || prepared > 0 {
		t.Errorf("the connection has %d prepared statements, and is set to %s", prepared, set)
	}
}
