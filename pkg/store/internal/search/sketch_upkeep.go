package search

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/schema"
	"github.com/eunoe-memory/eunoe/pkg/store/sketch"
)

const (
	// followEvery is how often sketches are brought up to date in a process in which nobody searches, so that a search
	// has little to catch up with, and erased vectors leave its memory.
	followEvery = 500 * time.Millisecond
	// centreOf is the number of vectors, the first of the file, whose mean is the centre of all sketches. It is close
	// enough to the mean of all: a sketch only needs about as many vectors on either side.
	centreOf = 1024
	// changesKept is the number of vector changes that stay at least: about as many as a process reads faster than it
	// reads all vectors again.
	changesKept = 1 << 12
)

// build reads all vectors of a bank's record and sketches them.
func (s *Store) build(ctx context.Context, k *sketched) error {
	kind, _ := s.schema.Find(k.key.record)
	// In the order of row numbers, since neighbours in the file are read together.
	find := fmt.Sprintf(`SELECT %[2]s, vector FROM %[1]s WHERE bank = ? ORDER BY %[2]s`, kind.Vectors.Table, kind.Vectors.Number)
	_, holds := s.database.(engine.Distancer)
	began := time.Now()
	err := s.database.Read(ctx, func(tx *engine.Tx) error {
		index := sketch.NewIndex(k.coder)
		edit := index.Edit()
		_, upto, err := changes(tx)
		if err != nil {
			return err
		}
		if holds {
			s.held.begin(k.key, upto)
		}
		var no int64
		var raw sql.RawBytes
		bits := make([]uint64, k.coder.Words())
		err = tx.With(context.WithoutCancel(ctx)).Each("sketch vectors", find, []any{k.key.bank}, func(rows *sql.Rows) error {
			if err := rows.Scan(&no, &raw); err != nil {
				return err
			}
			if k.coder.SketchPacked(raw, bits) {
				edit.Put(no, bits)
				if holds {
					s.held.put(k.key, no, upto, raw, false)
				}
			}
			return ctx.Err()
		})
		if err != nil {
			return err
		}
		edit.Commit()
		k.mu.Lock()
		defer k.mu.Unlock()
		k.index, k.upto = index, upto
		return nil
	})
	if err != nil {
		s.sketches.drop(k)
		s.held.end(k.key)
		return err
	}
	s.config.Log.Info().Str("stage", "store").Str("record", string(k.key.record)).Int("rows", k.snapshot().Rows()).Dur("took", time.Since(began)).
		Msg("vectors of a large bank are sketched")
	return nil
}

// changesThere are the first and the last vector change that the file holds; 0 and 0 when there are none.
const changesThere = `coalesce((SELECT min(seq) FROM vector_changes), 0), coalesce((SELECT max(seq) FROM vector_changes), 0)`

// changes returns the first and the last vector change that the file holds; 0 and 0 when there are none.
func changes(tx *engine.Tx) (first, last int64, err error) {
	err = tx.Get("look for vector changes", "SELECT "+changesThere, nil, &first, &last)
	return first, last, err
}

// update returns the sketches of the vectors as the transaction sees them, or as a later commit left them; nil while
// they are built. What a search finds by them is looked up in its transaction, so nothing of a later commit shows.
// first and last are the changes that the transaction sees.
func (s *Store) update(tx *engine.Tx, k *sketched, first, last int64) (*sketch.Snapshot, error) {
	tx = tx.Apart() // others wait for the lock
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.index == nil {
		return nil, nil
	}
	if last <= k.upto {
		return k.index.Snapshot(), nil
	}
	if first > k.upto+1 { // changes between are gone: too far behind
		k.index = nil
		s.held.end(k.key)
		s.background(func(ctx context.Context) error { return s.build(ctx, k) })
		return nil, nil
	}
	kind, _ := s.schema.Find(k.key.record)
	find := fmt.Sprintf(`SELECT c.no, v.vector FROM (SELECT DISTINCT no FROM vector_changes WHERE seq > ? AND bank = ? AND record = ?) c
LEFT JOIN %s v ON v.%s = c.no AND v.bank = ? ORDER BY c.no`, kind.Vectors.Table, kind.Vectors.Number)
	edit := k.index.Edit()
	bits := make([]uint64, k.coder.Words())
	var changed []int64
	err := tx.Each("read vector changes", find, []any{k.upto, k.key.bank, string(k.key.record), k.key.bank}, func(rows *sql.Rows) error {
		var no int64
		var raw sql.RawBytes
		if err := rows.Scan(&no, &raw); err != nil {
			return err
		}
		if k.coder.SketchPacked(raw, bits) {
			edit.Put(no, bits)
		} else {
			edit.Remove(no)
		}
		changed = append(changed, no)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if _, holds := s.database.(engine.Distancer); holds {
		s.held.drop(k.key, last, changed)
	}
	edit.Commit()
	k.upto = last
	return k.index.Snapshot(), nil
}

// follow brings all sketches up to date every followEvery.
func (s *Store) follow(ctx context.Context) error {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		all := s.sketches.all()
		err := s.database.Read(ctx, func(tx *engine.Tx) error {
			first, last, err := changes(tx)
			if err != nil {
				return err
			}
			for _, k := range all {
				if _, err := s.update(tx, k, first, last); err != nil {
					return err
				}
			}
			return nil
		})
		if ctx.Err() == nil {
			s.database.Warn(err, "following vectors failed; it is tried again")
		}
	}
}

// centre is the setting by which every process sketches vectors: the mean of the first ones.
type centre struct {
	Embedder string        `json:"embedder"`
	Vector   memory.Vector `json:"vector"`
}

const centreKey = "centre"

// coder returns what sketches the file's vectors; nil while the file has too few vectors for a centre.
func (s *Store) coder(tx *engine.Tx) (*sketch.Coder, error) {
	if known := s.sketches.coder(); known != nil {
		return known, nil
	}
	var c centre
	found, err := tx.Setting(centreKey, &c)
	if err != nil || !found {
		return nil, err
	}
	coder := sketch.NewCoder(c.Vector)
	s.sketches.mu.Lock()
	s.sketches.coderOnce = &coder
	s.sketches.mu.Unlock()
	return &coder, nil
}

// Maintain keeps, in a write transaction that changed so many vectors, what sketches rest on: it fixes the centre once there
// are enough vectors, and truncates the list of vector changes when it has become long. It looks for either when as many
// changed as that takes at least.
func (s *Store) Maintain(tx *engine.Tx, changed int) error {
	if s.unlooked.Add(-int64(changed)) > 0 {
		return nil
	}
	var known *sketch.Coder
	var there int
	var first, last int64
	err := tx.Together(
		func(tx *engine.Tx) (err error) {
			known, err = s.coder(tx)
			return err
		},
		func(tx *engine.Tx) (err error) {
			there, err = firstVectors(tx)
			return err
		},
		func(tx *engine.Tx) (err error) {
			first, last, err = changes(tx)
			return err
		},
	)
	if err != nil {
		return err
	}
	switch {
	case known != nil:
		s.unlooked.Store(changesKept / 4)
	case there < centreOf:
		s.unlooked.Store(int64(centreOf - there))
	default:
		err = s.FixCentre(tx)
	}
	if err != nil || last-first < 2*changesKept {
		return err
	}
	return tx.Exec("truncate the list of vector changes", `DELETE FROM vector_changes WHERE seq <= ?`, last-changesKept)
}

// FixCentre stores the centre of the vectors in a write transaction, unless there is one or there are too few vectors.
func (s *Store) FixCentre(tx *engine.Tx) error {
	if lacks, err := s.LacksCentre(tx); !lacks || err != nil {
		return err
	}
	var all []memory.Vector
	for _, find := range []string{`SELECT vector FROM fact_vectors ORDER BY fact LIMIT ?`, `SELECT vector FROM message_vectors ORDER BY message LIMIT ?`} {
		packed, err := engine.Column[[]byte](tx, "read the first vectors", find, centreOf-len(all))
		if err != nil {
			return err
		}
		for _, raw := range packed {
			all = append(all, sketch.Unpack(raw))
		}
	}
	var e schema.Embedder
	if _, err := tx.Setting(schema.EmbedderKey, &e); err != nil {
		return err
	}
	return tx.PutSetting(centreKey, centre{Embedder: e.Name, Vector: sketch.Centre(all)})
}

// LacksCentre reports whether the file has enough vectors for a centre and none is stored.
func (s *Store) LacksCentre(tx *engine.Tx) (bool, error) {
	coder, err := s.coder(tx)
	if err != nil || coder != nil {
		return false, err
	}
	n, err := firstVectors(tx)
	return n >= centreOf, err
}

// firstVectors counts vectors, up to twice as many as a centre takes.
func firstVectors(tx *engine.Tx) (n int, err error) {
	const count = `SELECT (SELECT count(*) FROM (SELECT 1 FROM fact_vectors LIMIT ?1)) + (SELECT count(*) FROM (SELECT 1 FROM message_vectors LIMIT ?1))`
	return n, tx.Get("count vectors", count, []any{centreOf}, &n)
}
