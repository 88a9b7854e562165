package recall

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"math"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/recall/rank"
	"github.com/eunoe-memory/eunoe/pkg/text"
)

// lookup is what looking up the terms of the question brought of one record.
type lookup struct {
	done   bool
	size   int              // rows of the record in the bank
	has    map[int64]uint64 // the terms a row has, a bit each
	brings uint64           // the terms that bring rows
	order  []int            // the terms, the rarest first
	idf    []float64        // of each term
	df     map[string]int   // rows per stem
}

// brought reports whether a term brought the row.
func (l *lookup) brought(no int64) bool { return l.has[no]&l.brings != 0 }

// best returns the n brought rows with the highest sums of the idf of their terms; ties: the highest number first.
func (l *lookup) best(n int) []int64 { return l.bestOf(n, maps.Keys(l.has)) }

// bestOf is best among some rows.
func (l *lookup) bestOf(n int, rows iter.Seq[int64]) []int64 {
	list := make([]scored, 0, len(l.has))
	for no := range rows {
		has := l.has[no]
		if has&l.brings == 0 {
			continue
		}
		sum := 0.0
		for _, i := range l.order {
			if has&(1<<i) != 0 {
				sum += l.idf[i]
			}
		}
		list = append(list, scored{no, sum})
	}
	return firstOf(list, n, func(a, b scored) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.no, a.no)) })
}

// lookUp finds the rows of a record by the question's terms, once. The rarest terms bring rows until they have brought
// cfg.CommonTerm: nearly every row has the words that commoner terms would add. At least one term brings rows.
func (g *gatherer) lookUp(r memory.Record) error {
	l, terms := g.lookups[r], g.question.lookups
	if l.done {
		return nil
	}
	size, err := g.s.Size(r)
	if l.size = size; err != nil || size == 0 {
		l.done = err == nil
		return err
	}
	rows, all, err := matching(g.s, r, terms, g.cfg.CommonTerm)
	if err != nil {
		return err
	}
	if err := g.lookUpStandIns(r, rows, all); err != nil {
		return err
	}
	l.order, l.idf = make([]int, len(terms)), make([]float64, len(terms))
	for i := range terms {
		l.df[g.question.Terms[i].Stem] = all[i]
		l.order[i], l.idf[i] = i, idf(l.size, all[i])
	}
	slices.SortStableFunc(l.order, func(a, b int) int { return cmp.Compare(all[a], all[b]) })
	brought := 0
	for _, i := range l.order {
		for _, no := range rows[i] {
			l.has[no] |= 1 << i
		}
		if brought < g.cfg.CommonTerm {
			l.brings |= 1 << i
		}
		brought += len(rows[i])
	}
	l.done = true
	return nil
}

// idf is the weight of a term that df of n rows have: never negative.
func idf(n, df int) float64 {
	return math.Log(1 + (float64(n)-float64(df)+.5)/(float64(df)+.5))
}

// seldom is how many rows a term has at most whose stand-ins are looked up too. Up to 12 the sets of the benchmark find as
// much; looking up those of every term, they find no more, and recall takes longer.
const seldom = 5

// lookUpStandIns adds the rows of words that stand for terms which next to nothing has: where nobody said "wedding",
// somebody may have married. Such a term is as rare as it is itself, or where nothing has it as its stand-ins are.
func (g *gatherer) lookUpStandIns(r memory.Record, rows [][]int64, all []int) error {
	var missed []int
	var standIns []Term
	for i, t := range g.question.Terms {
		if all[i] <= seldom && len(t.StandIns) > 0 {
			missed, standIns = append(missed, i), append(standIns, Term{Forms: t.StandIns, Grams: t.CJK})
		}
	}
	found, n, err := matching(g.s, r, standIns, g.cfg.CommonTerm)
	if err != nil {
		return err
	}
	for k, i := range missed {
		if all[i] == 0 {
			all[i] = n[k]
		}
		rows[i] = appendNew(rows[i], found[k])
	}
	return nil
}

// matching looks up terms in a record, each as Searcher.Matching does.
func matching(s Searcher, r memory.Record, terms []Term, limit int) (rows [][]int64, all []int, err error) {
	rows, all = make([][]int64, len(terms)), make([]int, len(terms))
	reads := make([]func(Searcher) error, len(terms))
	for i, t := range terms {
		reads[i] = func(s Searcher) (err error) {
			rows[i], all[i], err = s.Matching(r, t, limit)
			return err
		}
	}
	return rows, all, together(s, reads...)
}

func (g *gatherer) lookUpMessages(context.Context) error { return g.lookUp(memory.RecordMessage) }

// thingsAtOnce is how many words for things are looked up at a time. Few, because the index compares all of one look-up at
// every row it finds, and the first words are the common ones.
const thingsAtOnce = 50

// withThings adds the latest rows of a record that name a thing of a class the question asks for: "our cat" has no word
// of "Which pets do they have?". Rarer words are looked up until enough rows were found.
func (g *gatherer) withThings(r memory.Record, rows []int64) ([]int64, error) {
	most := g.cfg.Things
	words, grams := thingForms(g.question.Things)
	for _, t := range []Term{{Forms: words}, {Forms: grams, Grams: true}} {
		for forms := range slices.Chunk(t.Forms, thingsAtOnce) {
			if most <= 0 {
				break
			}
			more, _, err := g.s.Matching(r, Term{Forms: forms, Grams: t.Grams}, most)
			if err != nil {
				return nil, err
			}
			rows = appendNew(rows, more)
			most -= len(more)
		}
	}
	return rows, nil
}

// thingForms returns what to look up for things: words, and what stands for words of scripts without spaces in an index.
func thingForms(things []string) (words, grams []string) {
	for _, w := range things {
		if gram := text.GramForm(w); gram != "" {
			grams = append(grams, gram)
		} else {
			words = append(words, w)
		}
	}
	return words, grams
}

// appendNew adds the numbers that rows do not hold yet.
func appendNew(rows, more []int64) []int64 {
	for _, no := range more {
		if !slices.Contains(rows, no) {
			rows = append(rows, no)
		}
	}
	return rows
}

// keywordTexts ranks facts, composites or observations by their own words.
func (g *gatherer) keywordTexts(r memory.Record, limit int) error {
	err := g.lookUp(r)
	if err != nil {
		return err
	}
	rows := g.lookups[r].best(limit)
	if r == memory.RecordFact {
		if rows, err = g.withThings(r, rows); err != nil {
			return err
		}
	}
	candidates, err := g.texts(r, distinct(rows))
	if err != nil {
		return err
	}
	g.keepKeywordScores(r, candidates)
	return nil
}

// keywordMessages ranks messages by their words and their neighbours'.
func (g *gatherer) keywordMessages(context.Context) error {
	g.keepKeywordScores(memory.RecordMessage, g.conversation.candidates)
	return nil
}

// keepKeywordScores ranks candidates whose Seq is their row number.
func (g *gatherer) keepKeywordScores(r memory.Record, candidates []rank.Candidate) {
	into := g.pool.of(r, memory.StrategyKeyword)
	for _, s := range g.keywordScores(r, candidates) {
		no := int64(candidates[s.Index].Seq)
		into.raise(no, s.Score)
		if r != memory.RecordMessage {
			continue
		}
		g.conversation.talk = s.Talk
		if s.Passage.End > 0 {
			g.conversation.passages[no] = s.Passage
		}
	}
}

// keywordScores ranks candidates by the frequencies that terms have in a record. The scores are calibrated.
func (g *gatherer) keywordScores(r memory.Record, candidates []rank.Candidate) []rank.Scored {
	if len(candidates) == 0 {
		return nil
	}
	l := g.lookups[r]
	stats := rank.Stats{N: max(l.size, 1), DF: func(stem string) int { return l.df[stem] }}
	out := rank.Rank(g.question.Question, candidates, stats, g.cfg.Ranking)
	for i := range out {
		out[i].Score = calibrate(out[i].Score, out[i].Full)
	}
	return out
}

// calibrate maps a ranking score onto (0, 1) and keeps every order. A score is measured against full, that of a message
// that holds each word of the question once and no other word. That score becomes .88, half of it .44, and 0 becomes .08.
func calibrate(score, full float64) float64 {
	return 1 / (1 + math.Exp(2.5-4.5*score/full))
}

// maxTerms bounds the terms of a question that are looked up, and maxRead those of which the rarest are chosen.
const maxTerms, maxRead = 64, 256

// narrow leaves a long question its rarest terms, those of its last line first: of a talk so far that is what is asked now.
// A term that nothing has is left out. Half of the places are for the other lines, where they have as many terms.
func (g *gatherer) narrow() error {
	q := &g.question
	if len(q.Terms) <= maxTerms {
		return nil
	}
	if extra := len(q.Terms) - maxRead; extra > 0 {
		keep := make([]bool, len(q.Terms))
		for i := range keep {
			keep[i] = i >= extra
		}
		q.keep(keep)
	}
	r := memory.RecordMessage
	if !g.wants(r) {
		r = memory.RecordFact
	}
	order := make([]int, len(q.Terms))
	_, df, err := matching(g.s, r, q.lookups, g.cfg.CommonTerm)
	if err != nil {
		return err
	}
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(df[a], df[b]) })
	last, keep, kept := q.ofLastLine(), make([]bool, len(q.Terms)), 0
	choose := func(most int, chosen func(i int) bool) {
		for _, i := range order {
			if kept < most && df[i] > 0 && !keep[i] && chosen(i) {
				keep[i] = true
				kept++
			}
		}
	}
	choose(maxTerms/2, func(i int) bool { return last[q.Terms[i].Stem] })
	choose(maxTerms, func(i int) bool { return !last[q.Terms[i].Stem] })
	choose(maxTerms, func(int) bool { return true })
	q.keep(keep)
	return nil
}
