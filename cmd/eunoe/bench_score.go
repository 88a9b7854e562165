package main

import (
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
)

// metricNames are the columns of the table, in order.
var metricNames = []string{"recall@5", "recall@10", "hit@10", "MRR", "all@10", "brecall@10", "turns@10"}

// Score is what one question earned, by metric.
type Score map[string]float64

var (
	turnID    = regexp.MustCompile(`D\s*:?\s*(\d+)\s*:\s*(\d+)`)
	turnRange = regexp.MustCompile(`D\s*:?\s*(\d+)\s*:\s*(\d+)\s*-\s*D\s*:?\s*(\d+)\s*:\s*(\d+)`)
)

// CleanEvidence reads the ids of turns out of evidence labels as they are
// written: several in one string, a stray colon, zero padding, ranges of one
// session; each once, and only those in valid unless it is nil.
func CleanEvidence(labels []string, valid map[string]bool) []string {
	var out []string
	add := func(session, turn int) {
		id := "D" + strconv.Itoa(session) + ":" + strconv.Itoa(turn)
		if (valid == nil || valid[id]) && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	for _, label := range labels {
		for _, m := range turnRange.FindAllStringSubmatch(label, -1) {
			a, b, c, d := atoi(m[1]), atoi(m[2]), atoi(m[3]), atoi(m[4])
			for i := b; a == c && b <= d && d <= b+60 && i <= d; i++ {
				add(a, i)
			}
		}
		for _, m := range turnID.FindAllStringSubmatch(turnRange.ReplaceAllString(label, " "), -1) {
			add(atoi(m[1]), atoi(m[2]))
		}
	}
	return out
}

func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}

// ScoreQuestion scores ranked items, each the ids of its source turns, against
// clean evidence, which must not be empty.
//
//   - recall@k: the share of the evidence among the sources of the first k items.
//   - hit@k, all@k: 1 if any, if all of it is there.
//   - MRR: 1 / rank of the first item with evidence, over the whole list.
//   - brecall@k: recall while reading items in order with a budget of k distinct
//     turns; the item that passes it earns its share.
//   - turns@k: distinct turns among the sources of the first k items.
func ScoreQuestion(evidence []string, items [][]string) Score {
	want := map[string]bool{}
	for _, e := range evidence {
		want[e] = true
	}
	total := float64(len(want))
	seen, covered := map[string]bool{}, 0
	s := Score{}
	for i, item := range items {
		hit := false
		for _, id := range item {
			hit = hit || want[id]
			if want[id] && !seen[id] {
				covered++
			}
			seen[id] = true
		}
		if hit && s["MRR"] == 0 {
			s["MRR"] = 1 / float64(i+1)
		}
		if i < 5 {
			s["recall@5"] = float64(covered) / total
		}
		if i < 10 {
			s["recall@10"] = float64(covered) / total
			s["hit@10"] = truth(covered > 0)
			s["all@10"] = truth(covered == len(want))
			s["turns@10"] = float64(len(seen))
		}
	}
	s["brecall@10"] = budgeted(want, items, 10) / total
	return s
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// budgeted gives the evidence earned by reading items until k distinct turns are read.
func budgeted(want map[string]bool, items [][]string, k int) float64 {
	left, got := float64(k), 0.0
	seen := map[string]bool{}
	for _, item := range items {
		fresh, found := 0, 0
		for _, id := range item {
			if seen[id] {
				continue
			}
			seen[id] = true
			fresh++
			if want[id] {
				found++
			}
		}
		if fresh == 0 {
			continue
		}
		got += math.Min(1, left/float64(fresh)) * float64(found)
		if left -= float64(fresh); left <= 0 {
			break
		}
	}
	return got
}

// scored is a question with its category and what it earned.
type scored struct {
	Category int
	Score    Score
}

// scoreRun scores every question that has usable evidence, in order; skipped
// counts the others.
func scoreRun(rows []runLine, valid map[string]map[string]bool) (out []scored, skipped int) {
	for _, r := range rows {
		evidence := CleanEvidence(r.Evidence, valid[r.conversation])
		if len(evidence) == 0 {
			skipped++
			continue
		}
		out = append(out, scored{r.Category, ScoreQuestion(evidence, r.Retrieved)})
	}
	return out, skipped
}

// mean averages a metric over the questions that in keeps.
func mean(all []scored, metric string, in func(int) bool) (value float64, n int) {
	for _, s := range all {
		if in(s.Category) {
			value += s.Score[metric]
			n++
		}
	}
	if n > 0 {
		value /= float64(n)
	}
	return value, n
}

// paired gives the mean difference b − a by question and its 95% interval by
// bootstrap, with a fixed seed.
func paired(a, b []scored, metric string) (diff, low, high float64) {
	n := len(a)
	if n == 0 || n != len(b) {
		return 0, 0, 0
	}
	d := make([]float64, n)
	for i := range d {
		d[i] = b[i].Score[metric] - a[i].Score[metric]
		diff += d[i] / float64(n)
	}
	r := rand.New(rand.NewPCG(7, 7))
	means := make([]float64, 2000)
	for i := range means {
		for range n {
			means[i] += d[r.IntN(n)]
		}
		means[i] /= float64(n)
	}
	slices.Sort(means)
	return diff, means[len(means)*25/1000], means[len(means)*975/1000]
}
