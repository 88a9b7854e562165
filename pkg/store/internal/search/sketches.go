package search

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"sync"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/sketch"
)

// sketches are the sketches of vectors that this process holds, by bank and record. They are built in the background
// when they are first needed, and brought up to the state that a search sees before it uses them. The vectors in the
// file are authoritative: sketches only name candidates.
type sketches struct {
	mu        sync.Mutex
	coderOnce *sketch.Coder // nil until the file has a centre, or is not read
	of        map[sketchKey]*sketched
	following bool // the goroutine that keeps them up to date runs
	closed    bool
}

type sketchKey struct {
	bank   int64
	record memory.Record
}

// sketched are the sketches of a bank's facts or messages.
type sketched struct {
	key   sketchKey
	coder sketch.Coder

	mu    sync.Mutex    // held while they are brought up to date
	index *sketch.Index // nil while it is built
	upto  int64         // the vector change up to which it is current
}

// Sketches returns what this process holds of sketches.
func (s *Store) Sketches() query.Sketches {
	var out query.Sketches
	banks := map[int64]bool{}
	for _, k := range s.sketches.all() {
		if snap := k.snapshot(); snap != nil {
			banks[k.key.bank] = true
			out.Rows += snap.Rows()
			out.Bytes += snap.Bytes()
		} else {
			out.Building++
		}
	}
	out.Banks = len(banks)
	held, bytes := s.held.count()
	out.Held, out.Bytes = held, out.Bytes+bytes+s.rows.size()
	return out
}

func (s *sketches) all() []*sketched {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.of))
}

func (k *sketched) snapshot() *sketch.Snapshot {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.index == nil {
		return nil
	}
	return k.index.Snapshot()
}

// Warm begins to build the sketches of all large banks and returns at once. Until they are built, searches compare
// every vector.
func (s *Store) Warm() {
	s.background(func(ctx context.Context) error {
		return s.database.Read(ctx, func(tx *engine.Tx) error {
			const large = `SELECT bank, record FROM row_counts WHERE n >= ? AND record IN ('fact', 'message') ORDER BY n DESC, bank, record`
			coder, err := s.coder(tx)
			if err != nil || coder == nil {
				return err
			}
			return tx.Each("list large banks", large, []any{s.config.SketchFrom}, func(rows *sql.Rows) error {
				var key sketchKey
				if err := rows.Scan(&key.bank, &key.record); err != nil {
					return err
				}
				s.sketched(key, *coder)
				return nil
			})
		})
	})
}

// sketched returns the sketches of a bank's record, and begins to build them when there are none yet; nil once the
// store closes.
func (s *Store) sketched(key sketchKey, coder sketch.Coder) *sketched {
	all := &s.sketches
	all.mu.Lock()
	k := all.of[key]
	if k != nil || all.closed {
		all.mu.Unlock()
		return k
	}
	k = &sketched{key: key, coder: coder}
	if all.of == nil {
		all.of = map[sketchKey]*sketched{}
	}
	all.of[key] = k
	follow := !all.following
	all.following = true
	all.mu.Unlock()
	s.background(func(ctx context.Context) error { return s.build(ctx, k) })
	if follow {
		s.background(s.follow)
	}
	return k
}

// drop removes sketches, to be built again when they are needed.
func (s *sketches) drop(k *sketched) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of[k.key] == k {
		delete(s.of, k.key)
	}
}

// background runs fn until it ends or the file closes, and logs its error.
func (s *Store) background(fn func(context.Context) error) {
	s.database.Go(func(ctx context.Context) {
		if err := fn(ctx); ctx.Err() == nil {
			s.database.Warn(err, "reading vectors failed; searches compare all of them until it works")
		}
	})
}

// End releases the sketches and vocabularies. The owner calls it before it closes the file.
func (s *Store) End() {
	s.vocabularies.end()
	s.held.close()
	s.rows.close()
	s.sketches.mu.Lock()
	defer s.sketches.mu.Unlock()
	s.sketches.closed = true
	s.sketches.of = nil
}

// coder returns what sketches the file's vectors; nil while this process has not read the centre.
func (s *sketches) coder() *sketch.Coder {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.coderOnce
}
