package query

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

	message int64   // whose score it has; 0 = its own
	facts   []int64 // that rest on it, and lend it theirs
}

// sortEntries orders by descending score, ties by id.
func sortEntries(list []entry) {
	slices.SortFunc(list, func(a, b entry) int {
		if c := cmp.Compare(b.score, a.score); c != 0 {
			return c
		}
		return cmp.Compare(a.id, b.id)
	})
}

// folder brings messages and the facts that rest on them to one place each.
type folder struct {
	g        *gatherer
	messages marks
	facts    marks
	current  marks             // facts that hold now in place of what was said
	onto     map[int64][]int64 // message to the facts found that rest on it
	under    map[int64][]int64 // fact to the messages found that it rests on
	placed   map[int64]bool    // messages that have a place
	spent    map[int64]bool    // facts that have a place or are covered by one
}

// fold gives the entries of messages and facts, unordered. A fact supports the
// messages it rests on; one content takes one place: the fact's, when it holds
// every word of the question that the message holds, else the message's.
// telling is what each fact says for its messages.
func (g *gatherer) fold(messages, facts, telling, current marks) ([]entry, error) {
	f := folder{g: g, messages: messages, facts: facts, current: current, onto: map[int64][]int64{}, under: map[int64][]int64{},
		placed: make(map[int64]bool, len(messages)), spent: make(map[int64]bool, len(facts))}
	links, err := g.links(slices.Sorted(maps.Keys(facts)))
	if err != nil {
		return nil, err
	}
	for _, l := range links {
		if _, ok := messages[l.Message]; ok {
			f.onto[l.Message] = append(f.onto[l.Message], l.Fact)
			f.under[l.Fact] = append(f.under[l.Fact], l.Message)
		}
	}
	supported := make(marks, len(messages))
	for no, score := range messages {
		best := score
		for _, fact := range f.onto[no] {
			best = max(best, telling[fact])
		}
		supported[no] = score + g.cfg.Support*(best-score)
		for _, fact := range f.onto[no] {
			supported[no] = max(supported[no], current[fact])
		}
	}
	var out []entry
	saying := map[string]int{}
	for _, no := range supported.best(len(supported)) {
		e, ok := f.place(no, supported[no])
		if !ok {
			continue
		}
		if e.record == memory.RecordMessage && len(out) < 2*g.a.maxFacts+20 { // past those none is shown
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
	for _, no := range facts.best(len(facts)) {
		if !f.spent[no] && g.wants(memory.RecordFact) {
			out = append(out, entry{record: memory.RecordFact, no: no, id: string(g.facts[no].ID), score: facts[no]})
		}
	}
	return out, nil
}

// place gives the entry of a message, unless what it says has a place already.
func (f folder) place(no int64, score float64) (entry, bool) {
	if f.placed[no] {
		return entry{}, false
	}
	f.placed[no] = true
	e := entry{record: memory.RecordMessage, no: no, id: string(f.g.messages[no].ID), score: score, message: no, facts: f.onto[no]}
	if fact, ok := f.stand(no); ok {
		e.record, e.no, e.id = memory.RecordFact, fact, string(f.g.facts[fact].ID)
		for _, other := range f.under[fact] {
			if f.covers(fact, other) {
				f.placed[other] = true
			}
		}
	}
	for _, fact := range f.onto[no] {
		f.spent[fact] = true
	}
	return e, true
}

// stand gives the best fact that may stand for a message.
func (f folder) stand(no int64) (int64, bool) {
	if !f.g.wants(memory.RecordFact) {
		return 0, false
	}
	best, found := int64(0), false
	for _, fact := range f.onto[no] {
		if f.spent[fact] || !f.covers(fact, no) {
			continue
		}
		if !found || f.facts[fact] > f.facts[best] || f.facts[fact] == f.facts[best] && f.g.facts[fact].ID < f.g.facts[best].ID {
			best, found = fact, true
		}
	}
	return best, found
}

// covers reports whether a fact holds at least the question's words that the
// message holds, or holds now in place of what had them.
func (f folder) covers(fact, message int64) bool {
	if f.current[fact] > 0 {
		return true
	}
	held, asked := f.g.found[memory.RecordFact].has[fact], f.g.found[memory.RecordMessage].has[message]
	return bits.OnesCount64(asked&^held) == 0
}
