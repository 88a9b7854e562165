// Package score judges what recall found against labelled evidence. A question counts as served by the turns that the
// found items rest on, so facts, composites and messages are judged alike.
//
// A Line is a question with what was found for it. Run scores lines; Groups and Mean average the scores over
// categories; Paired and Compare hold two runs against each other question by question.
package score

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Metrics names the metrics in the order of the tables. All but turns@10, a count, are shares in [0, 1].
var Metrics = []string{"recall@5", "recall@10", "hit@10", "MRR", "all@10", "brecall@10", "turns@10"}

// Score holds the metrics of one question, or their mean over some. An absent metric is 0.
type Score map[string]float64

// Question scores ranked items, each the ids of its source turns, against evidence, which must not be empty.
//
//   - recall@k: the share of the evidence among the sources of the first k items.
//   - hit@k, all@k: 1 if any, if all of the evidence is there.
//   - MRR: 1 / rank of the first item with evidence, over the whole list.
//   - brecall@k: recall while reading items in order with a budget of k distinct turns; the item that exceeds the
//     budget earns its share.
//   - turns@k: distinct turns among the sources of the first k items.
func Question(evidence []string, items [][]string) Score {
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
			s["hit@10"] = oneIf(covered > 0)
			s["all@10"] = oneIf(covered == len(want))
			s["turns@10"] = float64(len(seen))
		}
	}
	s["brecall@10"] = withinBudget(want, items, 10) / total
	return s
}

func oneIf(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// withinBudget returns how many evidence turns are earned by reading items until budget distinct turns are read.
func withinBudget(want map[string]bool, items [][]string, budget int) float64 {
	left, got := float64(budget), 0.0
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

// Scored is the score of a question with its category.
type Scored struct {
	Category int
	Score    Score
}

// Run scores every line that has usable evidence, in order; skipped counts the others. valid holds the ids of the turns
// of each conversation.
func Run(lines []Line, valid map[string]map[string]bool) (out []Scored, skipped int) {
	for _, l := range lines {
		evidence := CleanEvidence(l.Evidence, valid[l.Conversation])
		if len(evidence) == 0 {
			skipped++
			continue
		}
		out = append(out, Scored{l.Category, Question(evidence, l.Retrieved)})
	}
	return out, skipped
}

// Paired returns the mean difference b − a of a metric by question and the ends of its 95% interval, by bootstrap with
// a fixed seed. It is 0 where the lists are empty or of different length.
func Paired(a, b []Scored, metric string) (diff, low, high float64) {
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
