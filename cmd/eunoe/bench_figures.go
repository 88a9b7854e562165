package main

import (
	"slices"
	"time"
)

// benchFigures is what bench retrieval prints with --json. Metrics are shares
// in [0, 1], but for turns@10, which counts.
type benchFigures struct {
	Questions  int                   `json:"questions"`
	Skipped    int                   `json:"skipped"` // without usable evidence
	Turns      int                   `json:"turns"`
	Eunoe      map[string]Score      `json:"eunoe"` // by group: 1 to 5, 1-4 and 1-5
	Baseline   map[string]Score      `json:"baseline,omitempty"`
	Difference map[string][3]float64 `json:"difference,omitempty"` // mean, low and high end of the 95% interval
	Raw        *rawFigures           `json:"raw,omitempty"`        // with --raw and --facts
	Packing    []packedAt            `json:"packing"`              // what fits into budgets of tokens
	Compared   *comparison           `json:"compared,omitempty"`   // with --compare
	Ablation   []ablated             `json:"ablation,omitempty"`   // with --ablate
	Stored     float64               `json:"stored"`               // R@∞
	Publish    string                `json:"publish"`
	Settle     string                `json:"settle"`
	RecallP50  string                `json:"recall_p50"`
	RecallP99  string                `json:"recall_p99"`
}

// scoreGroup is a set of categories that is averaged over.
type scoreGroup struct {
	key, name string
	in        func(category int) bool
}

// scoreGroups gives the five categories, then 1 to 4 and 1 to 5 together.
func scoreGroups() []scoreGroup {
	var out []scoreGroup
	for c := 1; c <= 5; c++ {
		key := string(rune('0' + c))
		out = append(out, scoreGroup{key, key + " " + categoryNames[c], func(x int) bool { return x == c }})
	}
	return append(out,
		scoreGroup{"1-4", "all of 1-4", func(x int) bool { return x != 5 }},
		scoreGroup{"1-5", "all of 1-5", func(int) bool { return true }})
}

// byGroup averages each metric over each group that has questions.
func byGroup(all []scored) map[string]Score {
	out := map[string]Score{}
	for _, g := range scoreGroups() {
		s := Score{}
		for _, m := range metricNames {
			v, n := mean(all, m, g.in)
			if n > 0 {
				s[m] = v
			}
		}
		if len(s) > 0 {
			out[g.key] = s
		}
	}
	return out
}

// latency gives a percentile of the recalls, 0 without any.
func latency(recalls []time.Duration, percent int) time.Duration {
	if len(recalls) == 0 {
		return 0
	}
	times := slices.Sorted(slices.Values(recalls))
	return times[min(len(times)-1, len(times)*percent/100)].Round(100 * time.Microsecond)
}

// figures fills in what run and its scores say.
func figures(run *benchRun, own, base []scored, f benchFigures) benchFigures {
	f.Questions, f.Eunoe = len(own), byGroup(own)
	f.Publish, f.Settle = run.publish.Round(time.Millisecond).String(), run.settled.Round(time.Millisecond).String()
	f.RecallP50, f.RecallP99 = latency(run.recalls, 50).String(), latency(run.recalls, 99).String()
	if base == nil {
		return f
	}
	f.Baseline, f.Difference = byGroup(base), map[string][3]float64{}
	for _, m := range metricNames[:len(metricNames)-1] {
		d, low, high := paired(base, own, m)
		f.Difference[m] = [3]float64{d, low, high}
	}
	return f
}
