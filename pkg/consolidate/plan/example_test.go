package plan_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/hashed"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite"
)

// exampleStore opens an empty store and returns a function that plans and applies one retained statement.
func exampleStore() (retain func(said time.Time, text string) []memory.WriteResult, done func()) {
	dir, err := os.MkdirTemp("", "plan")
	if err != nil {
		panic(err)
	}
	db, err := sqlite.Open(sqlite.DefaultConfig(filepath.Join(dir, "eunoe.db")))
	if err != nil {
		panic(err)
	}
	embedder := hashed.New()
	cfg := plan.DefaultConfig()
	cfg.Thresholds = embedder.Thresholds()
	planner, seq := plan.NewPlanner(cfg), uint64(0)
	retain = func(said time.Time, text string) (results []memory.WriteResult) {
		vectors, err := embedder.Embed(context.Background(), []string{text})
		if err != nil {
			panic(err)
		}
		seq++
		w := memory.Write{Bank: "alice", Kind: memory.WriteRetain, Seq: seq, Op: fmt.Sprint("op", seq), Time: said,
			Facts: []memory.Fact{{Text: text, Speaker: "Alice", Said: said, Confidence: 0.8, Vector: vectors[0]}}}
		err = db.ApplyWrites(context.Background(), seq-1, seq, []memory.Write{w}, func(v plan.View, w memory.Write) (memory.Changes, error) {
			c, err := planner.Plan(v, w)
			results = c.Outcome.Results
			for _, f := range c.Facts {
				for _, i := range f.Valid {
					if i.To != nil && f.Merged == "" {
						fmt.Printf("%q holds until %s\n", f.Text, i.To.Format(time.DateOnly))
					}
				}
			}
			return c, err
		})
		if err != nil {
			panic(err)
		}
		return results
	}
	return retain, func() { _ = db.Close(); _ = os.RemoveAll(dir) }
}

// A statement in other words is merged with the one that is stored.
func ExamplePlanner_Plan() {
	retain, done := exampleStore()
	defer done()
	day := time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC)
	for _, text := range []string{
		"Alice bought a red racing bicycle with wide tyres for the summer race.",
		"Alice bought a red racing bicycle with wide tyres for the long summer race.",
		"Alice keeps bees.",
	} {
		for _, r := range retain(day, text) {
			fmt.Println(r.Outcome)
		}
		day = day.AddDate(0, 0, 1)
	}
	// Output:
	// added
	// merged
	// added
}

// A new value of an attribute ends the old one when it begins.
func ExamplePlanner_Plan_state() {
	retain, done := exampleStore()
	defer done()
	retain(time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC), "Alice lives in Paris.")
	retain(time.Date(2026, 6, 1, 9, 0, 0, 0, time.UTC), "Alice moved to London.")
	// Output:
	// "Alice lives in Paris." holds until 2026-06-01
}

// A write that can never be applied is an error; one that cannot be done says so in its outcome.
func ExamplePlan() {
	_, err := plan.Plan(nil, memory.Write{Bank: "alice", Kind: memory.WriteEdit}, plan.DefaultConfig())
	fmt.Println(err)
	// Output:
	// edit: the write does not hold what its kind names
}
