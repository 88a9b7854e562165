package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/bench/synthetic"
	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// memFigures is what mem prints with --json.
type memFigures struct {
	With     footprint `json:"with_vectors"`
	Without  footprint `json:"without_vectors"`
	Resident int64     `json:"resident_before"` // bytes of the process before a store was open
}

// footprint is what one bank takes.
type footprint struct {
	Bank     synthetic.Filled `json:"bank"`
	FactKB   float64          `json:"kb_per_fact"` // of the file, a fact and its message together
	Sketches query.Sketches   `json:"sketches"`
	Resident int64            `json:"resident"` // bytes of the process after recalls
}

func (t footprint) String() string {
	return fmt.Sprintf("%.2f kB a fact with its message, %.1f MB in all; resident %.1f MB, sketches %.1f MB of them", t.FactKB, float64(t.Bank.Bytes)/1e6, float64(t.Resident)/1e6, float64(t.Sketches.Bytes)/1e6)
}

func (a *cli) mem(cmd *cobra.Command, f loadFlags) error {
	if f.Store != "" {
		return console.Usagef("mem measures files: `recall --store` prints what a fact takes on a server")
	}
	return f.inDirectory(func(dir string) error {
		var out memFigures
		for _, k := range []struct {
			kind synthetic.Kind
			into *footprint
		}{{synthetic.Bare, &out.Without}, {synthetic.Vectors, &out.With}} {
			path := filepath.Join(dir, string(k.kind), "eunoe.db")
			bank, err := f.filled(cmd.Context(), path, k.kind, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			k.into.Bank = *bank
		}
		out.Resident = resident()
		for _, k := range []struct {
			kind synthetic.Kind
			into *footprint
		}{{synthetic.Bare, &out.Without}, {synthetic.Vectors, &out.With}} {
			if err := k.into.measure(cmd.Context(), filepath.Join(dir, string(k.kind)), k.kind); err != nil {
				return err
			}
		}
		if a.JSON {
			return console.PrintJSON(cmd.OutOrStdout(), out)
		}
		out.print(cmd.OutOrStdout())
		return nil
	})
}

func (r *memFigures) print(w io.Writer) {
	pairs(w, "without vectors", r.Without, "with vectors", r.With, "resident before", fmt.Sprintf("%.1f MB", float64(r.Resident)/1e6))
}

func (t *footprint) measure(ctx context.Context, dir string, kind synthetic.Kind) error {
	db, err := kind.Open(synthetic.Config{}, filepath.Join(dir, "eunoe.db"), false)
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // it was read from
	if kind == synthetic.Vectors {
		if _, err := warmed(ctx, db); err != nil {
			return err
		}
	}
	vectors := synthetic.Embedder{}
	for _, q := range t.Bank.Questions {
		vectors[q.Text] = q.Vector
	}
	var e memory.Embedder
	if kind == synthetic.Vectors {
		e = vectors
	}
	err = withQuery(ctx, dir, db, e, func(c *client.Client) error {
		for _, q := range t.Bank.Questions {
			if _, err := c.Recall(ctx, synthetic.Bank, wire.RecallRequest{Query: q.Text}); err != nil {
				return err
			}
		}
		t.Sketches, t.Resident = db.Sketches(), resident()
		return nil
	})
	t.FactKB = float64(t.Bank.Bytes) / 1000 / float64(max(1, t.Bank.Facts))
	t.Bank.Questions = nil
	return err
}

// resident returns the resident memory of the process in bytes; 0 where the system does not tell.
func resident() int64 {
	debug.FreeOSMemory()
	raw, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(raw), "VmRSS:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kb, _ := strconv.ParseInt(fields[0], 10, 64)
	return kb * 1024
}
