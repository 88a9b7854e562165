package query

import (
	"context"
	"errors"
	"fmt"
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
	beside bool     // it may run on a second connection, in line with the others that may
	after  []string // steps of the other line that write what it reads, or read what it writes
	ahead  bool     // what it reads is read later where it did not run
}

// Names of the steps that others wait for.
const (
	stepRests      = "what facts rest on"
	stepNeighbours = "neighbours of messages"
	stepToRank     = "messages to rank"
)

// steps gives every step there is, the most telling first. One line looks for
// facts and then ranks messages; the other looks for messages, and then for
// what hangs together with the facts. Rows of a record, and the marks that a
// strategy sets on them, are read and written by one line at a time: a step of the
// other waits for it.
func (g *gatherer) steps() []step {
	a := g.a
	keyword := a.on(memory.StrategyKeyword) && len(g.q.terms) > 0
	semantic := g.byVectors()
	facts, messages := g.wantsFacts(), g.wants(memory.RecordMessage)
	texts := func(r memory.Record, limit int) func(*gatherer, context.Context) error {
		return func(g *gatherer, _ context.Context) error { return g.keywordTexts(r, limit) }
	}
	return []step{
		{name: "keyword over facts", on: keyword && facts, run: texts(memory.RecordFact, g.cfg.Facts)},
		{name: "words of messages", on: keyword && messages, run: (*gatherer).lookUpMessages, beside: true},
		{name: "semantic", on: semantic && facts, run: (*gatherer).semantic},
		{name: "semantic over messages", on: semantic && messages, run: (*gatherer).semanticMessages, beside: true},
		{name: stepNeighbours, on: keyword && messages, run: (*gatherer).neighbours, beside: true},
		{name: stepRests, on: keyword && messages, run: (*gatherer).rests},
		{name: stepToRank, on: keyword && messages, run: (*gatherer).toRank, after: []string{stepNeighbours}},
		{name: "keyword over messages", on: keyword && messages, run: (*gatherer).keywordMessages},
		{name: "keyword over composites", on: keyword && g.wants(memory.RecordComposite), run: texts(memory.RecordComposite, g.cfg.Nodes), beside: true},
		{name: "keyword over observations", on: keyword && g.wants(memory.RecordObservation), run: texts(memory.RecordObservation, g.cfg.Nodes), beside: true},
		{name: "entity", on: a.on(memory.StrategyEntity), run: (*gatherer).entity, beside: true, after: []string{stepRests}},
		{name: "temporal", on: a.on(memory.StrategyTemporal), run: (*gatherer).temporal, beside: true},
		{name: "latest", on: true, run: (*gatherer).latest, beside: true},
		{name: "graph", on: a.on(memory.StrategyGraph) && facts, run: (*gatherer).graph, beside: true},
		{name: "tree", on: g.wants(memory.RecordComposite), run: (*gatherer).tree, beside: true},
		{name: "semantic over facts found otherwise", on: semantic && facts, run: (*gatherer).compareFacts, beside: true},
		{name: "semantic over messages found otherwise", on: semantic && messages, run: (*gatherer).compareMessages, beside: true, after: []string{stepToRank}},
		{name: "what ended", on: facts, run: (*gatherer).endedAhead, beside: true, after: []string{stepToRank}, ahead: true},
		{name: "sources of facts", on: facts, run: (*gatherer).linksAhead, beside: true, ahead: true},
	}
}

// begin finds out whether a second connection is free, and has vectors looked
// through that the line of its own does not come to at once. It needs no
// understanding of the query.
func (g *gatherer) begin(ctx context.Context) error {
	second, err := g.s.Beside()
	if err != nil {
		return err
	}
	g.second = second
	if !g.byVectors() || g.a.exact || g.inTime(ctx) != nil {
		return nil
	}
	facts, messages := 0, 0
	if g.wantsFacts() {
		facts = g.cfg.Facts
	}
	if g.wants(memory.RecordMessage) {
		messages = g.cfg.Messages
	}
	if second == nil {
		err = g.s.Expect(g.a.vector, facts, messages)
	} else {
		err = second.Expect(g.a.vector, 0, messages)
	}
	if err != nil {
		return fmt.Errorf("recall by vectors: %w", err)
	}
	return nil
}

// gather runs every strategy that has weight. When the deadline passes, the
// steps that did not run are named in degraded.
func (g *gatherer) gather(ctx context.Context) error {
	var late []string
	var err error
	if g.second == nil {
		late, err = g.each(ctx, g.steps(), nil)
	} else {
		other := *g
		other.s = g.second
		late, err = g.both(ctx, &other, g.steps())
	}
	if err != nil {
		return err
	}
	if err = g.settle(); err != nil {
		return err
	}
	recency := step{name: "recency", on: g.a.on(memory.StrategyRecency), run: (*gatherer).recency}
	more, err := g.each(ctx, []step{recency}, nil)
	for _, name := range append(late, more...) {
		g.degraded = append(g.degraded, "deadline: "+name+" left out")
	}
	return err
}

// both runs steps in two lines at the same time. A line that fails leaves the
// other to come to its end.
func (g *gatherer) both(ctx context.Context, other *gatherer, steps []step) ([]string, error) {
	var lines [2][]step // its own, and the one beside it
	ended := make(map[string]chan struct{}, len(steps))
	for _, st := range steps {
		i := 0
		if st.beside {
			i = 1
		}
		lines[i] = append(lines[i], st)
		ended[st.name] = make(chan struct{})
	}
	var late []string
	var err error
	var panicked any
	var wg sync.WaitGroup
	wg.Go(func() {
		defer func() {
			panicked = recover()
			release(ended, lines[1])
		}()
		late, err = other.each(ctx, lines[1], ended)
	})
	first, failed := func() ([]string, error) {
		defer wg.Wait()
		defer release(ended, lines[0])
		return g.each(ctx, lines[0], ended)
	}()
	if panicked != nil {
		panic(panicked)
	}
	return append(first, late...), errors.Join(failed, err)
}

// release lets nobody wait for steps that have not run and will not.
func release(ended map[string]chan struct{}, line []step) {
	for _, st := range line {
		select {
		case <-ended[st.name]:
		default:
			close(ended[st.name])
		}
	}
}

// each runs steps one after the other, each after those of the other line that
// it waits for, and gives the ones that came too late. ended are closed as steps
// end; nil = there is no other line.
func (g *gatherer) each(ctx context.Context, steps []step, ended map[string]chan struct{}) (late []string, err error) {
	for _, st := range steps {
		if ended != nil {
			for _, name := range st.after {
				<-ended[name]
			}
		}
		if st.on {
			missed, err := g.step(ctx, st)
			if err != nil {
				return nil, err
			}
			if missed && !st.ahead {
				late = append(late, st.name)
			}
		}
		if ended != nil {
			close(ended[st.name])
		}
	}
	return late, nil
}

// step runs one, and says whether it came too late.
func (g *gatherer) step(ctx context.Context, st step) (late bool, err error) {
	if err := g.inTime(ctx); err != nil {
		return ctx.Err() == nil, ctx.Err()
	}
	inner, cancel := g.within(ctx)
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

func (g *gatherer) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if g.deadline.IsZero() {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, g.deadline)
}

func (g *gatherer) inTime(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !g.deadline.IsZero() && !time.Now().Before(g.deadline) {
		return context.DeadlineExceeded
	}
	return nil
}
