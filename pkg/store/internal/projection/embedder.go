package projection

import (
	"context"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/schema"
)

func readEmbedder(tx *engine.Tx) (e schema.Embedder, err error) {
	if _, err = tx.Setting(schema.EmbedderKey, &e); err != nil {
		err = fmt.Errorf("read which embedder the store is pinned to: %w", err)
	}
	return e, err
}

// pinEmbedder pins a store without vectors to the configured embedder, or compares it with the pinned one.
func (db *DB) pinEmbedder(ctx context.Context) error {
	if db.config.Embedder == "" {
		return nil
	}
	return db.database.Write(ctx, func(tx *engine.Tx) error {
		if pinned, err := db.pinned(tx); pinned || err != nil {
			return err
		}
		return tx.PutSetting(schema.EmbedderKey, schema.Embedder{Name: db.config.Embedder, Dimension: db.config.Dimension})
	})
}

// pinned reports whether the store is pinned to the configured embedder, or none is configured. A store with vectors of
// another embedder is an error.
func (db *DB) pinned(tx *engine.Tx) (bool, error) {
	if db.config.Embedder == "" {
		return true, nil
	}
	e, err := readEmbedder(tx)
	if err == nil && e.Used {
		err = db.compareEmbedder(e)
	}
	return err == nil && e.Name == db.config.Embedder && e.Dimension == db.config.Dimension, err
}

// CheckEmbedder refuses a store with vectors of another embedder than the configured one: memory.ErrConflict.
func (db *DB) CheckEmbedder(tx *engine.Tx) error {
	e, err := readEmbedder(tx)
	if err != nil || db.config.Embedder == "" || !e.Used {
		return err
	}
	return db.compareEmbedder(e)
}

func (db *DB) compareEmbedder(e schema.Embedder) error {
	if e.Name == db.config.Embedder && e.Dimension == db.config.Dimension {
		return nil
	}
	return fmt.Errorf("its vectors are of embedder %q with %d dimensions, and %q with %d is configured: "+
		"configure the former, or embed everything anew with `eunoe rebuild --embed`: %w",
		e.Name, e.Dimension, db.config.Embedder, db.config.Dimension, memory.ErrConflict)
}

// eachVector calls fn for every vector in changes, with the model that made it ("" = unknown).
func eachVector(c memory.Changes, fn func(v memory.Vector, model string) error) error {
	for _, f := range c.Facts {
		if f.Vector != nil {
			if err := fn(f.Vector, f.Model); err != nil {
				return err
			}
		}
	}
	for _, v := range c.MessageVectors {
		if err := fn(v.Vector, v.Model); err != nil {
			return err
		}
	}
	for _, n := range c.Composites {
		if n.Vector != nil {
			if err := fn(n.Vector, ""); err != nil {
				return err
			}
		}
	}
	return nil
}

// errVectors marks changes that cannot be stored because of their vectors. It means memory.ErrConflict.
var errVectors = fmt.Errorf("vector of another embedder: %w", memory.ErrConflict)

// admitVectors compares the vectors of changes with the pinned embedder. The first vector of an unpinned file pins the
// file to its own. A file that is pinned and has no vectors yet refuses the whole log that does not fit (stop): then the
// settings are wrong, not the write.
func (a *applier) admitVectors(c memory.Changes) (stop bool, err error) {
	err = eachVector(c, func(v memory.Vector, model string) error {
		if err := a.readEmbedder(); err != nil {
			return err
		}
		e := a.embedder
		if e.Dimension == 0 {
			*e = schema.Embedder{Name: model, Dimension: len(v)}
		}
		if len(v) != e.Dimension || (model != "" && e.Name != "" && model != e.Name) {
			stop = !e.Used
			return fmt.Errorf("the store holds vectors of embedder %q with %d dimensions and was given one of %q with %d: %w",
				e.Name, e.Dimension, model, len(v), errVectors)
		}
		if err := v.Check("vector"); err != nil {
			return fmt.Errorf("%w: %w", err, errVectors)
		}
		if !e.Used {
			e.Used = true
			return a.tx.PutSetting(schema.EmbedderKey, *e)
		}
		return nil
	})
	return stop, err
}

// readEmbedder reads, once in the transaction, which embedder the store is pinned to.
func (a *applier) readEmbedder() error {
	if a.embedder != nil {
		return nil
	}
	e, err := readEmbedder(a.tx)
	if err == nil {
		a.embedder = &e
	}
	return err
}
