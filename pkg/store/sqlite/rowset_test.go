package sqlite

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// held is a row of every type that a column may have.
type held struct {
	No      int64
	Real    float64
	Whole   float64 // a number that SQLite may keep as an integer
	Text    string
	Blob    string
	Missing sql.NullInt64
	Given   sql.NullInt64
	Nothing string
	Flag    bool
}

func TestRowset(t *testing.T) {
	t.Parallel()
	db, err := Open(DefaultConfig(filepath.Join(t.TempDir(), "eunoe.db")))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	rows := func(t *testing.T, columns int, query string, scan func(*rowset) error) error {
		t.Helper()
		return db.read(t.Context(), func(tx *sql.Tx) error {
			return eachOf(context.Background(), tx, "read rows", columns, query, nil, scan)
		})
	}
	t.Run("every type comes back as it was, in the order of the query", func(t *testing.T) {
		t.Parallel()
		long := strings.Repeat("é", 5000)
		var got []held
		err := rows(t, 9, `SELECT value, value + .5, CAST(value AS REAL), iif(value = 2, '`+long+`', 't' || value), x'00ff',
NULL, -value, NULL, value > 1 FROM json_each('[3, 1, 2]') ORDER BY value DESC LIMIT 5`, func(r *rowset) error {
			got = append(got, held{r.int(), r.real(), r.real(), r.text(), r.text(), r.optional(), r.optional(), r.text(), r.bool()})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		row := func(n int64, text string) held {
			return held{n, float64(n) + .5, float64(n), text, "\x00\xff", sql.NullInt64{}, sql.NullInt64{Int64: -n, Valid: true}, "", n > 1}
		}
		if diff := cmp.Diff([]held{row(3, "t3"), row(2, long), row(1, "t1")}, got); diff != "" {
			t.Errorf("rows (-want +got):\n%s", diff)
		}
	})
	t.Run("no row is none", func(t *testing.T) {
		t.Parallel()
		err := rows(t, 1, "SELECT 1 WHERE 0", func(*rowset) error { t.Error("a row came of none"); return nil })
		if err != nil {
			t.Error(err)
		}
	})
	for name, wrong := range map[string]func(*rowset){
		"a text read as a number":   func(r *rowset) { r.int() },
		"a text read as a fraction": func(r *rowset) { r.real() },
		"more columns than there are": func(r *rowset) {
			r.text()
			r.text()
		},
	} {
		t.Run(name+" is an error that says so", func(t *testing.T) {
			t.Parallel()
			err := rows(t, 1, "SELECT 'a text'", func(r *rowset) error { wrong(r); return nil })
			if err == nil || !strings.Contains(err.Error(), "read rows: a column holds type") {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("a number read as a text is an error that says so", func(t *testing.T) {
		t.Parallel()
		err := rows(t, 1, "SELECT 7", func(r *rowset) error { r.text(); return nil })
		if err == nil || !strings.Contains(err.Error(), "a column holds type 1; expected a text") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("what is cut off is an error", func(t *testing.T) {
		t.Parallel()
		r := rowset{data: string([]byte{rowsetText, 9, 0, 0, 0, 'a'})}
		if got := r.text(); got != "" || r.err == nil {
			t.Errorf("got %q, error %v", got, r.err)
		}
	})
}
