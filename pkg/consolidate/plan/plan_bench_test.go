package plan_test

import (
	"fmt"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/consolidatetest"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// BenchmarkPlan plans one retain of so many facts on an empty bank: what the facts of one write cost each other.
func BenchmarkPlan(b *testing.B) {
	for _, n := range []int{1, 10, 100, 1000} {
		var facts []memory.Fact
		for i := range n {
			facts = append(facts, consolidatetest.Fact(b, "Alice", fmt.Sprintf("Alice bought %s number %d for house %d.", []string{"a lamp", "some paint", "the chair", "a clock"}[i%4], i, i/7)))
		}
		b.Run(fmt.Sprintf("facts=%d", n), func(b *testing.B) {
			planner := plan.NewPlanner(settings())
			for range b.N {
				w := memory.Write{Bank: "alice", Kind: memory.WriteRetain, Seq: 1, Op: "op", Time: day, Facts: facts}
				if _, err := planner.Plan(consolidatetest.New("alice"), w); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/fact")
		})
	}
}
