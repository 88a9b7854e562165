package file

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// endless counts for longer than any test waits.
const endless = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n`

func teaFile(t *testing.T) *File {
	t.Helper()
	return teaFileIn(t, t.TempDir())
}

func teaFileIn(t *testing.T, dir string) *File {
	t.Helper()
	f, err := Open(Config{Path: filepath.Join(dir, "f.db"), Readers: 1, SecondReaders: 1, Busy: time.Second, Checkpoint: time.Second, Cache: 1024, ReadCache: 1024})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	_, err = f.writer.ExecContext(t.Context(), `CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL); INSERT INTO meta VALUES ('commits', '0');
CREATE TABLE tea (no INTEGER PRIMARY KEY, name TEXT UNIQUE); INSERT INTO tea VALUES (1, 'assam')`)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func teas(t *testing.T, f *File) (names []string) {
	t.Helper()
	err := f.Read(t.Context(), func(tx *engine.Tx) (err error) {
		names, err = engine.Column[string](tx, "list teas", `SELECT name FROM tea ORDER BY no`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestReadsEndWithTheirContexts(t *testing.T) {
	t.Parallel()
	f := teaFile(t)
	ways := map[string]func(*engine.Tx) error{
		"one row":     func(tx *engine.Tx) error { return tx.Get("count", endless, nil, new(int)) },
		"rows":        func(tx *engine.Tx) error { return tx.Each("count", endless, nil, func(*sql.Rows) error { return nil }) },
		"all at once": func(tx *engine.Tx) error { _, err := tx.Numbers("count", endless); return err },
		"the rest of the rows": func(tx *engine.Tx) error {
			return tx.Each("count", `SELECT 1 UNION ALL SELECT count(*) FROM (`+endless+`)`, nil, func(*sql.Rows) error { return nil })
		},
	}
	for name, ask := range ways {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		err := f.Read(ctx, ask)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: a read past its time gave %v", name, err)
		}
		if got := teas(t, f); len(got) != 1 { // by the same connection: there is one
			t.Errorf("%s: afterwards there are %v", name, got)
		}
	}
}

func TestTheContextOfOneStatementEndsNoOther(t *testing.T) {
	t.Parallel()
	f := teaFile(t)
	err := f.Read(t.Context(), func(tx *engine.Tx) error {
		for range 200 {
			short, cancel := context.WithCancel(t.Context())
			var name string
			err := tx.With(short).Get("read a tea", `SELECT name FROM tea`, nil, &name)
			cancel()
			if err != nil {
				return err
			}
			const slow = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2000) SELECT count(*) FROM n`
			if n, err := tx.Numbers("count a little", slow); err != nil || n[0] != 2000 {
				return errors.Join(errors.New("the statement behind one whose context had ended was interrupted"), err)
			}
			if err := tx.With(short).Get("read a tea", `SELECT name FROM tea`, nil, &name); !errors.Is(err, context.Canceled) {
				t.Errorf("a statement whose context has ended gave %v", err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestAWriteIsWholeOrNothing(t *testing.T) {
	t.Parallel()
	f := teaFile(t)
	sick := errors.New("sick")
	err := f.Write(t.Context(), func(tx *engine.Tx) error {
		if err := tx.Exec("brew", `INSERT INTO tea VALUES (2, 'mate')`); err != nil {
			return err
		}
		return sick
	})
	if got := teas(t, f); !errors.Is(err, sick) || len(got) != 1 {
		t.Errorf("a write that failed gave %v and left %v", err, got)
	}
	func() {
		defer func() { _ = recover() }()
		_ = f.Write(t.Context(), func(tx *engine.Tx) error {
			if err := tx.Exec("brew", `INSERT INTO tea VALUES (2, 'mate')`); err != nil {
				return err
			}
			panic("a fault of the caller")
		})
		t.Error("the panic was swallowed")
	}()
	ctx, cancel := context.WithCancel(t.Context())
	err = f.Write(ctx, func(tx *engine.Tx) error { // which waits for no writer that a panic left behind
		cancel() // from here on it runs to its end
		return tx.Exec("brew", `INSERT INTO tea VALUES (3, 'sencha')`)
	})
	if got := teas(t, f); err != nil || len(got) != 2 {
		t.Errorf("a write whose caller went gave %v and left %v", err, got)
	}
	if err := f.Write(ctx, func(*engine.Tx) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("a write of a caller who had gone gave %v", err)
	}
	// A constraint that is checked at the commit: the connection must be free again afterwards.
	err = f.Write(t.Context(), func(tx *engine.Tx) error {
		return errors.Join(tx.Exec("defer", `PRAGMA defer_foreign_keys = ON`), tx.Exec("make", `CREATE TABLE leaf (tea INTEGER REFERENCES tea(no))`),
			tx.Exec("orphan", `INSERT INTO leaf VALUES (99)`))
	})
	if err == nil {
		t.Error("an orphan was committed")
	}
	err = f.Write(t.Context(), func(tx *engine.Tx) error { return tx.Exec("brew", `INSERT INTO tea VALUES (4, 'oolong')`) })
	if got := teas(t, f); err != nil || len(got) != 3 {
		t.Errorf("the write behind one that could not be committed gave %v and left %v", err, got)
	}
}

func TestReadersWaitTheirTurn(t *testing.T) {
	t.Parallel()
	f := teaFile(t)
	err := f.Read(t.Context(), func(*engine.Tx) error {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		return f.Read(ctx, func(*engine.Tx) error { return errors.New("two readers have one connection") })
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a read without a connection gave %v", err)
	}
}
