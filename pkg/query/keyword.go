package query

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/rank"
)

// postings are the rows of a record that have terms of the question.
type postings struct {
	known  bool             // looked up
	size   int              // rows of the record in the bank
	has    map[int64]uint64 // which terms of the question a row has
	brings uint64           // the terms that bring rows
	order  []int            // the terms, the rarest first
	worth  []float64        // the idf of each
	df     map[string]int   // rows per stem
}

// in reports whether a row was brought.
func (p *postings) in(no int64) bool { return p.has[no]&p.brings != 0 }

// sum gives the sum of the idf of the terms that a row has.
func (p *postings) sum(has uint64) float64 {
	sum := 0.0
	for _, i := range p.order {
		if has&(1<<i) != 0 {
			sum += p.worth[i]
		}
	}
	return sum
}

// lookUp finds the rows of a record by the question's terms, once. The rarest terms
// bring rows until they have brought cfg.CommonTerm; what commoner terms would
// add is words that nearly every row has. At least one term brings rows.
func (g *gatherer) lookUp(r memory.Record) error {
	p := g.found[r]
	if p.known {
		return nil
	}
	var err error
	if p.size, err = g.s.Size(r); err != nil || p.size == 0 {
		p.known = err == nil
		return err
	}
	lists, all := make([][]int64, len(g.q.terms)), make([]int, len(g.q.terms))
	p.order, p.worth = make([]int, len(g.q.terms)), make([]float64, len(g.q.terms))
	for i, t := range g.q.terms {
		if lists[i], all[i], err = g.s.Matching(r, t, g.cfg.CommonTerm); err != nil {
			return err
		}
		p.df[g.q.Terms[i].Stem] = all[i]
		p.order[i], p.worth[i] = i, idf(p.size, all[i])
	}
	slices.SortStableFunc(p.order, func(a, b int) int { return cmp.Compare(all[a], all[b]) })
	brought := 0
	for _, i := range p.order {
		for _, no := range lists[i] {
			p.has[no] |= 1 << i
		}
		if brought < g.cfg.CommonTerm {
			p.brings |= 1 << i
		}
		brought += len(lists[i])
	}
	p.known = true
	return nil
}

// latestBest gives the n rows with the highest sums; ties: the latest first.
func (p *postings) latestBest(n int) []int64 {
	list := make([]marked, 0, len(p.has))
	for no, has := range p.has {
		if has&p.brings != 0 {
			list = append(list, marked{no, p.sum(has)})
		}
	}
	return firstOf(list, n, func(a, b marked) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.no, a.no)) })
}

func (g *gatherer) lookUpMessages(context.Context) error { return g.lookUp(memory.RecordMessage) }

// conversation is what leads to the messages that are ranked.
type conversation struct {
	rows    []int64         // found by words
	near    []int64         // by their vectors
	around  []Neighbourhood // of both
	resting []int64         // what the best facts rest on, ascending

	candidates []rank.Candidate // by ascending number, which is their Seq
}

// neighbours finds what stands around the messages that were found.
func (g *gatherer) neighbours(context.Context) (err error) {
	t := g.talk
	if t.rows, err = g.withThings(memory.RecordMessage, g.found[memory.RecordMessage].latestBest(g.cfg.Messages)); err != nil {
		return err
	}
	t.near = g.pool.of(memory.RecordMessage, memory.StrategySemantic).best(g.cfg.Messages)
	t.around, err = g.s.Around(distinct(t.rows, t.near), 3, 4)
	return err
}

// rests finds the messages that the best facts found so far rest on.
func (g *gatherer) rests(context.Context) error {
	best := g.pool.of(memory.RecordFact, memory.StrategyKeyword).best(g.cfg.Facts / 2)
	best = append(best, g.pool.of(memory.RecordFact, memory.StrategySemantic).best(g.cfg.Facts/2)...)
	links, err := g.s.Links(best)
	for _, l := range links {
		g.talk.resting = append(g.talk.resting, l.Message)
	}
	g.talk.resting = distinct(g.talk.resting)
	return err
}

// distinct gives every number of the lists once, ascending.
func distinct(lists ...[]int64) []int64 {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all)
}

// toRank reads the messages that are ranked. Where the graph has weight, messages
// beside a match are candidates too: an answer often has none of the words of its
// question. The messages that facts found so far rest on are candidates as well,
// so that a fact supports its message and does not stand before it by another
// measure; and those that are near by their vectors.
func (g *gatherer) toRank(context.Context) error {
	p, rows := g.found[memory.RecordMessage], g.talk.rows
	have := make(map[int64]bool, len(g.talk.around))
	for _, n := range g.talk.around {
		have[n.No] = true
	}
	more, err := g.s.Around(missing(g.talk.resting, have), 3, 4)
	if err != nil {
		return err
	}
	t := newThread(rows, append(more, g.talk.around...))
	wanted := rows
	if g.a.on(memory.StrategyGraph) {
		wanted = t.beside()
	}
	allowed, err := g.s.Messages(distinct(wanted, g.talk.resting, g.talk.near))
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
	g.talk.candidates = slices.DeleteFunc(candidates, func(c rank.Candidate) bool {
		return !p.in(int64(c.Seq)) && empty(c)
	})
	return nil
}

// keywordMessages ranks messages by their words and their neighbours'.
func (g *gatherer) keywordMessages(context.Context) error {
	g.rank(memory.RecordMessage, g.talk.candidates)
	return nil
}

// withThings adds the latest rows of a record that name a thing of a class the
// question asks for: "our cat" has no word of "Which pets do they have?".
func (g *gatherer) withThings(r memory.Record, rows []int64) ([]int64, error) {
	if len(g.q.Things) == 0 || g.cfg.Things == 0 {
		return rows, nil
	}
	more, _, err := g.s.Matching(r, Term{Forms: g.q.Things}, g.cfg.Things)
	for _, no := range more {
		if !slices.Contains(rows, no) {
			rows = append(rows, no)
		}
	}
	return rows, err
}

// empty reports a message of a word or two that answers no question: no
// neighbour's words make it worth a place.
func empty(c rank.Candidate) bool {
	if c.Caption != "" {
		return false
	}
	words := 0
	for range strings.FieldsSeq(c.Text) {
		if words++; words > 2 {
			return false
		}
	}
	return c.Prev == nil || c.Prev.Speaker == c.Speaker || !rank.HasQuestionMark(c.Prev.Text)
}

// keywordTexts ranks facts, composites or observations by their own words.
func (g *gatherer) keywordTexts(r memory.Record, limit int) error {
	err := g.lookUp(r)
	if err != nil {
		return err
	}
	rows := g.found[r].latestBest(limit)
	if r == memory.RecordFact {
		if rows, err = g.withThings(r, rows); err != nil {
			return err
		}
	}
	candidates, err := g.texts(r, distinct(rows))
	if err != nil {
		return err
	}
	g.rank(r, candidates)
	return nil
}

// texts reads rows of a record as candidates and remembers them.
func (g *gatherer) texts(r memory.Record, nos []int64) ([]rank.Candidate, error) {
	var out []rank.Candidate
	add := func(no int64, c rank.Candidate) {
		c.ID, c.Seq, c.Session = fmt.Sprintf("%s:%d", r, no), uint64(no), fmt.Sprintf("%s:%d", r, no)
		out = append(out, c)
	}
	switch r {
	case memory.RecordFact:
		err := g.readFacts(nos)
		for _, f := range known(nos, g.facts) {
			add(f.No, rank.Candidate{Speaker: f.Speaker, Text: f.Text, Time: f.Said})
		}
		return out, err
	case memory.RecordComposite:
		err := g.readComposites(nos)
		for _, c := range known(nos, g.composites) {
			add(c.No, rank.Candidate{Text: c.Text, Time: c.Said})
		}
		return out, err
	case memory.RecordObservation:
		err := g.readObservations(nos)
		for _, o := range known(nos, g.observations) {
			add(o.No, rank.Candidate{Text: o.Text, Time: o.Said})
		}
		return out, err
	}
	return nil, nil
}
