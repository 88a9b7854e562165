package recall

import (
	"context"
	"slices"
)

// together runs functions of which none waits for another (Searcher.Together).
func together(s Searcher, fns ...func(Searcher) error) error {
	run := make([]func(Searcher, func() bool) error, len(fns))
	for i, fn := range fns {
		run[i] = func(s Searcher, _ func() bool) error { return fn(s) }
	}
	return s.Together(run...)
}

// together runs reads of which none waits for another, each on a gatherer of the same candidates.
func (g *gatherer) together(fns ...func(*gatherer) error) error {
	run := make([]func(Searcher) error, len(fns))
	for i, fn := range fns {
		run[i] = func(s Searcher) error {
			other := *g
			other.s = s
			return fn(&other)
		}
	}
	return together(g.s, run...)
}

// runTogether runs steps, each after those that it needs, and returns the names of those that came too late. Where the store
// is far away, steps that do not wait for each other read together.
func (g *gatherer) runTogether(ctx context.Context, steps []step) ([]string, error) {
	done, late := make(map[string]bool, len(steps)), make([]bool, len(steps))
	waits := func(name string) bool { return !done[name] }
	run := make([]func(Searcher, func() bool) error, len(steps))
	for i, st := range steps {
		run[i] = func(s Searcher, rest func() bool) (err error) {
			for slices.ContainsFunc(st.needs, waits) {
				if !rest() {
					return nil // another one failed
				}
			}
			if st.on {
				other := *g
				other.s = s
				late[i], err = other.runStep(ctx, st)
			}
			done[st.name] = true
			return err
		}
	}
	if err := g.s.Together(run...); err != nil {
		return nil, err
	}
	var skipped []string
	for i, st := range steps {
		if late[i] && !st.ahead {
			skipped = append(skipped, st.name)
		}
	}
	return skipped, nil
}
