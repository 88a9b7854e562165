package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func TestOpen(t *testing.T) {
	t.Parallel()
	t.Run("a store of a newer program is refused with both versions", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "eunoe.db")
		closeStore(t, openStore(t, sqlite.DefaultConfig(path)))
		raw, err := sql.Open("sqlite3", "file:"+path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := raw.Exec("PRAGMA user_version = 99"); err != nil {
			t.Fatal(err)
		}
		if err := raw.Close(); err != nil {
			t.Fatal(err)
		}
		_, err = sqlite.Open(sqlite.DefaultConfig(path))
		if !errors.Is(err, memory.ErrConflict) || !strings.Contains(err.Error(), "version 99") || !strings.Contains(err.Error(), "knows version") {
			t.Errorf("open gave %v", err)
		}
	})
	t.Run("a store that is damaged is refused, and the error says what helps", func(t *testing.T) {
		t.Parallel()
		for name, damage := range map[string]func([]byte) []byte{
			"its first page is torn": func(b []byte) []byte { clear(b[:4096]); return b },
			"it is cut":              func(b []byte) []byte { return b[:len(b)/3] },
		} {
			path := filepath.Join(t.TempDir(), "eunoe.db")
			closeStore(t, openStore(t, sqlite.DefaultConfig(path)))
			file, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, damage(file), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := sqlite.Open(sqlite.DefaultConfig(path)); err == nil || !strings.Contains(err.Error(), "damaged") || !strings.Contains(err.Error(), "eunoe rebuild") {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
	t.Run("a store that another process has locked is opened, and written once the lock is released", func(t *testing.T) {
		t.Parallel()
		ctx, cfg := context.Background(), sqlite.DefaultConfig(filepath.Join(t.TempDir(), "eunoe.db"))
		cfg.Embedder, cfg.Dimension, cfg.Busy = "test", 8, 20*time.Millisecond
		closeStore(t, openStore(t, cfg))
		holder, err := sql.Open("sqlite3", "file:"+cfg.Path+"?_txlock=immediate")
		if err != nil {
			t.Fatal(err)
		}
		defer holder.Close() //nolint:errcheck // nothing is expected of it any more
		held, err := holder.Begin()
		if err != nil {
			t.Fatal(err)
		}
		db := openStore(t, cfg)
		if err := db.ApplyMessages(ctx, 0, 1, nil); !errors.Is(err, memory.ErrUnavailable) {
			t.Errorf("writing to a store that is held gave %v", err)
		}
		if err := held.Rollback(); err != nil {
			t.Fatal(err)
		}
		if err := db.ApplyMessages(ctx, 0, 1, nil); err != nil {
			t.Error(err)
		}
		closeStore(t, db)
	})
	t.Run("all of several that make one new store at the same time have it", func(t *testing.T) {
		t.Parallel()
		for round := range 40 {
			cfg := sqlite.DefaultConfig(filepath.Join(t.TempDir(), "eunoe.db"))
			cfg.Embedder, cfg.Dimension = "test", 8
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					db, err := sqlite.Open(cfg)
					if err != nil {
						t.Errorf("round %d: %v", round, err)
						return
					}
					if _, _, err := db.Applied(t.Context()); err != nil {
						t.Errorf("round %d: %v", round, err)
					}
					if err := db.Close(); err != nil {
						t.Errorf("round %d: %v", round, err)
					}
				})
			}
			all.Wait()
		}
	})
	t.Run("a path that cannot be written is named", func(t *testing.T) {
		t.Parallel()
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{filepath.Join(file, "eunoe.db"), filepath.Dir(file)} {
			_, err := sqlite.Open(sqlite.DefaultConfig(path))
			if !errors.Is(err, memory.ErrUnavailable) || !strings.Contains(err.Error(), path) {
				t.Errorf("open %s gave %v; want unavailable with the path", path, err)
			}
		}
	})
	t.Run("a wrong setting is named", func(t *testing.T) {
		t.Parallel()
		_, err := sqlite.Open(sqlite.Config{Dimension: 3})
		for _, want := range []string{"path", "embedder", "readers", "busy", "checkpoint", "caches"} {
			if err == nil || !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), want) {
				t.Errorf("open gave %v; want it to name %s", err, want)
			}
		}
	})
	t.Run("a path may contain any character", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "deep", "a b?c#d%41&e=f.db")
		closeStore(t, openStore(t, sqlite.DefaultConfig(path)))
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("the file's mode is %v; want it private", info.Mode())
		}
	})
	t.Run("closing a store twice has the same result", func(t *testing.T) {
		t.Parallel()
		db := openStore(t, sqlite.DefaultConfig(filepath.Join(t.TempDir(), "eunoe.db")))
		closeStore(t, db)
		closeStore(t, db)
	})
}

func openStore(t *testing.T, c sqlite.Config) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func closeStore(t *testing.T, db *sqlite.DB) {
	t.Helper()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "eunoe.db")
	config := sqlite.DefaultConfig(path)
	config.ReadOnly = true
	if _, err := sqlite.Open(config); !errors.Is(err, memory.ErrUnavailable) {
		t.Fatalf("a store that is not there gave %v; want unavailable", err)
	}
	writer := openStore(t, sqlite.DefaultConfig(path))
	reader := openStore(t, config)
	events := benchMessages(rand.New(rand.NewPCG(1, 2)), 0, 3)
	if err := writer.ApplyMessages(ctx, 0, 3, events); err != nil {
		t.Fatal(err)
	}
	messages, _, err := reader.Applied(ctx)
	if err != nil || messages != 3 {
		t.Errorf("the reader sees %d, %v; want 3", messages, err)
	}
	if err := reader.ApplyMessages(ctx, 3, 4, nil); !errors.Is(err, memory.ErrUnavailable) {
		t.Errorf("writing gave %v; want unavailable", err)
	}
	// The file is unchanged after its writer has closed.
	closeStore(t, writer)
	if messages, _, err := reader.Applied(ctx); err != nil || messages != 3 {
		t.Errorf("without the writer the reader sees %d, %v; want 3", messages, err)
	}
}

func TestAReaderSeesOneStateWhileTheWriterCommits(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	config := sqlite.DefaultConfig(filepath.Join(t.TempDir(), "eunoe.db"))
	config.Checkpoint = 5 * time.Millisecond
	db := openStore(t, config)
	const rounds, batch = 40, 25
	r := rand.New(rand.NewPCG(1, 2))
	if err := db.ApplyMessages(ctx, 0, batch, benchMessages(r, 0, batch)); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		defer close(done)
		for i := 1; i < rounds; i++ {
			if err := db.ApplyMessages(ctx, uint64(i*batch), uint64((i+1)*batch), benchMessages(r, i*batch, batch)); err != nil {
				done <- err
				return
			}
		}
	}()
	for finished := false; !finished; {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			finished = true
		default:
		}
		err := db.Read(ctx, "b", func(v query.Reader) error {
			seen, _, err := v.Applied()
			if err != nil {
				return err
			}
			c, err := v.Conservation()
			if err == nil && uint64(c.Pending) != seen {
				err = fmt.Errorf("%d messages at position %d", c.Pending, seen)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestWriteAheadLogIsBounded(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	config := sqlite.DefaultConfig(filepath.Join(t.TempDir(), "eunoe.db"))
	config.Checkpoint = 10 * time.Millisecond
	db := openStore(t, config)
	events := benchMessages(rand.New(rand.NewPCG(1, 2)), 0, 2000)
	for from := 0; from < len(events); from += 500 {
		if err := db.ApplyMessages(ctx, uint64(from), uint64(from+500), events[from:from+500]); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the write-ahead log is empty", func() bool {
		info, err := os.Stat(config.Path + "-wal")
		return err == nil && info.Size() == 0
	})
}

func TestTheLogIsCheckpointedWhileTheWriterWorks(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	config := sqlite.DefaultConfig(filepath.Join(t.TempDir(), "eunoe.db"))
	config.Checkpoint = 100 * time.Millisecond
	db := openStore(t, config)
	size := func(path string) int64 {
		info, err := os.Stat(path)
		if err != nil {
			t.Error(err)
			return 0
		}
		return info.Size()
	}
	eventually(t, "the write-ahead log is empty", func() bool { return size(config.Path+"-wal") == 0 })
	before := size(config.Path)
	if err := db.ApplyMessages(ctx, 0, 1000, benchMessages(rand.New(rand.NewPCG(1, 2)), 0, 1000)); err != nil {
		t.Fatal(err)
	}
	w := memory.Write{Bank: "b", Kind: memory.WriteWindow, Seq: 1, Op: "op", Time: benchEpoch}
	err := db.ApplyWrites(ctx, 0, 1, []memory.Write{w}, func(plan.View, memory.Write) (memory.Changes, error) {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for range 1500 {
			if size(config.Path) > before {
				return memory.Changes{}, nil
			}
			<-tick.C
		}
		return memory.Changes{}, fmt.Errorf("while a write goes on, what was committed is not copied into the file: %w", memory.ErrDeadline)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAnErasureIsScrubbedByTheNextOpening(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	config := sqlite.DefaultConfig(filepath.Join(t.TempDir(), "eunoe.db"))
	db := openStore(t, config)
	apply(t, db, benchMessages(rand.New(rand.NewPCG(1, 2)), 0, 3), memory.Changes{})
	apply(t, db, nil, memory.Changes{Forgotten: &memory.Forgotten{Messages: []uint64{2}}})
	closeStore(t, db)
	var before, after bytes.Buffer
	again := openStore(t, config)
	if err := again.Dump(ctx, &before); err != nil {
		t.Fatal(err)
	}
	closeStore(t, again)
	raw, err := sql.Open("sqlite3", "file:"+config.Path)
	if err != nil {
		t.Fatal(err)
	}
	// A crash before the scrub leaves the pending mark.
	if _, err := raw.Exec("INSERT INTO meta (key, value) VALUES ('scrub', '1')"); err != nil {
		t.Fatal(err)
	}
	config.Checkpoint = 5 * time.Millisecond
	last := openStore(t, config)
	eventually(t, "the note is gone", func() bool {
		var n int
		return raw.QueryRow("SELECT count(*) FROM meta WHERE key = 'scrub'").Scan(&n) == nil && n == 0
	})
	if err := raw.Close(); err != nil {
		t.Fatal(err)
	}
	if err := last.Dump(ctx, &after); err != nil {
		t.Fatal(err)
	}
	if before.String() != after.String() {
		t.Error("the scrub changed the content")
	}
}

func TestAFileOfBeforeIsScrubbedOnce(t *testing.T) {
	t.Parallel()
	config := sqlite.DefaultConfig(filepath.Join(t.TempDir(), "eunoe.db"))
	config.Checkpoint = 5 * time.Millisecond
	db := openStore(t, config)
	apply(t, db, benchMessages(rand.New(rand.NewPCG(1, 2)), 0, 3), memory.Changes{})
	closeStore(t, db)
	raw, err := sql.Open("sqlite3", "file:"+config.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = raw.Close() }()
	unused := func() (pages int) {
		if err := raw.QueryRow("PRAGMA freelist_count").Scan(&pages); err != nil {
			t.Fatal(err)
		}
		return pages
	}
	if _, err := raw.Exec("CREATE TABLE dropped (x); INSERT INTO dropped VALUES (zeroblob(100000)); DROP TABLE dropped; PRAGMA user_version = 19"); err != nil {
		t.Fatal(err)
	}
	if unused() == 0 {
		t.Fatal("the file has no unused pages: the test would see no scrub")
	}
	again := openStore(t, config)
	eventually(t, "the file has no unused pages", func() bool { return unused() == 0 })
	closeStore(t, again)
}
