package recall

import (
	"context"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/recall/rank"
	"github.com/eunoe-memory/eunoe/pkg/text"
)

// conversation is what leads to the messages that are ranked.
type conversation struct {
	rows    []int64         // found by words
	near    []int64         // found by their vectors
	around  []Neighbourhood // of both
	sources []int64         // messages that the best facts rest on, ascending

	candidates []rank.Candidate       // ascending by number, which is their Seq
	talk       float64                // the share of a talk among people that they are, 0 to 1
	passages   map[int64]rank.Passage // of long messages that were ranked, the part that answers best
}

// neighbours finds the messages around those that were found.
func (g *gatherer) neighbours(context.Context) (err error) {
	c := g.conversation
	if c.rows, err = g.withThings(memory.RecordMessage, g.lookups[memory.RecordMessage].best(g.cfg.Messages)); err != nil {
		return err
	}
	if err = g.addDated(); err != nil {
		return err
	}
	c.near = g.pool.of(memory.RecordMessage, memory.StrategySemantic).best(g.cfg.Messages)
	c.around, err = g.s.Around(distinct(c.rows, c.near), 3, 4)
	return err
}

// latestThen is how many messages of the time that a question names are looked at, the latest.
const latestThen = 1000

// addDated adds the messages that say most of the question's words among those of the time it names: in a large bank others
// say more of them, at other times. A time that goes on ("this week") is no time that is remembered, and one for which
// something was planned that was put off is not only when that was spoken of.
func (g *gatherer) addDated() error {
	if g.question.from.IsZero() || g.question.moved || !g.question.to.Before(g.question.now) || g.cfg.Dated == 0 {
		return nil
	}
	then, err := g.s.Within(memory.RecordMessage, g.question.from, g.question.to, latestThen)
	if err != nil {
		return err
	}
	g.conversation.rows = appendNew(g.conversation.rows, g.lookups[memory.RecordMessage].bestOf(g.cfg.Dated, slices.Values(then)))
	return nil
}

// sourcesOfBestFacts finds the messages that the best facts found so far rest on.
func (g *gatherer) sourcesOfBestFacts(context.Context) error {
	best := g.pool.of(memory.RecordFact, memory.StrategyKeyword).best(g.cfg.Facts)
	best = append(best, g.pool.of(memory.RecordFact, memory.StrategySemantic).best(g.cfg.Facts/2)...)
	links, err := g.s.Links(best)
	for _, l := range links {
		g.conversation.sources = append(g.conversation.sources, l.Message)
	}
	g.conversation.sources = distinct(g.conversation.sources)
	return err
}

// messagesToRank reads the messages that are ranked: those that were found by words or vectors; those next to a match,
// where the graph has weight, since an answer often has none of the words of its question; and those that the best
// facts rest on, so that a fact supports its message instead of being measured against it.
func (g *gatherer) messagesToRank(context.Context) error {
	c, l := g.conversation, g.lookups[memory.RecordMessage]
	have := make(map[int64]bool, len(c.around))
	for _, n := range c.around {
		have[n.No] = true
	}
	t := newThreads(c.around)
	wanted := c.rows
	if g.req.on(memory.StrategyGraph) {
		wanted = t.adjacent(c.rows) // whose neighbours are all known
	}
	var allowed []MessageRow
	err := g.together(func(g *gatherer) error {
		more, err := g.s.Around(absent(c.sources, have), 3, 4)
		if len(more) > 0 {
			t = newThreads(append(more, c.around...))
		}
		return err
	}, func(g *gatherer) (err error) {
		allowed, err = g.s.Messages(distinct(wanted, c.sources, c.near))
		return err
	})
	if err != nil {
		return err
	}
	candidates, err := t.candidates(g.s, allowed)
	if err != nil {
		return err
	}
	for _, m := range allowed {
		g.messages[m.No] = m
	}
	c.candidates = slices.DeleteFunc(candidates, func(m rank.Candidate) bool { return !l.brought(int64(m.Seq)) && saysNothing(m) })
	return nil
}

// saysNothing reports a message of a word or two that answers no question: no neighbour's words make it worth a place.
func saysNothing(c rank.Candidate) bool {
	if c.Caption != "" {
		return false
	}
	if !fewWords(c.Text) {
		return false
	}
	return c.Prev == nil || c.Prev.Speaker == c.Speaker || !rank.HasQuestionMark(c.Prev.Text)
}

// fewWords reports whether a text has two words at most. In a script without spaces five pairs of characters are as long as
// three words.
func fewWords(s string) bool {
	words, pairs := 0, 0
	for range strings.FieldsSeq(s) {
		if words++; words > 2 {
			return false
		}
	}
	if text.IsASCII(s) {
		return true
	}
	const enough = 100 // bytes
	text.EachIndexWord(s[:min(len(s), enough)], func(w text.IndexWord) {
		if w.CJK {
			pairs++
		}
	})
	return pairs < 5
}

// foundMessages returns the messages that have scores or will have them, ascending. It does not touch the keyword
// scores, which the first connection writes.
func (g *gatherer) foundMessages() []int64 {
	ranked := make([]int64, len(g.conversation.candidates))
	for i, c := range g.conversation.candidates {
		ranked[i] = int64(c.Seq)
	}
	return distinct(ranked, g.pool.rows(memory.RecordMessage, memory.StrategyKeyword))
}
