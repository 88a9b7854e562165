package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/eunoe-memory/eunoe/bench/dataset"
	"github.com/eunoe-memory/eunoe/bench/score"
	"github.com/eunoe-memory/eunoe/internal/console"
)

// setFigures are the figures of one dataset beside the others.
type setFigures struct {
	Set        string                      `json:"set"`
	Questions  int                         `json:"questions"`
	Eunoe      score.Score                 `json:"eunoe"`
	Baseline   score.Score                 `json:"baseline,omitempty"`
	Difference map[string]score.Difference `json:"difference,omitempty"` // to the baseline, by metric
}

// setNames returns the datasets of conversations, in their order, each once.
func setNames(sets []dataset.Conversation) []string {
	var out []string
	for _, s := range sets {
		out = appendNew(out, []string{s.Set})
	}
	return out
}

// linesOf returns the lines of one dataset, in order.
func linesOf(lines []score.Line, sets []dataset.Conversation, name string) []score.Line {
	in := map[string]bool{}
	for _, s := range sets {
		in[s.ID] = s.Set == name
	}
	return slices.DeleteFunc(slices.Clone(lines), func(l score.Line) bool { return !in[l.Conversation] })
}

// newSetFigures scores each dataset by itself; base is nil where no baseline was asked for.
func newSetFigures(sets []dataset.Conversation, run, base []score.Line) []setFigures {
	valid := dataset.TurnIDs(sets)
	var out []setFigures
	for _, name := range setNames(sets) {
		own, _ := score.Run(linesOf(run, sets, name), valid)
		f := setFigures{Set: name, Questions: len(own), Eunoe: score.Means(own)}
		if base != nil {
			plain, _ := score.Run(linesOf(base, sets, name), valid)
			f.Baseline, f.Difference = score.Means(plain), score.Differences(plain, own)
		}
		out = append(out, f)
	}
	return out
}

// setTable prints the datasets side by side.
func setTable(w io.Writer, all []setFigures) {
	columns := []string{"recall@10", "hit@10", "MRR"}
	header := append([]string{"set", "n"}, columns...)
	if all[0].Baseline != nil {
		for _, c := range columns {
			header = append(header, "BM25 "+c)
		}
		header = append(header, "recall@10 − BM25", "hit@10 − BM25")
	}
	var rows [][]string
	for _, f := range all {
		row := []string{f.Set, strconv.Itoa(f.Questions)}
		for _, c := range columns {
			row = append(row, metric(c, f.Eunoe[c]))
		}
		if f.Baseline != nil {
			for _, c := range columns {
				row = append(row, metric(c, f.Baseline[c]))
			}
			for _, c := range columns[:2] {
				d := f.Difference[c]
				row = append(row, fmt.Sprintf("%+.1f (%+.1f to %+.1f)", 100*d[0], 100*d[1], 100*d[2]))
			}
		}
		rows = append(rows, row)
	}
	fmt.Fprintln(w, "every set; differences are paired by question, with the 95% interval")
	console.Table(w, header, rows)
	fmt.Fprintln(w)
}

// ablationBySet prints how recall@10 changes on each dataset without each thing, the largest mean loss first.
func ablationBySet(w io.Writer, all []ablated) {
	base, rest := all[0], slices.Clone(all[1:])
	mean := func(a ablated) float64 {
		sum := 0.0
		for i := range a.Sets {
			sum += a.Sets[i].Eunoe["recall@10"] - base.Sets[i].Eunoe["recall@10"]
		}
		return sum / float64(len(a.Sets))
	}
	slices.SortStableFunc(rest, func(a, b ablated) int { return cmp.Compare(mean(a), mean(b)) })
	header, row := []string{"without"}, []string{base.Without}
	for _, s := range base.Sets {
		header, row = append(header, s.Set), append(row, metric("", s.Eunoe["recall@10"]))
	}
	rows := [][]string{append(row, "")}
	for _, a := range rest {
		row := []string{a.Without}
		for i := range a.Sets {
			row = append(row, fmt.Sprintf("%+.1f", 100*(a.Sets[i].Eunoe["recall@10"]-base.Sets[i].Eunoe["recall@10"])))
		}
		rows = append(rows, append(row, fmt.Sprintf("%+.2f", 100*mean(a))))
	}
	fmt.Fprintln(w, "left out, and how recall@10 changes by it")
	console.Table(w, append(header, "mean"), rows)
	fmt.Fprintln(w)
}
