package sqlite_test

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite"
)

// TestRowNumbersDoNotDependOnHowWritesAreBatched applies writes of which some remove what was stored last, in one transaction
// and one by one: of two records that are alike the later one is found first, so a rebuilt store must number them the same.
func TestRowNumbersDoNotDependOnHowWritesAreBatched(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 5))
	const n = 60
	var facts []memory.Fact
	var trees []memory.Composite
	writes, changes := make([]memory.Write, n), make([]memory.Changes, n)
	for i := range writes {
		seq := uint64(i + 1)
		writes[i] = memory.Write{Bank: "b", Kind: memory.WriteWindow, Seq: seq, Op: fmt.Sprint(seq), Time: benchEpoch}
		c := &changes[i]
		last := len(facts) - 1
		switch {
		case i%3 == 2: // the last of both goes
			c.RemovedFacts, c.RemovedComposites = []memory.FactID{facts[last].ID}, []memory.CompositeID{trees[last].ID}
			facts, trees = facts[:last], trees[:last]
		case i%7 == 6: // one in the middle
			c.RemovedFacts = []memory.FactID{facts[0].ID}
			facts, trees = facts[1:], trees[1:]
		default:
			f := benchFact(r, seq)
			tree := memory.Composite{ID: memory.CompositeID(fmt.Sprintf("c%d", seq)), Level: 1, Text: f.Text, Children: []string{string(f.ID)},
				Representative: string(f.ID), Said: f.Said, Confidence: .5}
			facts, trees = append(facts, f), append(trees, tree)
			c.Facts, c.Composites = []memory.Fact{f}, []memory.Composite{tree}
		}
	}
	planned := func(_ plan.View, w memory.Write) (memory.Changes, error) { return changes[w.Seq-1], nil }
	numbers := func(batch int) map[string]int64 {
		t.Helper()
		config := sqlite.DefaultConfig(filepath.Join(t.TempDir(), "eunoe.db"))
		db := openStore(t, config)
		for from := 0; from < n; from += batch {
			if err := db.ApplyWrites(t.Context(), uint64(from), uint64(from+batch), writes[from:from+batch], planned); err != nil { //nolint:gosec // small
				t.Fatal(err)
			}
		}
		raw, err := sql.Open("sqlite3", "file:"+config.Path+"?mode=ro")
		if err != nil {
			t.Fatal(err)
		}
		defer raw.Close() //nolint:errcheck // it was only read
		rows, err := raw.QueryContext(t.Context(), `SELECT id, no FROM facts UNION ALL SELECT id, no FROM composites`)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close() //nolint:errcheck // rows.Err tells
		out := map[string]int64{}
		for rows.Next() {
			var id string
			var no int64
			if err := rows.Scan(&id, &no); err != nil {
				t.Fatal(err)
			}
			out[id] = no
		}
		if err := rows.Err(); err != nil || len(out) < 10 {
			t.Fatalf("%d rows, %v", len(out), err)
		}
		return out
	}
	if diff := cmp.Diff(numbers(1), numbers(n)); diff != "" {
		t.Errorf("applied one by one the rows have the numbers -, in one transaction +:\n%s", diff)
	}
}
