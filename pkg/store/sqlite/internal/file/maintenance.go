package file

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// largeLog is the size of the write-ahead log, in bytes, from which it is truncated although writes go on.
const largeLog = 32 << 20

// Start begins the background work of a migrated file, which Close ends: checkpoints, and the scrub that an erasure
// asks for. A scrub that was pending when the file was last open is done first. A read-only file has none.
func (f *File) Start(ctx context.Context) error {
	if f.writer == nil {
		return nil
	}
	err := f.Read(ctx, func(tx *engine.Tx) error {
		pending, err := tx.ScrubRequested()
		f.scrubbing.Store(pending)
		return err
	})
	if err == nil {
		f.Go(f.maintain)
	}
	return err
}

// Erased wakes the scrub that a committed transaction requested.
func (f *File) Erased() { signal(f.erased) }

// maintain checkpoints the write-ahead log until the file closes, at most once a period and only after commits, merges
// the text indexes once nothing is written for a period, and scrubs the file after something was erased.
func (f *File) maintain(stop context.Context) {
	tick := time.NewTicker(f.config.Checkpoint)
	defer tick.Stop()
	checkpointing, scrubbed, merged := false, false, true
	var next time.Time // no scrub before
	ctx := context.WithoutCancel(stop)
	for {
		select {
		case <-stop.Done():
			f.lastScrub(ctx)
			return
		case <-f.erased:
			f.scrubbing.Store(true)
		case <-tick.C:
		}
		select {
		case <-f.dirty:
			checkpointing, merged = true, false
		default:
			if !merged { // nothing was written for a period
				done, err := f.mergeSegments(ctx)
				f.Warn(err, "merging segments of the text indexes failed; it is tried again after the next write")
				checkpointing, merged = true, done || err != nil
			}
		}
		if f.scrubbing.Load() && !time.Now().Before(next) {
			took, err := f.scrub(ctx)
			f.Warn(err, "scrubbing after an erasure failed; it is tried again")
			// Erasures in succession share a scrub, which takes a tenth of the writer's time at most.
			next = time.Now().Add(max(10*took, f.config.Checkpoint))
			checkpointing, scrubbed = true, true
		}
		if checkpointing {
			done, err := f.checkpoint(ctx, scrubbed)
			f.Warn(err, "checkpoint failed; the next one tries again")
			checkpointing, scrubbed = !done, scrubbed && !done
		}
	}
}

// checkpoint copies the write-ahead log into the file while the writer goes on, which takes as long as the disk takes,
// and truncates the log when that is quick, because nothing was written meanwhile. It truncates a large log in any
// case, and one that may hold erased text (truncate). done is false while the log is not empty.
func (f *File) checkpoint(ctx context.Context, truncate bool) (done bool, err error) {
	if _, err := f.checkpointer.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)"); err != nil {
		return false, Failure(fmt.Errorf("checkpoint while the writer works: %w", err))
	}
	if !truncate && len(f.dirty) > 0 && sizeOf(f.config.Path+"-wal") < largeLog {
		return false, nil
	}
	return f.truncate(ctx)
}

// truncate copies the rest of the write-ahead log into the file and truncates it. It runs on the writer's connection,
// so it never meets a transaction of this process's writer. done is false when a reader still needs part of the log.
func (f *File) truncate(ctx context.Context) (done bool, err error) {
	conn, err := f.writer.Conn(ctx)
	if err != nil {
		return false, fmt.Errorf("checkpoint: %w", err)
	}
	defer func() { _ = conn.Close() }()
	// It waits for readers, and the writer with it: not for long.
	if err := setBusy(ctx, conn, min(50*time.Millisecond, f.config.Busy)); err != nil {
		return false, err
	}
	var busy, pages, copied int
	err = conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &copied)
	if again := setBusy(ctx, conn, f.config.Busy); err == nil {
		err = again
	}
	if err != nil {
		return false, Failure(fmt.Errorf("checkpoint: %w", err))
	}
	return busy == 0, nil
}

func setBusy(ctx context.Context, conn *sql.Conn, d time.Duration) error {
	_, err := conn.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", d.Milliseconds()))
	return err
}

// lastScrub scrubs a small file before it closes; a large one waits until it is opened again.
func (f *File) lastScrub(ctx context.Context) {
	select {
	case <-f.erased:
		f.scrubbing.Store(true)
	default:
	}
	if f.scrubbing.Load() && sizeOf(f.config.Path) <= inMemory {
		_, err := f.scrub(ctx)
		f.Warn(err, "scrubbing after an erasure failed; it is done when the store opens again")
	}
}

// sizeOf returns the size of a file in bytes, 0 when it cannot be read.
func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
