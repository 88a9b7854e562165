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
		{"first", true, run(first), false, nil}, {"second", true, run(second), true, nil},
		{"after second", true, nothing, false, []string{"second"}}, {"after first", true, nothing, true, []string{"first"}},
	})
	return err
}
