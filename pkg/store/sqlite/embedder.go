package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// embedder is what meta says of the vectors in the file. Used is set with the
// first vector stored.
type embedder struct {
	Name      string `json:"name"`
	Dimension int    `json:"dimension"`
	Used      bool   `json:"used"`
}

const embedderKey = "embedder"

func readEmbedder(ctx context.Context, tx *sql.Tx) (embedder, error) {
	var raw []byte
	var e embedder
	err := tx.QueryRowContext(ctx, `SELECT value FROM meta WHERE key = ?`, embedderKey).Scan(&raw)
	if errors.Is(err, sql.ErrNoRows) {
		return e, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &e)
	}
	if err != nil {
		return e, fmt.Errorf("read which embedder the store is pinned to: %w", err)
	}
	return e, nil
}

func writeEmbedder(ctx context.Context, tx *sql.Tx, e embedder) error {
	raw, err := json.Marshal(e)
	if err == nil {
		_, err = tx.ExecContext(ctx, `INSERT INTO meta (key, value) VALUES (?, ?)
ON CONFLICT (key) DO UPDATE SET value = excluded.value`, embedderKey, string(raw))
	}
	if err != nil {
		return fmt.Errorf("pin the embedder: %w", err)
	}
	return nil
}

// pinEmbedder pins the configured embedder to a file without vectors, or
// compares it with the one that is pinned.
func (db *DB) pinEmbedder(ctx context.Context) error {
	if db.config.Embedder == "" {
		return nil
	}
	return db.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if pinned, err := db.pinned(ctx, tx); pinned || err != nil {
			return err
		}
		return writeEmbedder(ctx, tx, embedder{Name: db.config.Embedder, Dimension: db.config.Dimension})
	})
}

// pinned reports whether the store is pinned to the configured embedder, or
// whether none is configured. The error says that it has vectors of another.
func (db *DB) pinned(ctx context.Context, tx *sql.Tx) (bool, error) {
	if db.config.Embedder == "" {
		return true, nil
	}
	pinned, err := readEmbedder(ctx, tx)
	if err == nil && pinned.Used {
		err = db.compareEmbedder(pinned)
	}
	return err == nil && pinned.Name == db.config.Embedder && pinned.Dimension == db.config.Dimension, err
}

func (db *DB) checkEmbedder(ctx context.Context, tx *sql.Tx) error {
	pinned, err := readEmbedder(ctx, tx)
	if err != nil || db.config.Embedder == "" || !pinned.Used {
		return err
	}
	return db.compareEmbedder(pinned)
}

func (db *DB) compareEmbedder(pinned embedder) error {
	if pinned.Name == db.config.Embedder && pinned.Dimension == db.config.Dimension {
		return nil
	}
	return fmt.Errorf("its vectors are of embedder %q with %d dimensions, and %q with %d is configured: "+
		"configure the former, or embed everything anew with `eunoe rebuild --embed`: %w",
		pinned.Name, pinned.Dimension, db.config.Embedder, db.config.Dimension, memory.ErrConflict)
}

// vectorsOf gives every vector in changes with the model that made it ("" = not said).
func vectorsOf(c memory.Changes, see func(v memory.Vector, model string) error) error {
	for _, f := range c.Facts {
		if f.Vector != nil {
			if err := see(f.Vector, f.Model); err != nil {
				return err
			}
		}
	}
	for _, v := range c.MessageVectors {
		if err := see(v.Vector, v.Model); err != nil {
			return err
		}
	}
	for _, n := range c.Composites {
		if n.Vector != nil {
			if err := see(n.Vector, ""); err != nil {
				return err
			}
		}
	}
	return nil
}

// errVectors marks changes that cannot be stored for their vectors' sake. It
// means memory.ErrConflict.
var errVectors = fmt.Errorf("vector of another embedder: %w", memory.ErrConflict)

// admitVectors compares the vectors of changes with the pinned embedder. The
// first vector of an unpinned file pins its own. A file that is pinned but has
// no vectors yet refuses the whole log that does not fit (stop): the settings
// are wrong, not the write.
func (a *applier) admitVectors(c memory.Changes) (stop bool, err error) {
	err = vectorsOf(c, func(v memory.Vector, model string) error {
		if err := a.loadEmbedder(); err != nil {
			return err
		}
		p := &a.pinned
		if p.Dimension == 0 {
			*p = embedder{Name: model, Dimension: len(v)}
		}
		if len(v) != p.Dimension || (model != "" && p.Name != "" && model != p.Name) {
			stop = !p.Used
			return fmt.Errorf("the store holds vectors of embedder %q with %d dimensions and was given one of %q with %d: %w",
				p.Name, p.Dimension, model, len(v), errVectors)
		}
		if err := v.Check("vector"); err != nil {
			return fmt.Errorf("%w: %w", err, errVectors)
		}
		if !p.Used {
			p.Used = true
			return writeEmbedder(a.ctx, a.tx, *p)
		}
		return nil
	})
	return stop, err
}

func (a *applier) loadEmbedder() (err error) {
	if !a.embedderKnown {
		a.pinned, err = readEmbedder(a.ctx, a.tx)
		a.embedderKnown = err == nil
	}
	return err
}
