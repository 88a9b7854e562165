package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"
)

var categoryNames = map[int]string{1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}

// scoreTable prints the metrics by category, then over categories 1 to 4 and 1 to 5.
func scoreTable(w io.Writer, title string, all []scored) {
	var rows [][]string
	for _, g := range scoreGroups() {
		_, n := mean(all, metricNames[0], g.in)
		if n == 0 {
			continue
		}
		row := []string{g.name, strconv.Itoa(n)}
		for _, m := range metricNames {
			v, _ := mean(all, m, g.in)
			row = append(row, metric(m, v))
		}
		rows = append(rows, row)
	}
	fmt.Fprintln(w, title)
	table(w, append([]string{"category", "n"}, metricNames...), rows)
	fmt.Fprintln(w)
}

func metric(name string, v float64) string {
	switch name {
	case "MRR":
		return fmt.Sprintf("%.3f", v)
	case "turns@10":
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.1f", 100*v)
}

// differenceTable prints how b differs from a, question by question.
func differenceTable(w io.Writer, title string, a, b []scored) {
	var rows [][]string
	for _, m := range metricNames[:len(metricNames)-1] {
		d, low, high := paired(a, b, m)
		rows = append(rows, []string{m, fmt.Sprintf("%+.3f", d), fmt.Sprintf("%+.3f to %+.3f", low, high)})
	}
	fmt.Fprintln(w, title)
	table(w, []string{"metric", "difference", "95% interval"}, rows)
	fmt.Fprintln(w)
}

// storedShare gives R@∞: the share of evidence turns that are a source of
// anything stored.
func storedShare(lines []runLine, stored map[string][]string, valid map[string]map[string]bool) (found, total int) {
	for _, l := range lines {
		for _, e := range CleanEvidence(l.Evidence, valid[l.conversation]) {
			total++
			if _, ok := slices.BinarySearch(stored[l.conversation], e); ok {
				found++
			}
		}
	}
	return found, total
}

// speeds prints how long publishing, settling and recall took.
func speeds(w io.Writer, r *benchRun, turns int) {
	fmt.Fprintf(w, "%d turns published in %s, settled %s later; recall p50 %s, p95 %s, p99 %s\n",
		turns, r.publish.Round(time.Millisecond), r.settled.Round(time.Millisecond), latency(r.recalls, 50), latency(r.recalls, 95), latency(r.recalls, 99))
	degraded(w, r.degraded)
}
