package recall

import (
	"math"
	"strconv"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/recall/rank"
)

// fuse returns the entries of everything that was found and passes the filter, best first, ties by id.
func (g *gatherer) fuse() ([]entry, error) {
	evidence := g.evidence()
	messages, err := g.fuseMessages()
	if err != nil {
		return nil, err
	}
	current, err := g.currentFacts(messages, evidence)
	if err != nil {
		return nil, err
	}
	facts, err := g.fuseFacts(current)
	if err != nil {
		return nil, err
	}
	leaves, err := g.dedupe(messages.scores, facts, evidence, current)
	if err != nil {
		return nil, err
	}
	return g.mergeNodes(leaves, g.fuseNodes()), nil
}

// evidence returns how far facts speak for the messages they rest on: by their own words and meaning. That a fact names
// somebody or lies near another does not tell which message holds the answer.
func (g *gatherer) evidence() scores {
	nos := g.candidates[memory.RecordFact]
	out, fused := make(scores, len(nos)), g.pool.fused(memory.RecordFact, g.req.weights, memory.StrategyKeyword, memory.StrategySemantic)
	for _, no := range nos {
		out[no] = fused(no)
	}
	return out
}

// messageScores are the fused scores of messages, and which of the messages are outdated.
type messageScores struct {
	scores
	ended []int64 // all of their facts have ended
	full  scores  // the scores of ended before they were scaled down
}

// fuseMessages scores messages. A message that repeats what memory said is scaled down, and so is one all of whose
// facts have ended.
func (g *gatherer) fuseMessages() (messageScores, error) {
	nos := g.candidates[memory.RecordMessage]
	out, fused := messageScores{scores: make(scores, len(nos))}, g.pool.fused(memory.RecordMessage, g.req.weights, memory.Strategies...)
	for _, no := range nos {
		out.scores[no] = fused(no)
		if g.messages[no].Recalled {
			out.scores[no] *= g.cfg.Repeated
		}
	}
	if !g.wantsFacts() {
		return out, nil
	}
	var err error
	if out.ended, err = g.endedMessages(nos); err != nil || len(out.ended) == 0 {
		return out, err
	}
	out.full = make(scores, len(out.ended))
	for _, no := range out.ended {
		out.full[no] = out.scores[no]
		out.scores[no] *= g.cfg.Ended
	}
	return out, nil
}

// currentFacts returns the least scores of facts that answer whatever their own words are: those that are valid in place
// of what messages said, and those that give a state the question asks for.
func (g *gatherer) currentFacts(messages messageScores, evidence scores) (scores, error) {
	current := scores{}
	if !g.wantsFacts() {
		return current, nil
	}
	if err := g.successors(messages, current); err != nil {
		return nil, err
	}
	best := 0.0
	for _, score := range messages.scores {
		best = max(best, score)
	}
	return current, g.states(best, evidence, current)
}

// successors scores the facts that replaced what messages said by the score of what they replaced, as a fact or in its
// message: "Alice moved to London" answers where she lives, since it took the place of "Alice lives in Paris".
func (g *gatherer) successors(messages messageScores, current scores) error {
	if len(messages.ended) == 0 {
		return nil
	}
	list, err := g.s.Successors(messages.ended)
	if err != nil || len(list) == 0 || !g.req.on(memory.StrategyGraph) {
		return err
	}
	candidates := make([]rank.Candidate, len(list))
	for i, s := range list {
		candidates[i] = rank.Candidate{ID: strconv.Itoa(i), Seq: uint64(i), Session: strconv.Itoa(i), Speaker: s.Speaker, Text: s.Text, Time: s.Said}
	}
	graph := g.pool.of(memory.RecordFact, memory.StrategyGraph)
	var nos []int64
	for _, s := range g.keywordScores(memory.RecordMessage, candidates) {
		if s.OwnCover <= 0 {
			continue
		}
		fact, message := list[s.Index].Fact, list[s.Index].Message
		current.raise(fact, max(messages.full[message], FusedScore(map[string]float64{memory.StrategyKeyword: s.Score}, g.req.weights)))
		graph.raise(fact, s.Score*HopDecay)
		nos = append(nos, fact)
	}
	return g.readFacts(nos)
}

// fuseFacts scores facts, each at least by its score in current.
func (g *gatherer) fuseFacts(current scores) (scores, error) {
	nos := g.pool.rows(memory.RecordFact)
	left, err := g.decay(nos)
	if err != nil {
		return nil, err
	}
	out, fused := make(scores, len(nos)), g.pool.fused(memory.RecordFact, g.req.weights, memory.Strategies...)
	for _, no := range nos {
		out[no] = max(current[no], fused(no)*left[no])
	}
	return out, nil
}

// Decay is the relevance that a fact still has at now: half after each half-life since it was last used (or said, where
// nothing used it), never below DecayFloor; 1 for a system without a half-life and for a time that lies ahead.
func (c Config) Decay(system memory.System, last, now time.Time) float64 {
	halfLife, decays := c.HalfLives[system]
	if !decays || halfLife <= 0 || !now.After(last) {
		return 1
	}
	return max(c.DecayFloor, math.Exp2(-float64(now.Sub(last))/float64(halfLife)))
}

// decay returns the factor that decay leaves of each fact's score: DecayWeight of the score decays, the rest stays. A
// pinned fact does not decay.
func (g *gatherer) decay(facts []int64) (map[int64]float64, error) {
	if err := g.readFacts(facts); err != nil {
		return nil, err
	}
	rows := present(facts, g.facts)
	ids := make([]string, len(rows))
	for i, f := range rows {
		ids[i] = string(f.ID)
	}
	uses, err := g.s.Uses(ids)
	if err != nil {
		return nil, err
	}
	used := make(map[string]time.Time, len(uses))
	for _, u := range uses {
		if u.Used > 0 {
			used[u.ID] = u.At
		}
	}
	out := make(map[int64]float64, len(rows))
	for _, f := range rows {
		last := f.Said
		if at, ok := used[string(f.ID)]; ok && at.After(last) {
			last = at
		}
		left := g.cfg.Decay(f.Type.System(), last, g.req.Now)
		if f.Pinned {
			left = 1
		}
		out[f.No] = 1 - g.cfg.DecayWeight*(1-left)
	}
	return out, nil
}

// fuseNodes returns the entries of composites and observations, best first. They are scaled down, unless the question
// asks for an overview or nothing else is asked for.
func (g *gatherer) fuseNodes() []entry {
	scale := g.cfg.Node
	if g.question.overview || !g.wants(memory.RecordMessage) && !g.wants(memory.RecordFact) {
		scale = 1
	}
	var nodes []entry
	for _, r := range []memory.Record{memory.RecordComposite, memory.RecordObservation} {
		if !g.wants(r) {
			continue
		}
		fused := g.pool.fused(r, g.req.weights, memory.Strategies...)
		for _, no := range g.candidates[r] {
			id := string(g.composites[no].ID)
			if r == memory.RecordObservation {
				id = string(g.observations[no].ID)
			}
			nodes = append(nodes, entry{record: r, no: no, id: id, score: scale * fused(no)})
		}
	}
	sortEntries(nodes)
	return nodes
}

// mergeNodes merges nodes of the tree among the leaves. Nodes take at most their share of the places while there are
// leaves for the others. A composite that says no more than a leaf that has a place comes after everything else.
func (g *gatherer) mergeNodes(leaves, nodes []entry) []entry {
	said := map[string]bool{}
	for _, l := range leaves[:min(len(leaves), g.req.MaxItems)] {
		if l.record == memory.RecordFact {
			said[memory.NormalText(g.facts[l.no].Text)] = true
		}
	}
	room := int(math.Floor(float64(g.req.MaxItems) * g.cfg.NodeShare))
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
