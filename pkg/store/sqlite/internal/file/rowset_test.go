package file

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// row has a value of every type that a column may have.
type row struct {
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

// openFile opens a file with one empty table of settings, and closes it with the test.
func openFile(t *testing.T, path string) *File {
	t.Helper()
	f, err := Open(Config{Path: path, Readers: 2, SecondReaders: 1, Busy: time.Second, Checkpoint: time.Second, Cache: 1024, ReadCache: 1024})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	m, err := ReadMigrations(fstest.MapFS{"0001_init.sql": {Data: []byte("CREATE TABLE meta (key TEXT PRIMARY KEY, value); INSERT INTO meta VALUES ('commits', 0)")}})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Migrate(context.Background(), m); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestRowset(t *testing.T) {
	t.Parallel()
	file := openFile(t, filepath.Join(t.TempDir(), "eunoe.db"))
	rows := func(t *testing.T, columns int, query string, scan func(*engine.Rowset) error) error {
		t.Helper()
		return file.Read(context.Background(), func(tx *engine.Tx) error { return tx.Batch("read rows", columns, query, nil, scan) })
	}
	t.Run("every type is read back unchanged, in query order", func(t *testing.T) {
		t.Parallel()
		long := strings.Repeat("é", 5000)
		var got []row
		err := rows(t, 9, `SELECT value, value + .5, CAST(value AS REAL), iif(value = 2, '`+long+`', 't' || value), x'00ff',
NULL, -value, NULL, value > 1 FROM json_each('[3, 1, 2]') ORDER BY value DESC LIMIT 5`, func(r *engine.Rowset) error {
			got = append(got, row{r.Int(), r.Float(), r.Float(), r.Text(), r.Text(), r.IntOrNull(), r.IntOrNull(), r.Text(), r.Bool()})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		of := func(n int64, text string) row {
			return row{n, float64(n) + .5, float64(n), text, "\x00\xff", sql.NullInt64{}, sql.NullInt64{Int64: -n, Valid: true}, "", n > 1}
		}
		if diff := cmp.Diff([]row{of(3, "t3"), of(2, long), of(1, "t1")}, got); diff != "" {
			t.Errorf("rows (-want +got):\n%s", diff)
		}
	})
	t.Run("an empty result has no rows", func(t *testing.T) {
		t.Parallel()
		err := rows(t, 1, "SELECT 1 WHERE 0", func(*engine.Rowset) error { t.Error("a row came of none"); return nil })
		if err != nil {
			t.Error(err)
		}
	})
	for name, wrong := range map[string]func(*engine.Rowset){
		"a text read as a number":   func(r *engine.Rowset) { r.Int() },
		"a text read as a fraction": func(r *engine.Rowset) { r.Float() },
		"more columns than there are": func(r *engine.Rowset) {
			r.Text()
			r.Text()
		},
	} {
		t.Run(name+" is an error that says so", func(t *testing.T) {
			t.Parallel()
			err := rows(t, 1, "SELECT 'a text'", func(r *engine.Rowset) error { wrong(r); return nil })
			if err == nil || !strings.Contains(err.Error(), "read rows: a column holds type") {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("a number read as a text is an error that says so", func(t *testing.T) {
		t.Parallel()
		err := rows(t, 1, "SELECT 7", func(r *engine.Rowset) error { r.Text(); return nil })
		if err == nil || !strings.Contains(err.Error(), "a column holds type 1; expected a text") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a truncated value is an error", func(t *testing.T) {
		t.Parallel()
		cut := string([]byte{engine.RowsetText, 9, 0, 0, 0, 'a'})
		err := engine.EachRow(cut, func(r *engine.Rowset) error {
			if got := r.Text(); got != "" {
				t.Errorf("got %q", got)
			}
			return nil
		})
		if err == nil {
			t.Error("no error")
		}
	})
}
