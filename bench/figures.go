package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/eunoe-memory/eunoe/bench/dataset"
	"github.com/eunoe-memory/eunoe/bench/score"
	"github.com/eunoe-memory/eunoe/internal/console"
)

// retrievalFigures is what retrieval prints with --json. Metrics are shares in [0, 1], but for turns@10, a count.
type retrievalFigures struct {
	Questions  int                         `json:"questions"`
	Skipped    int                         `json:"skipped"` // without usable evidence
	Turns      int                         `json:"turns"`
	Eunoe      map[string]score.Score      `json:"eunoe"` // by group: 1 to 5, 1-4 and 1-5
	Baseline   map[string]score.Score      `json:"baseline,omitempty"`
	Difference map[string]score.Difference `json:"difference,omitempty"` // to the baseline, by metric
	Sets       []setFigures                `json:"sets"`                 // each dataset by itself, in the order given
	Raw        *rawFigures                 `json:"raw,omitempty"`        // with --raw and --facts
	Packing    []score.Packed              `json:"packing"`              // what fits into budgets of tokens
	Compared   *score.Comparison           `json:"compared,omitempty"`   // with --compare
	Ablation   []ablated                   `json:"ablation,omitempty"`   // with --ablate
	Stored     float64                     `json:"stored"`               // R@∞
	Publish    string                      `json:"publish"`
	Settle     string                      `json:"settle"`
	RecallP50  string                      `json:"recall_p50"`
	RecallP99  string                      `json:"recall_p99"`

	run           *retrievalRun
	own, base     []score.Scored
	found, labels int    // evidence turns that are a source of something stored, and all of them
	comparedWith  string // the file of --compare
}

// newFigures scores a run. older is the run of --compare, nil = none; base and against are nil where they were not
// asked for.
func newFigures(sets []dataset.Conversation, run *retrievalRun, against *rawRun, base, older []score.Line, maxFacts int) *retrievalFigures {
	valid := dataset.TurnIDs(sets)
	f := &retrievalFigures{run: run, Ablation: run.ablation}
	for _, ids := range valid {
		f.Turns += len(ids)
	}
	f.own, f.Skipped = score.Run(run.lines, valid)
	f.Questions, f.Eunoe = len(f.own), score.ByGroup(f.own)
	if base != nil {
		f.base, _ = score.Run(base, valid)
		f.Baseline, f.Difference = score.ByGroup(f.base), score.Differences(f.base, f.own)
	}
	f.Sets = newSetFigures(sets, run.lines, base)
	f.Raw = against.figures(f.own, valid)
	f.Packing = score.Pack(run.lines, valid, maxFacts)
	if older != nil {
		c := score.Compare(older, run.lines, valid)
		f.Compared = &c
	}
	f.found, f.labels = storedShare(run.lines, run.stored, valid)
	f.Stored = float64(f.found) / float64(max(1, f.labels))
	f.Publish, f.Settle = run.publish.Round(time.Millisecond).String(), run.settled.Round(time.Millisecond).String()
	f.RecallP50, f.RecallP99 = percentile(run.recalls, 50).String(), percentile(run.recalls, 99).String()
	return f
}

// storedShare counts the evidence turns that are a source of anything stored, and all of them.
func storedShare(lines []score.Line, stored map[string][]string, valid map[string]map[string]bool) (found, total int) {
	for _, l := range lines {
		for _, e := range score.CleanEvidence(l.Evidence, valid[l.Conversation]) {
			total++
			if _, ok := slices.BinarySearch(stored[l.Conversation], e); ok {
				found++
			}
		}
	}
	return found, total
}

// percentile returns a percentile of times, 0 without any.
func percentile(times []time.Duration, percent int) time.Duration {
	if len(times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(times))
	return sorted[min(len(sorted)-1, len(sorted)*percent/100)].Round(100 * time.Microsecond)
}

// show prints the figures as tables.
func (f *retrievalFigures) show(w io.Writer) {
	if len(f.Sets) > 1 {
		setTable(w, f.Sets)
	} else {
		f.showGroups(w)
	}
	if f.Raw != nil {
		f.Raw.show(w)
	}
	if f.Compared != nil {
		f.showComparison(w)
	}
	ablationTable(w, f.Ablation)
	f.showPacking(w)
	fmt.Fprintf(w, "R@inf %.4f (%d of %d evidence turns are a source of something stored); %d questions without usable evidence are not scored\n",
		f.Stored, f.found, f.labels, f.Skipped)
	fmt.Fprintf(w, "%d turns published in %s, settled %s later; recall p50 %s, p95 %s, p99 %s\n",
		f.Turns, f.Publish, f.Settle, f.RecallP50, percentile(f.run.recalls, 95), f.RecallP99)
	console.Degraded(w, f.run.degraded)
}

// showGroups prints the figures by category, beside the baseline's.
func (f *retrievalFigures) showGroups(w io.Writer) {
	scoreTable(w, "eunoe", f.own)
	if f.base != nil {
		scoreTable(w, "plain BM25", f.base)
		fmt.Fprintln(w, "eunoe − plain BM25, paired by question")
		var rows [][]string
		for _, m := range score.Compared {
			d := f.Difference[m]
			rows = append(rows, []string{m, fmt.Sprintf("%+.3f", d[0]), fmt.Sprintf("%+.3f to %+.3f", d[1], d[2])})
		}
		console.Table(w, []string{"metric", "difference", "95% interval"}, rows)
		fmt.Fprintln(w)
	}
}

// scoreTable prints the metrics by category, then over categories 1 to 4 and 1 to 5.
func scoreTable(w io.Writer, title string, all []score.Scored) {
	var rows [][]string
	for _, g := range score.Groups() {
		list := g.Of(all)
		if len(list) == 0 {
			continue
		}
		row := []string{g.Name, strconv.Itoa(len(list))}
		for _, m := range score.Metrics {
			row = append(row, metric(m, score.Mean(list, m)))
		}
		rows = append(rows, row)
	}
	fmt.Fprintln(w, title)
	console.Table(w, append([]string{"category", "n"}, score.Metrics...), rows)
	fmt.Fprintln(w)
}

// metric writes shares in points of 100, MRR and counts as they are.
func metric(name string, v float64) string {
	switch name {
	case "MRR":
		return fmt.Sprintf("%.3f", v)
	case "turns@10":
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.1f", 100*v)
}

// showComparison prints the differences to the older run by category and over all.
func (f *retrievalFigures) showComparison(w io.Writer) {
	fmt.Fprintf(w, "this run − %s, paired by question, with the 95%% interval; %d questions, %d in one of the two only\n",
		f.comparedWith, f.Compared.Questions, f.Compared.Missing)
	var rows [][]string
	for _, g := range score.Groups() {
		d, ok := f.Compared.Groups[g.Key]
		if !ok {
			continue
		}
		row := []string{g.Name}
		for _, m := range score.Compared {
			scale, digits := 100.0, 1
			if m == "MRR" {
				scale, digits = 1, 3
			}
			row = append(row, fmt.Sprintf("%+.*f (%+.*f to %+.*f)", digits, scale*d[m][0], digits, scale*d[m][1], digits, scale*d[m][2]))
		}
		rows = append(rows, row)
	}
	console.Table(w, append([]string{"category"}, score.Compared...), rows)
	fmt.Fprintln(w)
}

func (f *retrievalFigures) showPacking(w io.Writer) {
	var rows [][]string
	for _, p := range f.Packing {
		rows = append(rows, []string{strconv.Itoa(p.Tokens), metric("", p.Recall), metric("", p.Hit), metric("", p.All),
			metric("", p.RecallMultiHop), fmt.Sprintf("%.1f", p.Items), fmt.Sprintf("%.0f", p.Used)})
	}
	fmt.Fprintln(w, "what fits into so many tokens")
	console.Table(w, []string{"max_tokens", "recall", "hit", "all", "recall multi-hop", "items", "tokens used"}, rows)
	fmt.Fprintln(w)
}
