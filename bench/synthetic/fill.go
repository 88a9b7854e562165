package synthetic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/hashed"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite"
)

// Filled is what a filled store holds and how long filling it took. It is kept beside the store, in a file of the
// store's name and .json.
type Filled struct {
	Facts      int        `json:"facts"`
	Messages   int        `json:"messages"`
	Composites int        `json:"composites"`
	Entities   int        `json:"entities"`
	Writes     uint64     `json:"writes"`
	Took       float64    `json:"fill_seconds"`
	FirstCost  float64    `json:"first_us_per_message"` // at a thousand messages, or of all where there are fewer
	LastCost   float64    `json:"last_us_per_message"`  // at the end
	Bytes      int64      `json:"bytes"`
	Seed       uint64     `json:"seed"`
	Questions  []Question `json:"questions,omitempty"`
}

// String says it in a line.
func (l Filled) String() string {
	return fmt.Sprintf("%d messages, %d facts, %d composites, %d entities, %.2f kB a fact; filled in %.0f s, %.0f µs a message at first and %.0f at the end",
		l.Messages, l.Facts, l.Composites, l.Entities, float64(l.Bytes)/1000/float64(max(1, l.Facts)), l.Took, l.FirstCost, l.LastCost)
}

// Kind is which vectors a filled store has.
type Kind string

const (
	Vectors Kind = "vectors" // those of the corpus
	Hashed  Kind = "hashed"  // those of the built-in embedder
	Bare    Kind = "bare"    // none
)

func (k Kind) embedder() memory.Embedder {
	switch k {
	case Vectors:
		return Embedder{}
	case Hashed:
		return hashed.New()
	}
	return nil
}

// Open opens a store of this kind: the one that cfg names, or else the file at path, without syncs where it is to be
// filled.
func (k Kind) Open(cfg Config, path string, unsynced bool) (*sqlite.DB, error) {
	file, server := sqlite.DefaultConfig(path), postgres.DefaultConfig(cfg.Store)
	if e := k.embedder(); e != nil {
		file.Embedder, file.Dimension = e.Name(), e.Dimension()
		server.Embedder, server.Dimension = e.Name(), e.Dimension()
	}
	if cfg.Store != "" {
		return postgres.Open(server)
	}
	file.Unsynced = unsynced
	return sqlite.Open(file)
}

// size returns the bytes that a store takes.
func size(ctx context.Context, cfg Config, path string) (n int64, err error) {
	if cfg.Store == "" {
		info, err := os.Stat(path)
		if err != nil {
			return 0, err
		}
		return info.Size(), nil
	}
	conn, err := pgx.Connect(ctx, cfg.Store)
	if err != nil {
		return 0, err
	}
	const sum = `SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint
FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace WHERE c.relkind = 'r' AND s.nspname = $1`
	err = conn.QueryRow(ctx, sum, postgres.Schema(cfg.Store)).Scan(&n)
	return n, errors.Join(err, conn.Close(ctx))
}

// Fill makes a store at path, or returns what an earlier run left there, which is memory.ErrInvalid where it is of
// another size or seed. A store is filled without fsync, with every decision of the planner, as a consolidator applies a
// log. progress is called with the number of messages after each batch.
func Fill(ctx context.Context, cfg Config, path string, kind Kind, progress func(messages int)) (*Filled, error) {
	note := path + ".json"
	raw, err := os.ReadFile(note)
	if errors.Is(err, fs.ErrNotExist) {
		return fill(ctx, cfg, path, kind, progress)
	}
	var was Filled
	if err == nil {
		err = json.Unmarshal(raw, &was)
	}
	if err != nil {
		return nil, fmt.Errorf("read what the store of an earlier run holds: %w", err)
	}
	if was.Messages != cfg.Facts || was.Seed != cfg.Seed {
		return nil, fmt.Errorf("--dir holds a bank of %d facts from seed %d: give those, or another directory: %w", was.Messages, was.Seed, memory.ErrInvalid)
	}
	return &was, nil
}

// costOver is how many messages the cost of one is averaged over.
const costOver = 1000

func fill(ctx context.Context, cfg Config, path string, kind Kind, progress func(int)) (_ *Filled, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	db, err := kind.Open(cfg, path, true)
	if err != nil {
		return nil, err
	}
	c := NewCorpus(cfg, kind == Vectors)
	numbers := plan.DefaultConfig()
	if e := kind.embedder(); e != nil {
		numbers.Thresholds, numbers.Model, numbers.Dimension = e.Thresholds(), e.Name(), e.Dimension()
		if kind == Hashed {
			c.embedder = e
		}
	}
	out := &Filled{Messages: cfg.Facts, Seed: cfg.Seed}
	began := time.Now()
	if err := apply(ctx, db, c, numbers, out, progress); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	out.Took, out.Questions = time.Since(began).Seconds(), c.questions
	n, err := db.Counts(ctx)
	if err := errors.Join(err, db.Close()); err != nil {
		return nil, err
	}
	out.Facts, out.Composites, out.Entities = n["facts"], n["composites"], n["entities"]
	if out.Bytes, err = size(ctx, cfg, path); err != nil {
		return nil, err
	}
	raw, err := json.Marshal(out)
	if err == nil {
		err = os.WriteFile(path+".json", raw, 0o600)
	}
	return out, err
}

// apply applies batches of the corpus until the store has its messages.
func apply(ctx context.Context, db *sqlite.DB, c *Corpus, numbers plan.Config, out *Filled, progress func(int)) error {
	decide := func(v plan.View, w memory.Write) (memory.Changes, error) { return plan.Plan(v, w, numbers) }
	var seq uint64
	var spent time.Duration
	for seq < uint64(out.Messages) {
		if err := ctx.Err(); err != nil {
			return err
		}
		events, writes, err := c.batch(ctx, Bank, seq, out.Writes)
		if err != nil {
			return err
		}
		began := time.Now()
		if err := db.ApplyMessages(ctx, seq, events[len(events)-1].Seq, events); err != nil {
			return err
		}
		if err := db.ApplyWrites(ctx, out.Writes, writes[len(writes)-1].Seq, writes, decide); err != nil {
			return err
		}
		seq, out.Writes = events[len(events)-1].Seq, writes[len(writes)-1].Seq
		if err := db.Sent(ctx, math.MaxInt64); err != nil { // nobody listens
			return err
		}
		spent += time.Since(began)
		if seq%costOver == 0 {
			out.LastCost = float64(spent.Microseconds()) / costOver
			if seq == 2*costOver || out.FirstCost == 0 {
				out.FirstCost = out.LastCost
			}
			spent = 0
		}
		progress(len(events))
	}
	if out.FirstCost == 0 && seq > 0 {
		out.FirstCost = float64(spent.Microseconds()) / float64(seq)
		out.LastCost = out.FirstCost
	}
	return nil
}
