package timeline_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan/timeline"
)

// The value said later is believed from its start on, whatever the order in which the assertions arrived.
func ExampleIntervals() {
	day := func(n int) time.Time { return time.Date(2026, 5, n, 0, 0, 0, 0, time.UTC) }
	paris := timeline.Assertion{Fact: "f_1", Value: "paris", Start: day(1), Said: day(1)}
	london := timeline.Assertion{Fact: "f_2", Value: "london", Start: day(10), Said: day(12)}
	all := []timeline.Assertion{london, paris}
	slices.SortFunc(all, timeline.ByBelief)
	for _, i := range timeline.Intervals([]timeline.Assertion{paris}, all) {
		fmt.Println(i.From.Format(time.DateOnly), "to", i.To.Format(time.DateOnly))
	}
	// Output:
	// 2026-05-01 to 2026-05-10
}
