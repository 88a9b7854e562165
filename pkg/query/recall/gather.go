package recall

import (
	"context"
	"fmt"
	"slices"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/recall/rank"
)

// gatherer finds candidates for one request in one state of a bank. Every strategy writes its scores into the pool and
// the rows it read into the maps below; the steps that do so are listed in steps.go.
type gatherer struct {
	cfg      Config
	req      Request
	question question
	s        Searcher
	second   Searcher // of the same state, for the steps that may run on another connection; nil = there is none
	degraded []string

	pool         pool
	lookups      map[memory.Record]*lookup // of every record
	conversation *conversation
	prefetched   *prefetched
	candidates   map[memory.Record][]int64 // what was found and passes the filter, of every record, ascending

	messages     map[int64]MessageRow
	facts        map[int64]FactRow
	composites   map[int64]CompositeRow
	observations map[int64]ObservationRow
}

// read finds candidates in one state of the bank and fuses them. It packs the reply, unless models look at it first.
func (e *Engine) read(ctx context.Context, s Searcher, q Request, found *Found) error {
	var speakers []string
	var g *gatherer
	err := together(s,
		func(s Searcher) (err error) {
			found.Bank, err = s.Bank()
			return err
		},
		func(s Searcher) (err error) {
			var writes uint64
			found.Reply.Seen, writes, err = s.Applied()
			found.Reply.Fresh = found.Reply.Seen >= q.afterSeq && writes >= q.afterWrite
			return err
		},
		func(s Searcher) error { return e.comparable(s, q.vector) },
		func(s Searcher) (err error) {
			g, err = newGatherer(ctx, e.cfg, q, s)
			return err
		},
		func(s Searcher) (err error) {
			speakers, err = s.Speakers(maxSpeakers)
			return err
		},
	)
	if err != nil {
		return err
	}
	g.s = s
	if q.wall.IsZero() {
		q.wall = memory.WallClock(q.Now.In(found.Bank.Location()))
	}
	if g.question, err = understand(q, s, speakers); err != nil || !g.question.words && q.vector == nil {
		return err
	}
	if err := g.gather(ctx); err != nil {
		return err
	}
	_, span := telemetry.Start(ctx, "fuse")
	entries, err := g.fuse()
	span.Number(telemetry.Count, len(entries)).End(err)
	if err != nil {
		return err
	}
	entries = g.withoutOthers(entries)
	found.Reply.Confidence = g.confidence(entries)
	if q.minScore > 0 && e.Reranker == nil && len(entries) > 0 {
		least := leastScore(q.minScore, found.Reply.Confidence, entries[0].score)
		entries = slices.DeleteFunc(entries, func(x entry) bool { return x.score < least })
	}
	if e.modelsLook(q) {
		found.ranked, err = g.ranked(entries)
		found.Reply.Degraded = append(found.Reply.Degraded, g.degraded...)
		return err
	}
	_, span = telemetry.Start(ctx, "pack")
	found.Reply.Items, found.Reply.Tokens, err = g.pack(entries)
	span.Number(telemetry.Count, len(found.Reply.Items)).End(err)
	if err != nil {
		return err
	}
	found.Reply.Degraded = append(found.Reply.Degraded, g.degraded...)
	return found.AddConflicts(s)
}

// comparable checks that a caller's vector has the size of the bank's vectors, where no embedder says what size that is.
func (e *Engine) comparable(s Searcher, v memory.Vector) error {
	if e.Embedder != nil || v == nil {
		return nil
	}
	size, err := s.Dimension()
	if err != nil || size == 0 || size == len(v) {
		return err
	}
	return &memory.FieldError{Field: "vector", Meaning: memory.ErrConflict,
		Message: fmt.Sprintf("has %d dimensions; the bank's have %d: give one of their model, or none", len(v), size)}
}

// newGatherer also opens the second connection, where one is free, and announces the vector that will be compared: the
// store can begin with that before the question is understood.
func newGatherer(ctx context.Context, cfg Config, req Request, s Searcher) (*gatherer, error) {
	g := &gatherer{cfg: cfg, req: req, s: s, pool: newPool(), lookups: map[memory.Record]*lookup{}, conversation: &conversation{talk: 1, passages: map[int64]rank.Passage{}}, prefetched: &prefetched{},
		messages: map[int64]MessageRow{}, facts: map[int64]FactRow{}, composites: map[int64]CompositeRow{}, observations: map[int64]ObservationRow{}}
	for _, r := range memory.Records {
		g.lookups[r] = &lookup{has: map[int64]uint64{}, df: map[string]int{}}
	}
	var err error
	if g.second, err = s.SecondReader(); err != nil {
		return nil, err
	}
	if !g.comparesVectors() || req.exact || g.inTime(ctx) != nil {
		return g, nil
	}
	facts, messages := 0, 0
	if g.wantsFacts() {
		facts = cfg.Facts
	}
	if g.wants(memory.RecordMessage) {
		messages = cfg.Messages
	}
	if g.second == nil {
		err = s.Prefetch(req.vector, facts, messages)
	} else {
		err = g.second.Prefetch(req.vector, 0, messages) // the first connection compares facts at once
	}
	if err != nil {
		return nil, fmt.Errorf("recall by vectors: %w", err)
	}
	return g, nil
}

// wants reports whether rows of a record are asked for.
func (g *gatherer) wants(r memory.Record) bool { return g.req.Filter.Finds(r) }

// wantsFacts reports whether facts are looked for: for themselves, or because they are the leaves of composites.
func (g *gatherer) wantsFacts() bool {
	return g.wants(memory.RecordFact) || g.wants(memory.RecordComposite)
}

// comparesVectors reports whether the semantic strategy runs.
func (g *gatherer) comparesVectors() bool {
	return g.req.on(memory.StrategySemantic) && len(g.req.vector) > 0
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

// readFacts reads facts by number, each once. So do the other reads below.
func (g *gatherer) readFacts(nos []int64) error {
	rows, err := g.s.Facts(absent(nos, g.facts))
	for _, f := range rows {
		g.facts[f.No] = f
	}
	return err
}

func (g *gatherer) readMessages(nos []int64) error {
	rows, err := g.s.Messages(absent(nos, g.messages))
	for _, m := range rows {
		g.messages[m.No] = m
	}
	return err
}

// readComposites leaves out a composite of which the filter excludes a leaf, and lets its other leaves stand for it.
func (g *gatherer) readComposites(nos []int64) error {
	rows, err := g.s.Composites(absent(nos, g.composites))
	for _, c := range rows {
		if c.Whole && len(c.Leaves) > 0 {
			g.composites[c.No] = c
			continue
		}
		for _, leaf := range c.Leaves {
			g.pool.of(memory.RecordFact, memory.StrategyGraph).raise(leaf, 0)
		}
	}
	return err
}

func (g *gatherer) readObservations(nos []int64) error {
	rows, err := g.s.Observations(absent(nos, g.observations))
	for _, o := range rows {
		g.observations[o.No] = o
	}
	return err
}

// readFoundFacts reads every fact that was found, drops those that the filter excludes, and returns the others.
func (g *gatherer) readFoundFacts() ([]int64, error) {
	nos := g.pool.rows(memory.RecordFact)
	if err := g.readFacts(nos); err != nil {
		return nil, err // a row that was not read may still pass
	}
	return dropExcluded(g, memory.RecordFact, nos, g.facts), nil
}

// readFound reads what was found, for readCandidates.
func (g *gatherer) readFound(context.Context) error {
	facts, messages := g.pool.rows(memory.RecordFact), g.pool.rows(memory.RecordMessage)
	return g.together(func(g *gatherer) error { return g.readFacts(facts) }, func(g *gatherer) error { return g.readMessages(messages) })
}

// readCandidates reads everything that was found and drops what the filter excludes.
func (g *gatherer) readCandidates() error {
	composites, observations, messages := g.pool.rows(memory.RecordComposite), g.pool.rows(memory.RecordObservation), g.pool.rows(memory.RecordMessage)
	var facts []int64
	err := g.together(
		func(g *gatherer) (err error) {
			if err = g.readComposites(composites); err == nil { // which may find facts
				facts, err = g.readFoundFacts()
			}
			return err
		},
		func(g *gatherer) error { return g.readObservations(observations) },
		func(g *gatherer) error { return g.readMessages(messages) },
	)
	if err != nil {
		return err
	}
	g.candidates = map[memory.Record][]int64{
		memory.RecordMessage: dropExcluded(g, memory.RecordMessage, messages, g.messages), memory.RecordFact: facts,
		memory.RecordComposite:   dropExcluded(g, memory.RecordComposite, composites, g.composites),
		memory.RecordObservation: dropExcluded(g, memory.RecordObservation, observations, g.observations),
	}
	return nil
}

// dropExcluded returns the numbers of rows that were read, and drops the scores of the others.
func dropExcluded[V any](g *gatherer, r memory.Record, nos []int64, have map[int64]V) []int64 {
	for _, no := range absent(nos, have) {
		for _, s := range g.pool[r] {
			delete(s, no)
		}
	}
	return slices.DeleteFunc(nos, func(no int64) bool { _, ok := have[no]; return !ok })
}

// texts reads rows of a record as candidates for ranking.
func (g *gatherer) texts(r memory.Record, nos []int64) ([]rank.Candidate, error) {
	var out []rank.Candidate
	add := func(no int64, c rank.Candidate) {
		c.ID, c.Seq, c.Session = fmt.Sprintf("%s:%d", r, no), uint64(no), fmt.Sprintf("%s:%d", r, no)
		out = append(out, c)
	}
	var err error
	switch r {
	case memory.RecordFact:
		err = g.readFacts(nos)
		for _, f := range present(nos, g.facts) {
			add(f.No, rank.Candidate{Speaker: f.Speaker, Text: f.Text, Time: f.Said})
		}
	case memory.RecordComposite:
		err = g.readComposites(nos)
		for _, c := range present(nos, g.composites) {
			add(c.No, rank.Candidate{Text: c.Text, Time: c.Said})
		}
	case memory.RecordObservation:
		err = g.readObservations(nos)
		for _, o := range present(nos, g.observations) {
			add(o.No, rank.Candidate{Text: o.Text, Time: o.Said})
		}
	}
	return out, err
}
