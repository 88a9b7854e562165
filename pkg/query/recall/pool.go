package recall

import (
	"cmp"
	"maps"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// scores are one strategy's scores of one record, by row number, each in [0, 1].
type scores map[int64]float64

// raise keeps the higher of two scores of a row.
func (s scores) raise(no int64, score float64) {
	if old, ok := s[no]; !ok || score > old {
		s[no] = score
	}
}

// best returns up to n row numbers by descending score, ties by number.
func (s scores) best(n int) []int64 {
	list := make([]scored, 0, len(s))
	for no, score := range s {
		list = append(list, scored{no, score})
	}
	return firstOf(list, n, func(a, b scored) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.no, b.no)) })
}

// scored is a row with its score.
type scored struct {
	no    int64
	score float64
}

// firstOf returns the numbers of the first n in the order of compare.
func firstOf(list []scored, n int, compare func(a, b scored) int) []int64 {
	slices.SortFunc(list, compare)
	nos := make([]int64, min(n, len(list)))
	for i := range nos {
		nos[i] = list[i].no
	}
	return nos
}

// pool holds the scores of every record by every strategy.
type pool map[memory.Record]map[string]scores

// newPool has scores for every strategy and record, so that a strategy writes to its own scores and to nothing else.
func newPool() pool {
	p := pool{}
	for _, r := range memory.Records {
		p[r] = make(map[string]scores, len(memory.Strategies))
		for _, name := range memory.Strategies {
			p[r][name] = scores{}
		}
	}
	return p
}

// of returns the scores of a strategy for a record.
func (p pool) of(r memory.Record, strategy string) scores { return p[r][strategy] }

// rows returns every row of a record that some strategy found, ascending; what the strategies named without found
// alone does not count.
func (p pool) rows(r memory.Record, without ...string) []int64 {
	var nos []int64
	for name, s := range p[r] {
		if !slices.Contains(without, name) {
			nos = slices.AppendSeq(slices.Grow(nos, len(s)), maps.Keys(s))
		}
	}
	slices.Sort(nos)
	return slices.Compact(nos)
}

// FusedScore is the documented formula: the weighted mean of a row's scores by the strategies, each score in [0, 1]
// and 0 where the strategy did not find the row. An absent weight counts as 0; without any weight the result is 0. A
// single strategy keeps its own order and scores.
func FusedScore(byStrategy, weights map[string]float64) float64 {
	sum := 0.0
	for i, share := range shares(weights) {
		sum += share * byStrategy[memory.Strategies[i]]
	}
	return sum
}

// shares returns each strategy's share of all weights, in the order of memory.Strategies.
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

// fused returns a function that is FusedScore of any row of a record, over the scores by some strategies.
func (p pool) fused(r memory.Record, weights map[string]float64, strategies ...string) func(no int64) float64 {
	all := shares(weights)
	var lists []scores
	var share []float64
	for i, name := range memory.Strategies {
		if s := p.of(r, name); len(s) > 0 && all[i] != 0 && slices.Contains(strategies, name) {
			lists, share = append(lists, s), append(share, all[i])
		}
	}
	return func(no int64) float64 {
		sum := 0.0
		for i, s := range lists {
			sum += share[i] * s[no]
		}
		return sum
	}
}

// ranks returns each row's place in each strategy's order, from 1.
func (p pool) ranks(r memory.Record) map[string]map[int64]int {
	out := map[string]map[int64]int{}
	for name, s := range p[r] {
		at := make(map[int64]int, len(s))
		for i, no := range s.best(len(s)) {
			at[no] = i + 1
		}
		out[name] = at
	}
	return out
}

// absent returns the numbers that are not in have, in their order.
func absent[V any](nos []int64, have map[int64]V) []int64 {
	var out []int64
	for _, no := range nos {
		if _, ok := have[no]; !ok {
			out = append(out, no)
		}
	}
	return out
}

// present returns what have holds of the numbers, in their order.
func present[V any](nos []int64, have map[int64]V) []V {
	out := make([]V, 0, len(nos))
	for _, no := range nos {
		if v, ok := have[no]; ok {
			out = append(out, v)
		}
	}
	return out
}

// distinct returns every number of the lists once, ascending.
func distinct(lists ...[]int64) []int64 {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all)
}

// without returns the numbers that are not among those to leave out, which ascend.
func without(nos, out []int64) []int64 {
	return slices.DeleteFunc(slices.Clone(nos), func(no int64) bool { _, found := slices.BinarySearch(out, no); return found })
}
