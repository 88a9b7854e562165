package recall

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// entry is one place in the answer.
type entry struct {
	record memory.Record
	no     int64
	id     string
	score  float64
	also   []memory.MessageID // messages that say the same

	message int64   // the message whose score it has; 0 = its own
	facts   []int64 // that rest on the message and support it
}

// sortEntries orders by descending score, ties by id.
func sortEntries(list []entry) {
	slices.SortFunc(list, func(a, b entry) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id)) })
}

// deduper merges messages and the facts that rest on them into one entry each.
type deduper struct {
	*gatherer
	factScores scores
	current    scores
	factsOn    map[int64][]int64 // message to the facts found that rest on it
	sources    map[int64][]int64 // fact to the messages found that it rests on
	placed     map[int64]bool    // messages that have a place
	covered    map[int64]bool    // facts that have a place, or whose message has one
}

// dedupe returns the entries of messages and facts, best first, ties by id. A fact supports the messages it rests on by
// its evidence, and by its score in current. One content takes one place: the fact's, when it holds every word of the
// question that the message holds, else the message's. A fact whose messages are not ranked scores less (Config.Alone),
// but no less than in current.
func (g *gatherer) dedupe(messages, facts, evidence, current scores) ([]entry, error) {
	d := deduper{gatherer: g, factScores: facts, current: current, factsOn: map[int64][]int64{}, sources: map[int64][]int64{},
		placed: make(map[int64]bool, len(messages)), covered: make(map[int64]bool, len(facts))}
	links, err := g.links(slices.Sorted(maps.Keys(facts)))
	if err != nil {
		return nil, err
	}
	for _, l := range links {
		if _, ok := messages[l.Message]; ok {
			d.factsOn[l.Message] = append(d.factsOn[l.Message], l.Fact)
			d.sources[l.Fact] = append(d.sources[l.Fact], l.Message)
		}
	}
	supported := make(scores, len(messages))
	for no, score := range messages {
		best := score
		for _, fact := range d.factsOn[no] {
			best = max(best, evidence[fact])
		}
		supported[no] = score + g.cfg.Support*g.conversation.talk*(best-score)
		for _, fact := range d.factsOn[no] {
			supported[no] = max(supported[no], current[fact])
		}
	}
	var out []entry
	saying := map[string]int{} // what a message says to the place of the first that says it
	for _, no := range supported.best(len(supported)) {
		if d.placed[no] {
			continue
		}
		e := d.place(no, supported[no])
		if e.record == memory.RecordMessage && len(out) < 2*g.req.MaxItems+20 { // past those none is shown
			m := g.messages[no]
			words := m.Speaker + "\x00" + memory.NormalText(m.Text) + "\x00" + memory.NormalText(m.Caption)
			if first, said := saying[words]; said {
				out[first].also = append(out[first].also, m.ID)
				continue
			}
			saying[words] = len(out)
		}
		out = append(out, e)
	}
	alone := 1.0 // of facts whose message is not ranked
	if g.wants(memory.RecordMessage) {
		alone -= (1 - g.conversation.talk) * (1 - g.cfg.Alone)
	}
	for _, no := range facts.best(len(facts)) {
		if !d.covered[no] && g.wants(memory.RecordFact) {
			out = append(out, entry{record: memory.RecordFact, no: no, id: string(g.facts[no].ID), score: max(facts[no]*alone, current[no])})
		}
	}
	sortEntries(out)
	return out, nil
}

// place returns the entry of a message: the best fact that covers it, else the message itself.
func (d *deduper) place(no int64, score float64) entry {
	d.placed[no] = true
	e := entry{record: memory.RecordMessage, no: no, id: string(d.messages[no].ID), score: score, message: no, facts: d.factsOn[no]}
	if fact, ok := d.representative(no); ok {
		e.record, e.no, e.id = memory.RecordFact, fact, string(d.facts[fact].ID)
		for _, other := range d.sources[fact] {
			if d.covers(fact, other) {
				d.placed[other] = true
			}
		}
	}
	for _, fact := range d.factsOn[no] {
		d.covered[fact] = true
	}
	return e
}

// representative returns the best fact that may take the place of a message.
func (d *deduper) representative(message int64) (best int64, found bool) {
	if !d.wants(memory.RecordFact) {
		return 0, false
	}
	for _, fact := range d.factsOn[message] {
		if d.covered[fact] || !d.covers(fact, message) {
			continue
		}
		if !found || d.factScores[fact] > d.factScores[best] || d.factScores[fact] == d.factScores[best] && d.facts[fact].ID < d.facts[best].ID {
			best, found = fact, true
		}
	}
	return best, found
}

// covers reports whether a fact holds at least the question's words that the message holds, or is valid in place of
// what held them.
func (d *deduper) covers(fact, message int64) bool {
	if d.current[fact] > 0 {
		return true
	}
	held, asked := d.lookups[memory.RecordFact].has[fact], d.lookups[memory.RecordMessage].has[message]
	return bits.OnesCount64(asked&^held) == 0
}
