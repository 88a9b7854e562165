// Package sqlite keeps a store in one SQLite file: what the log of messages and writes amounts to, ready to be searched.
// The file can be deleted and rebuilt from the log.
//
// One process opens it for writing, the consolidator; others open it read-only. This package opens and copies files; what
// is in them is the business of pkg/store/internal, the same for every engine.
package sqlite

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/projection"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/schema"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/search"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite/internal/file"
)

// DB is an open store. It is safe for concurrent use. Closing it scrubs a small file from which something was erased.
type DB = projection.DB

//go:embed migrations/*.sql
var embedded embed.FS

// migrations are the *.sql files of this program, numbered from 0001.
func migrations() fs.FS {
	files, err := fs.Sub(embedded, "migrations")
	if err != nil {
		panic(err) // the name is a constant: it cannot be wrong
	}
	return files
}

// Open opens the store at cfg.Path, creates or migrates it, and starts its checkpoints; Close ends them. A path that
// cannot be written, and a read-only store that does not exist, are memory.ErrUnavailable; a store of a newer program,
// or of another embedder, is memory.ErrConflict.
func Open(cfg Config) (*DB, error) {
	o, err := open(cfg, schema.Default(), migrations())
	return o.db, err
}

func open(cfg Config, s schema.Schema, migrations fs.FS) (opening, error) {
	if err := cfg.Validate(); err != nil {
		return opening{}, err
	}
	fail := func(err error) error {
		if file.Damaged(err) {
			return fmt.Errorf("open the store %s: the file is damaged; `eunoe rebuild` makes it anew from the log: %w", cfg.Path, err)
		}
		return fmt.Errorf("open the store %s: %w", cfg.Path, err)
	}
	o := opening{config: cfg}
	var err error
	if o.migrations, err = file.ReadMigrations(migrations); err != nil {
		return opening{}, fail(err)
	}
	if o.file, err = file.Open(cfg.file()); err != nil {
		return opening{}, fail(err)
	}
	o.db = projection.New(projection.Config{Embedder: cfg.Embedder, Dimension: cfg.Dimension,
		Search: search.Config{SketchFrom: cfg.SketchFrom, ListUpTo: cfg.ListUpTo, Log: cfg.Log}}, o.file, s)
	prepare := o.prepare
	if cfg.ReadOnly {
		prepare = o.checkReadOnly
	}
	if err := whileLocked(cfg.Busy, prepare); err != nil {
		return opening{}, errors.Join(fail(err), o.file.Close())
	}
	return o, nil
}

// opening is a store that is being opened.
type opening struct {
	config     Config
	file       *file.File
	migrations file.Migrations
	db         *DB
}

// whileLocked runs prepare again while another process holds the file, until the time is over. The stages of a new
// deployment start together and all of them make the file; SQLite does not wait for a lock where it turns the
// write-ahead log on.
func whileLocked(most time.Duration, prepare func(context.Context) error) error {
	_, err := backoff.Retry(context.Background(), func() (struct{}, error) {
		err := prepare(context.Background())
		if err != nil && !file.Locked(err) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(backoff.NewConstantBackOff(10*time.Millisecond)), backoff.WithMaxElapsedTime(most))
	return err
}

// prepare makes a writable file ready and starts its background work.
func (o opening) prepare(ctx context.Context) error {
	ready, err := o.ready(ctx)
	if err != nil {
		return err
	}
	if !ready {
		if err := o.file.Migrate(ctx, o.migrations); err != nil {
			return err
		}
		if err := o.db.Prepare(ctx); err != nil {
			return err
		}
	}
	return o.file.Start(ctx)
}

// ready reports whether the file can be used as it is. It only reads, so a process that starts does not wait for one
// that holds the file, or that was frozen within a transaction.
func (o opening) ready(ctx context.Context) (ready bool, err error) {
	if empty, err := o.file.Empty(ctx); empty || err != nil {
		return false, err
	}
	err = o.file.Read(ctx, func(tx *engine.Tx) error {
		err := o.migrations.Check(tx)
		if errors.Is(err, memory.ErrUnavailable) { // an older version
			return nil
		}
		if err == nil {
			ready, err = o.db.Ready(tx)
		}
		return err
	})
	return ready && err == nil, err
}

func (o opening) checkReadOnly(ctx context.Context) error {
	if _, err := os.Stat(o.config.Path); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no store yet; the consolidator makes it: %w", memory.ErrUnavailable)
	}
	return o.file.Read(ctx, func(tx *engine.Tx) error {
		if err := o.migrations.Check(tx); err != nil {
			return err
		}
		return o.db.CheckEmbedder(tx)
	})
}
