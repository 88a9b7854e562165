// Package fit finds weights of a ranking from labelled questions. It is how rank.DefaultWeights came about.
package fit

import (
	"math"
	"slices"
)

// Example is one question: the values of each candidate, all of one length, and which candidates hold evidence.
type Example struct {
	Set      string // the dataset
	Values   [][]float64
	Relevant []bool
}

// Steps and rate of the descent, and the share of the step before that its averages keep (Adam).
const (
	steps        = 200
	rate         = .1
	keep, keepSq = .9, .999
)

// Softmax returns the weights under which the candidates with evidence are likeliest to be drawn, where a candidate is
// drawn with a chance in proportion to exp(weights · values). Every dataset counts alike, however many questions it has,
// and so does every question of a dataset. ridge charges large weights: ridge/2 times the sum of their squares, each
// weight measured by the spread of its values within a question. A weight whose allowed is false stays 0. Examples
// without evidence, or with nothing else, are left out. The same examples give the same weights.
func Softmax(examples []Example, allowed []bool, ridge float64) []float64 {
	var used []Example
	perSet := map[string]float64{}
	for _, e := range examples {
		if n := relevant(e); n > 0 && n < len(e.Values) {
			used = append(used, e)
			perSet[e.Set]++
		}
	}
	columns, scale := columnsOf(used, allowed)
	questions := make([]question, len(used))
	for i, e := range used {
		questions[i] = newQuestion(e, columns, scale, 1/perSet[e.Set]/float64(len(perSet)))
	}
	k := len(columns)
	w, gradient, mean, square := make([]float64, k), make([]float64, k), make([]float64, k), make([]float64, k)
	for step := 1; step <= steps; step++ {
		for i := range gradient {
			gradient[i] = -ridge * w[i]
		}
		for _, q := range questions {
			q.climb(gradient, w)
		}
		for i, g := range gradient {
			mean[i] = keep*mean[i] + (1-keep)*g
			square[i] = keepSq*square[i] + (1-keepSq)*g*g
			m, s := mean[i]/(1-math.Pow(keep, float64(step))), square[i]/(1-math.Pow(keepSq, float64(step)))
			w[i] += rate * m / (math.Sqrt(s) + 1e-9)
		}
	}
	out := make([]float64, len(allowed))
	for i, c := range columns {
		out[c] = w[i] / scale[i]
	}
	return out
}

// columnsOf returns which values have a weight and differ within a question, and the spread of each.
func columnsOf(examples []Example, allowed []bool) (columns []int, scale []float64) {
	for i, spread := range spreads(examples, len(allowed)) {
		if allowed[i] && spread > 0 {
			columns, scale = append(columns, i), append(scale, spread)
		}
	}
	return columns, scale
}

// question is an Example with the values that say anything of it: those in a talk are 0 elsewhere, and the reverse.
type question struct {
	weights  []int       // of the values, as indexes
	values   [][]float64 // of each candidate, each divided by its spread
	relevant []bool
	evidence int     // candidates with evidence
	worth    float64 // of the question among all
}

func newQuestion(e Example, columns []int, scale []float64, worth float64) question {
	q := question{relevant: e.Relevant, evidence: relevant(e), worth: worth}
	for k, c := range columns {
		if slices.ContainsFunc(e.Values, func(v []float64) bool { return v[c] != 0 }) {
			q.weights = append(q.weights, k)
		}
	}
	n := len(q.weights)
	flat := make([]float64, len(e.Values)*n)
	for _, v := range e.Values {
		row := flat[:n:n]
		flat = flat[n:]
		for i, k := range q.weights {
			row[i] = v[columns[k]] / scale[k]
		}
		q.values = append(q.values, row)
	}
	return q
}

func relevant(e Example) int {
	n := 0
	for _, is := range e.Relevant {
		if is {
			n++
		}
	}
	return n
}

// climb adds the gradient of the question's log-likelihood, the mean over its evidence, times its worth.
func (q question) climb(gradient, w []float64) {
	chance, highest := make([]float64, len(q.values)), math.Inf(-1)
	for i, v := range q.values {
		for k, x := range v {
			chance[i] += w[q.weights[k]] * x
		}
		highest = max(highest, chance[i])
	}
	sum := 0.0
	for i := range chance {
		chance[i] = math.Exp(chance[i] - highest)
		sum += chance[i]
	}
	for i, v := range q.values {
		pull := -q.worth * chance[i] / sum
		if q.relevant[i] {
			pull += q.worth / float64(q.evidence)
		}
		for k, x := range v {
			gradient[q.weights[k]] += pull * x
		}
	}
}

// spreads returns the standard deviation of each value within a question, over all questions.
func spreads(examples []Example, k int) []float64 {
	out, n := make([]float64, k), 0.0
	for _, e := range examples {
		mean := make([]float64, k)
		for _, v := range e.Values {
			for i, x := range v {
				mean[i] += x / float64(len(e.Values))
			}
		}
		for _, v := range e.Values {
			for i, x := range v {
				out[i] += (x - mean[i]) * (x - mean[i])
			}
		}
		n += float64(len(e.Values))
	}
	for i := range out {
		out[i] = math.Sqrt(out[i] / max(n, 1))
	}
	return out
}
