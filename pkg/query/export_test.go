package query

import "context"

// RunLines runs two steps at the same time, and after them one in each line that
// waits for the step of the other.
func RunLines(ctx context.Context, first, second func() error) error {
	run := func(fn func() error) func(*gatherer, context.Context) error {
		return func(*gatherer, context.Context) error { return fn() }
	}
	nothing := run(func() error { return nil })
	g := &gatherer{}
	_, err := g.both(ctx, &gatherer{}, []step{
		{name: "first", on: true, run: run(first)}, {name: "second", on: true, run: run(second), beside: true},
		{name: "after second", on: true, run: nothing, after: []string{"second"}},
		{name: "after first", on: true, run: nothing, beside: true, after: []string{"first"}},
	})
	return err
}
