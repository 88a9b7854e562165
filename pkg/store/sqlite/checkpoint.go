package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"time"
)

// largeLog is the size of the write-ahead log, in bytes, from which on it is cut
// though writes go on.
const largeLog = 32 << 20

// maintain folds the write-ahead log into the file until the store closes: at
// most once a period, and only after commits; and scrubs the file after
// something was erased.
func (db *DB) maintain() {
	defer db.stopped.Done()
	tick := time.NewTicker(db.config.Checkpoint)
	defer tick.Stop()
	folding, scrubbed := false, false
	var next time.Time // no scrub before
	ctx := context.Background()
	for {
		select {
		case <-db.stop:
			db.lastScrub(ctx)
			return
		case <-db.erased:
			db.scrubbing.Store(true)
		case <-tick.C:
		}
		select {
		case <-db.dirty:
			folding = true
		default:
		}
		if db.scrubbing.Load() && !time.Now().Before(next) {
			took, err := db.scrub(ctx)
			db.warn(err, "scrubbing after an erasure failed; it is tried again")
			// Erasures that follow each other share a scrub: it is given a
			// tenth of the writer's time at most.
			next = time.Now().Add(max(10*took, db.config.Checkpoint))
			folding, scrubbed = true, true
		}
		if folding {
			done, err := db.fold(ctx, scrubbed)
			db.warn(err, "checkpoint failed; the next one tries again")
			folding, scrubbed = !done, scrubbed && !done
		}
	}
}

// fold copies the write-ahead log into the file beside the writer, which takes
// as long as the disk takes, and cuts the log where that is quick: when no more
// was written meanwhile. A large log, and one that may hold what was erased, it
// cuts in any case. done is false while there is a log.
func (db *DB) fold(ctx context.Context, cut bool) (done bool, err error) {
	if _, err := db.folder.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)"); err != nil {
		return false, failure(fmt.Errorf("checkpoint beside the writer: %w", err))
	}
	if !cut && len(db.dirty) > 0 && sizeOf(db.config.Path+"-wal") < largeLog {
		return false, nil
	}
	return db.checkpoint(ctx)
}

func (db *DB) warn(err error, what string) {
	if err != nil {
		db.log.Warn().Err(err).Str("stage", "store").Msg(what)
	}
}

// checkpoint copies what is left of the write-ahead log into the file and cuts
// it to nothing. It runs on the writer's connection, so it never meets a
// transaction of this process's writer. done is false when a reader still needs
// a part of it: what could be copied was copied.
func (db *DB) checkpoint(ctx context.Context) (done bool, err error) {
	conn, err := db.writer.Conn(ctx)
	if err != nil {
		return false, fmt.Errorf("checkpoint: %w", err)
	}
	defer func() { _ = conn.Close() }()
	// Readers are waited for, and the writer with them: not for long.
	if err := db.busy(ctx, conn, min(50*time.Millisecond, db.config.Busy)); err != nil {
		return false, err
	}
	var busy, pages, copied int
	err = conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &copied)
	if again := db.busy(ctx, conn, db.config.Busy); err == nil {
		err = again
	}
	if err != nil {
		return false, failure(fmt.Errorf("checkpoint: %w", err))
	}
	return busy == 0, nil
}

func (db *DB) busy(ctx context.Context, conn *sql.Conn, d time.Duration) error {
	_, err := conn.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", d.Milliseconds()))
	return err
}

// scrubKey stands in meta from the transaction that erases to the scrub after it.
const scrubKey = "scrub"

// inMemory is the size of a file, in bytes, up to which it is rewritten in
// memory, and at once when the store closes.
const inMemory = 256 << 20

// scrub writes the whole file anew. SQLite overwrites what is deleted, but
// where it moved rows from page to page before, copies stay in the unused part
// of pages, and only this takes them away. The time grows with the file.
func (db *DB) scrub(ctx context.Context) (took time.Duration, err error) {
	conn, err := db.writer.Conn(ctx)
	if err != nil {
		return 0, fmt.Errorf("scrub: %w", err)
	}
	defer func() { _ = conn.Close() }()
	began := time.Now()
	steps := []string{"VACUUM", "DELETE FROM meta WHERE key = '" + scrubKey + "'"}
	if sizeOf(db.config.Path) > inMemory {
		// What is copied is what stays: a temporary file holds nothing erased.
		steps = append([]string{"PRAGMA temp_store = FILE"}, steps...)
		defer func() {
			if _, again := conn.ExecContext(ctx, "PRAGMA temp_store = MEMORY"); err == nil {
				err = again
			}
		}()
	}
	for _, s := range steps {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			return time.Since(began), failure(fmt.Errorf("scrub: %w", err))
		}
	}
	db.scrubbing.Store(false)
	return time.Since(began), nil
}

// lastScrub scrubs a small file before the store closes; a large one waits for
// the next opening.
func (db *DB) lastScrub(ctx context.Context) {
	select {
	case <-db.erased:
		db.scrubbing.Store(true)
	default:
	}
	if db.scrubbing.Load() && sizeOf(db.config.Path) <= inMemory {
		_, err := db.scrub(ctx)
		db.warn(err, "scrubbing after an erasure failed; it is done when the store opens again")
	}
}

// sizeOf is the size of a file in bytes, 0 where it cannot be told.
func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// oweScrub notes that something was erased and its copies are still to go.
func (a *applier) oweScrub() error {
	return a.exec("note the erasure", `INSERT INTO meta (key, value) VALUES (?, '1') ON CONFLICT DO NOTHING`, scrubKey)
}

// recallScrub takes up a scrub that was owed when the store was last open.
func (db *DB) recallScrub(ctx context.Context) error {
	return db.read(ctx, func(tx *sql.Tx) error {
		var owed bool
		err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM meta WHERE key = ?)`, scrubKey).Scan(&owed)
		if owed {
			db.scrubbing.Store(true)
		}
		return err
	})
}
