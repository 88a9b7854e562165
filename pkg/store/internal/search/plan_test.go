package search_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/store/internal/search"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite"
)

// TestLookUpsReadWhatTheyNeed looks at how SQLite runs the look-ups of a recall that it would run by the wrong index: the
// rows read then grow with the bank.
func TestLookUpsReadWhatTheyNeed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "eunoe.db")
	store, err := sqlite.Open(sqlite.DefaultConfig(path))
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // it was only read
	for _, c := range []struct {
		name, statement string
		args            []any
		plan            string
	}{
		{"people whose names go on", search.FindPeople, []any{`["ana "]`, 1, 40}, "SEARCH n USING PRIMARY KEY (bank=? AND name>? AND name<?)"},
		{"how many states a subject has", search.CountStates, []any{1, "person:ana", 9}, "facts_state (bank=? AND subject=?)"},
		{"a few states", search.FindStates(1, "f.live"), []any{1, "person:ana", 9}, "facts_state (bank=? AND subject=?)"},
		{"many states", search.FindStates(search.ManyStates, "f.live"), []any{1, "person:ana", 9}, "facts_said (bank=?)"},
		{"which sessions there are", search.FindSessions(false), []any{1, 0, 51}, "messages_session (bank=? AND session>?)"},
		{"the messages of a page of sessions", search.FindSessions(true), []any{1, 0, 51}, "SEARCH m USING INDEX messages_session (bank=? AND session=?)"},
	} {
		rows, err := db.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+c.statement, c.args...)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		var plan strings.Builder
		for rows.Next() {
			var id, parent, unused int
			var detail string
			if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
				t.Fatal(err)
			}
			plan.WriteString(detail + "\n")
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(plan.String(), c.plan) {
			t.Errorf("%s: expected %s in\n%s", c.name, c.plan, plan.String())
		}
	}
}
