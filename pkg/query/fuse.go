package query

import (
	"maps"
	"math"
	"strconv"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/rank"
)

// fuse gives the entries of everything that was found and passes, best first,
// ties by id.
func (g *gatherer) fuse(weights map[string]float64) ([]entry, error) {
	telling := g.telling(weights)
	messages, current, err := g.fusedMessages(weights, telling)
	if err != nil {
		return nil, err
	}
	facts, err := g.fusedFacts(weights, current)
	if err != nil {
		return nil, err
	}
	leaves, err := g.fold(messages, facts, telling, current)
	if err != nil {
		return nil, err
	}
	sortEntries(leaves)
	var nodes []entry
	for _, r := range []memory.Record{memory.RecordComposite, memory.RecordObservation} {
		if !g.wants(r) {
			continue
		}
		fused := g.pool.fused(r, weights, memory.Strategies...)
		for _, no := range g.settled[r] {
			scale := g.cfg.Node
			if g.q.overview || !g.wants(memory.RecordMessage) && !g.wants(memory.RecordFact) {
				scale = 1
			}
			id := string(g.composites[no].ID)
			if r == memory.RecordObservation {
				id = string(g.observations[no].ID)
			}
			nodes = append(nodes, entry{record: r, no: no, id: id, score: scale * fused(no)})
		}
	}
	sortEntries(nodes)
	return g.reserve(leaves, nodes), nil
}

// fusedFacts scores facts. current are the scores some have at least.
func (g *gatherer) fusedFacts(weights map[string]float64, current marks) (marks, error) {
	nos := g.pool.numbers(memory.RecordFact)
	left, err := g.decays(nos)
	if err != nil {
		return nil, err
	}
	out, fused := make(marks, len(nos)), g.pool.fused(memory.RecordFact, weights, memory.Strategies...)
	for _, no := range nos {
		out[no] = max(current[no], fused(no)*left[no])
	}
	return out, nil
}

// telling gives what the facts' own words and meaning say for the messages they
// rest on. That a fact names somebody or lies near another says nothing of
// which message holds the answer.
func (g *gatherer) telling(weights map[string]float64) marks {
	nos := g.settled[memory.RecordFact]
	out, fused := make(marks, len(nos)), g.pool.fused(memory.RecordFact, weights, memory.StrategyKeyword, memory.StrategySemantic)
	for _, no := range nos {
		out[no] = fused(no)
	}
	return out
}

// fusedMessages scores messages, and scales down what facts tell against: a
// message whose facts have all ended, and one that repeats what memory said.
// current are the facts that hold in place of what ended, and those that give a
// state that is asked for; telling is what facts say for the messages.
func (g *gatherer) fusedMessages(weights map[string]float64, telling marks) (out, current marks, err error) {
	nos := g.settled[memory.RecordMessage]
	out, current = make(marks, len(nos)), marks{}
	fused := g.pool.fused(memory.RecordMessage, weights, memory.Strategies...)
	for _, no := range nos {
		out[no] = fused(no)
		if g.messages[no].Recalled {
			out[no] *= g.cfg.Repeated
		}
	}
	if !g.wantsFacts() {
		return out, current, nil
	}
	ended, err := g.ended(nos)
	if err != nil {
		return nil, nil, err
	}
	if len(ended) > 0 {
		if current, err = g.successors(ended, out, weights); err != nil {
			return nil, nil, err
		}
	}
	for _, no := range ended {
		out[no] *= g.cfg.Ended
	}
	best := 0.0
	for _, score := range out {
		best = max(best, score)
	}
	return out, current, g.states(best, telling, current)
}

// successors scores the facts that hold in place of what messages said by what
// the ended ones would score, as facts or in their messages: "Alice moved to
// London" answers where she lives, since it took the place of "Alice lives in
// Paris".
func (g *gatherer) successors(ended []int64, messages marks, weights map[string]float64) (marks, error) {
	current := marks{}
	list, err := g.s.Successors(ended)
	if err != nil || len(list) == 0 || weights[memory.StrategyGraph] <= 0 {
		return current, err
	}
	candidates := make([]rank.Candidate, len(list))
	for i, s := range list {
		candidates[i] = rank.Candidate{ID: strconv.Itoa(i), Seq: uint64(i), Session: strconv.Itoa(i), Speaker: s.Speaker, Text: s.Text, Time: s.Said}
	}
	graph := g.pool.of(memory.RecordFact, memory.StrategyGraph)
	var nos []int64
	for _, s := range g.score(memory.RecordMessage, candidates) {
		if s.Parts[rank.CoverOwn] <= 0 {
			continue
		}
		fact := list[s.Index].Fact
		current.set(fact, max(messages[list[s.Index].Message], Fused(map[string]float64{memory.StrategyKeyword: s.Score}, weights)))
		graph.set(fact, s.Score*HopDecay)
		nos = append(nos, fact)
	}
	return current, g.readFacts(nos)
}

// reserve merges nodes of the tree among the leaves. Nodes take at most their
// share of the places while there are leaves for the others, and a composite
// that says no more than a leaf that has a place comes after everything else.
func (g *gatherer) reserve(leaves, nodes []entry) []entry {
	said := map[string]bool{}
	for _, l := range leaves[:min(len(leaves), g.a.maxFacts)] {
		if l.record == memory.RecordFact {
			said[memory.NormalText(g.facts[l.no].Text)] = true
		}
	}
	room := int(math.Floor(float64(g.a.maxFacts) * g.cfg.NodeShare))
	var among, after []entry
	for _, n := range nodes {
		if len(among) < room && (n.record != memory.RecordComposite || !said[memory.NormalText(g.composites[n.no].Text)]) {
			among = append(among, n)
		} else {
			after = append(after, n)
		}
	}
	out := append(append([]entry{}, leaves...), among...)
	sortEntries(out)
	return append(out, after...)
}

// explain gives what each strategy gave an entry: the best of the rows it stands for.
func (g *gatherer) explain(e entry, ranks map[memory.Record]map[string]map[int64]int) map[string]memory.Contribution {
	out := map[string]memory.Contribution{}
	best := func(r memory.Record, no int64) {
		for name, score := range g.pool.scores(r, no) {
			at := ranks[r][name][no]
			old, have := out[name]
			if !have || score > old.Score || score == old.Score && at < old.Rank {
				out[name] = memory.Contribution{Rank: at, Score: score}
			}
		}
	}
	if e.message == 0 {
		best(e.record, e.no)
	} else {
		best(memory.RecordMessage, e.message)
		for _, no := range e.facts {
			best(memory.RecordFact, no)
		}
	}
	maps.DeleteFunc(out, func(name string, c memory.Contribution) bool { return c.Score == 0 && name != memory.StrategyRecency })
	return out
}
