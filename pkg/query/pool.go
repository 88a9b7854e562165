package query

import (
	"cmp"
	"maps"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// marks are one strategy's scores of one record, by row number, each in [0, 1].
type marks map[int64]float64

// set keeps the higher of two scores.
func (m marks) set(no int64, score float64) {
	if old, ok := m[no]; !ok || score > old {
		m[no] = score
	}
}

// best gives the row numbers by descending score, ties by number, at most n.
func (m marks) best(n int) []int64 {
	list := make([]marked, 0, len(m))
	for no, score := range m {
		list = append(list, marked{no, score})
	}
	return firstOf(list, n, func(a, b marked) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.no, b.no)) })
}

// marked is a row with its score.
type marked struct {
	no    int64
	score float64
}

// firstOf gives the numbers of the first n in the order of compare.
func firstOf(list []marked, n int, compare func(a, b marked) int) []int64 {
	slices.SortFunc(list, compare)
	nos := make([]int64, min(n, len(list)))
	for i := range nos {
		nos[i] = list[i].no
	}
	return nos
}

// pool holds what every strategy found of every record.
type pool map[memory.Record]map[string]marks

// newPool has marks for every strategy and record, so that finding is writing to
// one of them and to nothing else.
func newPool() pool {
	p := pool{}
	for _, r := range memory.Records {
		p[r] = make(map[string]marks, len(memory.Strategies))
		for _, name := range memory.Strategies {
			p[r][name] = marks{}
		}
	}
	return p
}

// of gives the marks of a strategy for a record.
func (p pool) of(r memory.Record, strategy string) marks { return p[r][strategy] }

// numbers gives every row of a record that some strategy found, sorted; without
// names strategies that do not count.
func (p pool) numbers(r memory.Record, without ...string) []int64 {
	var nos []int64
	for name, m := range p[r] {
		if !slices.Contains(without, name) {
			nos = slices.AppendSeq(slices.Grow(nos, len(m)), maps.Keys(m))
		}
	}
	slices.Sort(nos)
	return slices.Compact(nos)
}

// Fused is the documented formula: the weighted mean of a row's scores by the
// strategies, each score in [0, 1] and 0 where the strategy did not find the
// row. Weights of strategies that are absent count as 0; without any weight the
// result is 0. A single strategy keeps its own order and scores.
func Fused(scores, weights map[string]float64) float64 {
	sum := 0.0
	for i, share := range shares(weights) {
		sum += share * scores[memory.Strategies[i]]
	}
	return sum
}

// shares gives what share of all weights each of memory.Strategies has.
func shares(weights map[string]float64) []float64 {
	out := make([]float64, len(memory.Strategies))
	total := 0.0
	for _, name := range memory.Strategies {
		total += weights[name]
	}
	for i, name := range memory.Strategies {
		if total != 0 {
			out[i] = weights[name] / total
		}
	}
	return out
}

// fused gives Fused of any row of a record, with the scores that strategies gave it.
func (p pool) fused(r memory.Record, weights map[string]float64, strategies ...string) func(no int64) float64 {
	by := shares(weights)
	var found []marks
	var share []float64
	for i, name := range memory.Strategies {
		if m := p.of(r, name); len(m) > 0 && by[i] != 0 && slices.Contains(strategies, name) {
			found, share = append(found, m), append(share, by[i])
		}
	}
	return func(no int64) float64 {
		sum := 0.0
		for i, m := range found {
			sum += share[i] * m[no]
		}
		return sum
	}
}

// scores gives what each strategy gave a row.
func (p pool) scores(r memory.Record, no int64) map[string]float64 {
	out := map[string]float64{}
	for name, m := range p[r] {
		if s, ok := m[no]; ok {
			out[name] = s
		}
	}
	return out
}

// ranks gives each row's place in each strategy's order, from 1.
func (p pool) ranks(r memory.Record) map[string]map[int64]int {
	out := map[string]map[int64]int{}
	for name, m := range p[r] {
		at := make(map[int64]int, len(m))
		for i, no := range m.best(len(m)) {
			at[no] = i + 1
		}
		out[name] = at
	}
	return out
}
