package sqlite

import (
	"context"
	"database/sql"
	"sync"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/store/sketch"
)

// sketches are the sketches of vectors that this process holds, by bank and
// record. They are made from the file when they are first wanted, beside the
// searches, and brought up to the state that a search sees before it looks at
// them. The vectors in the file stay the truth: sketches only name candidates.
type sketches struct {
	mu     sync.Mutex
	coder  *sketch.Coder // nil until the file has a centre
	of     map[sketchKey]*sketched
	begun  bool // the follower runs
	closed bool
}

type sketchKey struct {
	bank   int64
	record memory.Record
}

// sketched are the sketches of a bank's facts or messages.
type sketched struct {
	key   sketchKey
	coder sketch.Coder

	mu    sync.Mutex    // held by whoever brings them up to date
	index *sketch.Index // nil while it is made
	upto  int64         // vector_changes up to which it is
}

// vectorTables name the vectors of a record and the column that numbers them.
var vectorTables = map[memory.Record]struct{ table, number string }{
	memory.RecordFact:    {"fact_vectors", "fact"},
	memory.RecordMessage: {"message_vectors", "message"},
}

// Sketches says what this process holds of sketches.
func (db *DB) Sketches() query.Sketches {
	db.sketches.mu.Lock()
	held := make([]*sketched, 0, len(db.sketches.of))
	for _, k := range db.sketches.of {
		held = append(held, k)
	}
	db.sketches.mu.Unlock()
	var out query.Sketches
	banks := map[int64]bool{}
	for _, k := range held {
		if s := k.snapshot(); s != nil {
			banks[k.key.bank] = true
			out.Rows += s.Rows()
			out.Bytes += s.Bytes()
		} else {
			out.Building++
		}
	}
	out.Banks = len(banks)
	return out
}

func (k *sketched) snapshot() *sketch.Snapshot {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.index == nil {
		return nil
	}
	return k.index.Snapshot()
}

// Warm has the sketches made of all banks that are large enough. It returns at
// once; until they are made, searches compare every vector.
func (db *DB) Warm() {
	db.background(func(ctx context.Context) error {
		return db.read(ctx, func(tx *sql.Tx) error {
			const large = `SELECT bank, record FROM row_counts WHERE n >= ? AND record IN ('fact', 'message') ORDER BY n DESC, bank, record`
			coder, err := db.coderOf(ctx, tx)
			if err != nil || coder == nil {
				return err
			}
			return eachRow(ctx, tx, "list large banks", large, []any{db.config.Sketched}, func(rows *sql.Rows) error {
				var key sketchKey
				if err := rows.Scan(&key.bank, &key.record); err != nil {
					return err
				}
				db.sketchedOf(key, *coder)
				return nil
			})
		})
	})
}

// sketchedOf gives the sketches of a bank's record, and begins to make them
// when there are none yet.
func (db *DB) sketchedOf(key sketchKey, coder sketch.Coder) *sketched {
	s := &db.sketches
	s.mu.Lock()
	k := s.of[key]
	if k != nil || s.closed {
		s.mu.Unlock()
		return k
	}
	k = &sketched{key: key, coder: coder}
	if s.of == nil {
		s.of = map[sketchKey]*sketched{}
	}
	s.of[key] = k
	follow := !s.begun
	s.begun = true
	s.mu.Unlock()
	db.background(func(ctx context.Context) error { return db.makeSketches(ctx, k) })
	if follow {
		db.background(db.followVectors)
	}
	return k
}

// dropSketches lets go of sketches, to be made anew when they are wanted.
func (db *DB) dropSketches(k *sketched) {
	db.sketches.mu.Lock()
	defer db.sketches.mu.Unlock()
	if db.sketches.of[k.key] == k {
		delete(db.sketches.of, k.key)
	}
}

// background runs fn until it ends or the store is closed, which waits for it.
func (db *DB) background(fn func(context.Context) error) {
	db.sketches.mu.Lock()
	defer db.sketches.mu.Unlock()
	if db.sketches.closed {
		return
	}
	db.stopped.Add(1)
	go func() {
		defer db.stopped.Done()
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		go func() {
			select {
			case <-db.stop:
				cancel()
			case <-ctx.Done():
			}
		}()
		if err := fn(ctx); err != nil && ctx.Err() == nil {
			db.warn(err, "reading vectors failed; searches compare all of them until it works")
		}
	}()
}

// endSketches keeps anything from being begun: the store is closing.
func (db *DB) endSketches() {
	db.sketches.mu.Lock()
	defer db.sketches.mu.Unlock()
	db.sketches.closed = true
	db.sketches.of = nil
}
