package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/hashed"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite"
)

// loaded says what a filled store holds and how long filling it took. It is kept
// beside a store that is kept.
type loaded struct {
	Facts      int            `json:"facts"`
	Messages   int            `json:"messages"`
	Composites int            `json:"composites"`
	Entities   int            `json:"entities"`
	Writes     uint64         `json:"writes"`
	Took       float64        `json:"fill_seconds"`
	FirstCost  float64        `json:"first_us_per_message"` // at a thousand messages
	LastCost   float64        `json:"last_us_per_message"`  // at the end
	Bytes      int64          `json:"bytes"`
	Seed       uint64         `json:"seed"`
	Questions  []loadQuestion `json:"questions,omitempty"`
}

func (l loaded) String() string {
	return fmt.Sprintf("%d messages, %d facts, %d composites, %d entities, %.2f kB a fact; filled in %.0f s, %.0f µs a message at first and %.0f at the end",
		l.Messages, l.Facts, l.Composites, l.Entities, float64(l.Bytes)/1000/float64(max(1, l.Facts)), l.Took, l.FirstCost, l.LastCost)
}

// loadKind is which vectors a filled store has.
type loadKind string

const (
	loadVectors loadKind = "vectors" // those of the corpus
	loadHashed  loadKind = "hashed"  // those of the embedder that is built in
	loadBare    loadKind = "bare"    // none
)

func (k loadKind) embedder() memory.Embedder {
	switch k {
	case loadVectors:
		return loadEmbedder{}
	case loadHashed:
		return hashed.New()
	}
	return nil
}

func (k loadKind) config(path string) sqlite.Config {
	cfg := sqlite.DefaultConfig(path)
	if e := k.embedder(); e != nil {
		cfg.Embedder, cfg.Dimension = e.Name(), e.Dimension()
	}
	return cfg
}

// filled makes a store at path, or takes the one that an earlier run left there.
func (f loadFlags) filled(ctx context.Context, path string, kind loadKind, progress io.Writer) (*loaded, error) {
	note := path + ".json"
	raw, err := os.ReadFile(note)
	if errors.Is(err, fs.ErrNotExist) {
		return f.fill(ctx, path, kind, progress)
	}
	var was loaded
	if err == nil {
		err = json.Unmarshal(raw, &was)
	}
	if err != nil {
		return nil, fmt.Errorf("read what the store of an earlier run holds: %w", err)
	}
	if was.Messages != f.facts || was.Seed != f.seed {
		return nil, usagef("--dir holds a bank of %d facts from seed %d: give those, or another directory", was.Messages, was.Seed)
	}
	return &was, nil
}

// costOver is over how many messages the cost of one is measured.
const costOver = 1000

// fill applies the corpus as the consolidator would apply a log of it, with
// every decision of the plan, unsynced.
func (f loadFlags) fill(ctx context.Context, path string, kind loadKind, progress io.Writer) (_ *loaded, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	cfg := kind.config(path)
	cfg.Unsynced = true
	db, err := sqlite.Open(cfg)
	if err != nil {
		return nil, err
	}
	c := newCorpus(f, kind == loadVectors)
	plan := consolidate.DefaultConfig()
	if e := kind.embedder(); e != nil {
		plan.Thresholds, plan.Model, plan.Dimension = e.Thresholds(), e.Name(), e.Dimension()
		if kind == loadHashed {
			c.embedder = e
		}
	}
	out := &loaded{Messages: f.facts, Seed: f.seed}
	began := time.Now()
	if err := f.apply(ctx, db, c, plan, out, progress); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	out.Took, out.Questions = time.Since(began).Seconds(), c.questions
	n, err := db.Counts(ctx)
	if err := errors.Join(err, db.Close()); err != nil {
		return nil, err
	}
	out.Facts, out.Composites, out.Entities = n["facts"], n["composites"], n["entities"]
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	out.Bytes = info.Size()
	raw, err := json.Marshal(out)
	if err == nil {
		err = os.WriteFile(path+".json", raw, 0o600)
	}
	return out, err
}

func (f loadFlags) apply(ctx context.Context, db *sqlite.DB, c *corpus, plan consolidate.Config, out *loaded, progress io.Writer) error {
	bar := newBar(progress, f.facts, "filling")
	defer bar.Close() //nolint:errcheck // a bar that cannot be drawn changes nothing
	decide := func(v consolidate.View, w memory.Write) (memory.Changes, error) { return consolidate.Plan(v, w, plan) }
	var seq uint64
	var spent time.Duration
	for seq < uint64(f.facts) {
		if err := ctx.Err(); err != nil {
			return err
		}
		events, writes, err := c.batch(ctx, loadBank, seq, out.Writes)
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
		bar.Add(len(events)) //nolint:errcheck // a bar that cannot be drawn changes nothing
	}
	return nil
}
