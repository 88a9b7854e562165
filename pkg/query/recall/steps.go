package recall

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// step is one strategy's work on the store, or a part of it.
type step struct {
	name   string
	on     bool
	run    func(*gatherer, context.Context) error
	second bool     // it runs on the second connection where there is one, after the steps of that connection above it
	after  []string // steps of the other connection that write what it reads, or read what it writes
	needs  []string // steps above it whose results it reads; by one connection it runs as soon as these have
	ahead  bool     // it only reads ahead: what it reads is read later where it did not run
	long   bool     // it computes and reads nothing: where the store is far away, while that works for other steps
}

// The names of the steps that others wait for.
const (
	stepFacts      = "keyword over facts"
	stepWords      = "words of messages"
	stepSemantic   = "semantic"
	stepNear       = "semantic over messages"
	stepSources    = "what facts rest on"
	stepNeighbours = "neighbours of messages"
	stepToRank     = "messages to rank"
	stepComposites = "keyword over composites"
	stepEntity     = "entity"
	stepTemporal   = "temporal"
	stepLatest     = "latest"
	stepGraph      = "graph"
	stepTree       = "tree"
	stepRead       = "facts found"
)

// steps returns every step there is, the most telling first. The first connection looks for facts and then ranks
// messages; the second looks for messages, and then for what hangs together with the facts. Only one connection at a
// time reads or writes the rows of a record and a strategy's scores of them: a step of the other waits for it.
func (g *gatherer) steps() []step {
	q := g.req
	keyword := q.on(memory.StrategyKeyword) && len(g.question.lookups) > 0
	semantic := g.comparesVectors()
	facts, messages := g.wantsFacts(), g.wants(memory.RecordMessage)
	texts := func(r memory.Record, limit int) func(*gatherer, context.Context) error {
		return func(g *gatherer, _ context.Context) error { return g.keywordTexts(r, limit) }
	}
	found := []string{stepFacts, stepSemantic, stepComposites, stepEntity, stepTemporal, stepLatest, stepGraph, stepTree}
	ranked := []string{stepNear, stepToRank, stepTemporal, stepLatest}
	return []step{
		{name: stepFacts, on: keyword && facts, run: texts(memory.RecordFact, g.cfg.Facts)},
		{name: stepWords, on: keyword && messages, run: (*gatherer).lookUpMessages, second: true},
		{name: stepSemantic, on: semantic && facts, run: (*gatherer).semantic},
		{name: stepNear, on: semantic && messages, run: (*gatherer).semanticMessages, second: true},
		{name: stepNeighbours, on: keyword && messages, run: (*gatherer).neighbours, second: true, needs: []string{stepWords, stepNear}},
		{name: stepSources, on: keyword && messages, run: (*gatherer).sourcesOfBestFacts, needs: []string{stepFacts, stepSemantic}},
		{name: stepToRank, on: keyword && messages, run: (*gatherer).messagesToRank, after: []string{stepNeighbours}, needs: []string{stepSources, stepNeighbours}},
		{name: "keyword over messages", on: keyword && messages, run: (*gatherer).keywordMessages, needs: []string{stepToRank}, long: true},
		{name: stepComposites, on: keyword && g.wants(memory.RecordComposite), run: texts(memory.RecordComposite, g.cfg.Nodes), second: true},
		{name: "keyword over observations", on: keyword && g.wants(memory.RecordObservation), run: texts(memory.RecordObservation, g.cfg.Nodes), second: true},
		{name: stepEntity, on: q.on(memory.StrategyEntity), run: (*gatherer).entity, second: true, after: []string{stepSources}},
		{name: stepTemporal, on: q.on(memory.StrategyTemporal), run: (*gatherer).temporal, second: true},
		{name: stepLatest, on: true, run: (*gatherer).latest, second: true},
		{name: "facts found first", on: g.second == nil, run: (*gatherer).readFound, needs: []string{stepSemantic, stepEntity, stepTemporal, stepLatest}, ahead: true},
		{name: stepGraph, on: q.on(memory.StrategyGraph) && facts, run: (*gatherer).graph, second: true, needs: []string{stepFacts, stepSemantic, stepEntity}},
		{name: stepTree, on: g.wants(memory.RecordComposite), run: (*gatherer).tree, second: true, needs: []string{stepComposites}},
		{name: "semantic over facts found otherwise", on: semantic && facts, run: (*gatherer).compareFacts, second: true, needs: found},
		{name: "semantic over messages found otherwise", on: semantic && messages, run: (*gatherer).compareMessages, second: true, after: []string{stepToRank}, needs: ranked},
		{name: "what ended", on: facts, run: (*gatherer).prefetchEnded, second: true, after: []string{stepToRank}, needs: ranked, ahead: true},
		{name: "sources of facts", on: facts, run: (*gatherer).prefetchLinks, second: true, needs: found, ahead: true},
		{name: stepRead, on: g.second == nil, run: (*gatherer).readFound, needs: slices.Concat(found, ranked), ahead: true},
	}
}

// gather runs every strategy that has weight. When the deadline passes, degraded names the steps that did not run.
func (g *gatherer) gather(ctx context.Context) error {
	var skipped []string
	err := g.narrow()
	if err != nil {
		return err
	}
	if g.second == nil {
		skipped, err = g.runTogether(ctx, g.steps())
	} else {
		other := *g
		other.s = g.second
		skipped, err = g.runBoth(ctx, &other, g.steps())
	}
	if err != nil {
		return err
	}
	if err = g.readCandidates(); err != nil {
		return err
	}
	recency := step{name: "recency", on: g.req.on(memory.StrategyRecency), run: (*gatherer).recency}
	more, err := g.runSteps(ctx, []step{recency}, nil)
	for _, name := range append(skipped, more...) {
		g.degraded = append(g.degraded, "deadline: "+name+" left out")
	}
	return err
}

// runBoth runs steps on two connections at the same time. When one fails, the other still completes.
func (g *gatherer) runBoth(ctx context.Context, other *gatherer, steps []step) ([]string, error) {
	var first, second []step
	ended := make(map[string]chan struct{}, len(steps))
	for _, st := range steps {
		if st.second {
			second = append(second, st)
		} else {
			first = append(first, st)
		}
		ended[st.name] = make(chan struct{})
	}
	var skippedSecond []string
	var errSecond error
	var panicked any
	var wg sync.WaitGroup
	wg.Go(func() {
		defer func() {
			panicked = recover()
			closeAll(ended, second)
		}()
		skippedSecond, errSecond = other.runSteps(ctx, second, ended)
	})
	skippedFirst, errFirst := func() ([]string, error) {
		defer wg.Wait()
		defer closeAll(ended, first)
		return g.runSteps(ctx, first, ended)
	}()
	if panicked != nil {
		panic(panicked)
	}
	return append(skippedFirst, skippedSecond...), errors.Join(errFirst, errSecond)
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
			if st.on && st.long && !rest() {
				return nil
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

// closeAll releases everything that waits for steps that will not run.
func closeAll(ended map[string]chan struct{}, steps []step) {
	for _, st := range steps {
		select {
		case <-ended[st.name]:
		default:
			close(ended[st.name])
		}
	}
}

// runSteps runs steps one after the other, each after those of the other connection that it waits for, and returns the
// names of those that came too late. The channels of ended are closed as steps end; nil = there is no other connection.
func (g *gatherer) runSteps(ctx context.Context, steps []step, ended map[string]chan struct{}) (skipped []string, err error) {
	for _, st := range steps {
		if ended != nil {
			for _, name := range st.after {
				<-ended[name]
			}
		}
		if st.on {
			late, err := g.runStep(ctx, st)
			if err != nil {
				return nil, err
			}
			if late && !st.ahead {
				skipped = append(skipped, st.name)
			}
		}
		if ended != nil {
			close(ended[st.name])
		}
	}
	return skipped, nil
}

// runStep runs one step and reports whether it came too late.
func (g *gatherer) runStep(ctx context.Context, st step) (late bool, err error) {
	if err := g.inTime(ctx); err != nil {
		return ctx.Err() == nil, ctx.Err()
	}
	inner, cancel := ctx, context.CancelFunc(func() {})
	if !g.req.Deadline.IsZero() {
		inner, cancel = context.WithDeadline(ctx, g.req.Deadline)
	}
	defer cancel()
	inner, span := telemetry.Start(inner, st.name)
	err = st.run(g, inner)
	span.End(err)
	if err == nil {
		return false, nil
	}
	if inner.Err() != nil && ctx.Err() == nil {
		return true, nil
	}
	return false, fmt.Errorf("recall by %s: %w", st.name, err)
}

// inTime returns an error when ctx has ended or the request's deadline has passed.
func (g *gatherer) inTime(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !g.req.Deadline.IsZero() && !time.Now().Before(g.req.Deadline) {
		return context.DeadlineExceeded
	}
	return nil
}

// prefetched is what the second connection reads for fusing while the first one still ranks: what it asked about,
// ascending, and what it was told. Fusing asks for the rest, and drops what is about rows that the filter excluded.
type prefetched struct {
	messages, ended []int64
	facts           []int64
	links           []Link
}

func (g *gatherer) prefetchEnded(context.Context) (err error) {
	nos := g.foundMessages()
	g.prefetched.ended, err = g.s.EndedMessages(nos)
	if err == nil {
		g.prefetched.messages = nos
	}
	return err
}

func (g *gatherer) prefetchLinks(context.Context) (err error) {
	nos := g.pool.rows(memory.RecordFact)
	g.prefetched.links, err = g.s.Links(nos)
	if err == nil {
		g.prefetched.facts = nos
	}
	return err
}

// endedMessages returns those of some messages all of whose facts have ended; both lists ascend.
func (g *gatherer) endedMessages(messages []int64) ([]int64, error) {
	more, err := g.s.EndedMessages(without(messages, g.prefetched.messages))
	if err != nil {
		return nil, err
	}
	return without(distinct(g.prefetched.ended, more), without(g.prefetched.messages, messages)), nil
}

// links returns the messages that some facts rest on; the facts ascend.
func (g *gatherer) links(facts []int64) ([]Link, error) {
	more, err := g.s.Links(without(facts, g.prefetched.facts))
	if err != nil {
		return nil, err
	}
	others := without(g.prefetched.facts, facts)
	out := slices.DeleteFunc(slices.Clone(g.prefetched.links), func(l Link) bool { _, other := slices.BinarySearch(others, l.Fact); return other })
	return append(out, more...), nil
}
