package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/eunoe-memory/eunoe/bench/dataset"
	"github.com/eunoe-memory/eunoe/bench/score"
	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/query/recall/rank"
)

// signalWorth is how the figures of each dataset change if the weights of a signal are 0.
type signalWorth struct {
	Signal string             `json:"signal"`
	Recall map[string]float64 `json:"recall@10"` // by dataset
}

// signalsWorth leaves out each signal in turn, the largest mean loss first. weights are two a signal, as questions have
// values.
func signalsWorth(sets []dataset.Conversation, questions []rankedQuestion, weights []float64) []signalWorth {
	valid, names := dataset.TurnIDs(sets), setNames(sets)
	measure := func(weights []float64) map[string]float64 {
		lines, out := byWeights(questions, func(rankedQuestion) []float64 { return weights }), map[string]float64{}
		for _, name := range names {
			scored, _ := score.Run(linesOf(lines, sets, name), valid)
			out[name] = score.Means(scored)["recall@10"]
		}
		return out
	}
	base := measure(weights)
	var out []signalWorth
	for i, s := range rank.DefaultWeights().Signals {
		without := slices.Clone(weights)
		without[2*i], without[2*i+1] = 0, 0
		x := signalWorth{Signal: s.Name, Recall: measure(without)}
		for name := range x.Recall {
			x.Recall[name] -= base[name]
		}
		out = append(out, x)
	}
	slices.SortStableFunc(out, func(a, b signalWorth) int { return cmp.Compare(a.sum(), b.sum()) })
	return out
}

// sum adds up the changes, in millionths, so that it does not depend on their order.
func (x signalWorth) sum() float64 {
	sum := 0.0
	for _, change := range x.Recall {
		sum += float64(int64(1e6 * change))
	}
	return sum
}

// worthTable prints what is lost on each dataset without each signal.
func worthTable(w io.Writer, sets []string, all []signalWorth) {
	var rows [][]string
	for _, x := range all {
		row := []string{x.Signal}
		for _, name := range sets {
			row = append(row, fmt.Sprintf("%+.1f", 100*x.Recall[name]))
		}
		rows = append(rows, append(row, fmt.Sprintf("%+.2f", x.sum()/1e4/float64(len(sets)))))
	}
	fmt.Fprintln(w, "\nhow recall@10 over messages changes without a signal")
	console.Table(w, append(append([]string{"without"}, sets...), "mean"), rows)
}

// byWeights returns the lines with the ten candidates that weights put first; ties in the order of the candidates.
func byWeights(questions []rankedQuestion, weights func(rankedQuestion) []float64) []score.Line {
	out := make([]score.Line, len(questions))
	for i, q := range questions {
		w, order, scores := weights(q), make([]int, len(q.ids)), make([]float64, len(q.ids))
		for c, values := range q.Values {
			order[c] = c
			for k, x := range values {
				scores[c] += w[k] * x
			}
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
		out[i] = q.line
		for _, c := range order[:min(10, len(order))] {
			out[i].Retrieved = append(out[i].Retrieved, []string{q.ids[c]})
		}
	}
	return out
}
