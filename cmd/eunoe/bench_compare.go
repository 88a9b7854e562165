package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// comparison is how a run differs from an older one, question by question.
type comparison struct {
	Questions int                              `json:"questions"`         // in both runs, with usable evidence
	Missing   int                              `json:"missing,omitempty"` // in one of the two only
	Groups    map[string]map[string][3]float64 `json:"groups"`            // by group and metric: mean difference, low and high end of the 95% interval
}

// comparedMetrics are what a comparison tells of.
var comparedMetrics = []string{"recall@5", "recall@10", "hit@10", "MRR", "all@10", "brecall@10"}

// readRun reads a file that --out wrote.
func readRun(path string) ([]runLine, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--compare: %w", err)
	}
	defer file.Close() //nolint:errcheck // it is only read
	var out []runLine
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for n := 1; lines.Scan(); n++ {
		var l runLine
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil || l.QID == "" {
			return nil, fmt.Errorf("--compare: line %d of %s is no question of a run: %w", n, path, memory.ErrInvalid)
		}
		out = append(out, l)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("--compare: read %s: %w", path, err)
	}
	return out, nil
}

// CompareRuns holds a run against an older one, question by question. valid are
// the ids of the turns of each conversation; both runs are scored by the newer
// one's evidence.
func CompareRuns(older, newer []runLine, valid map[string]map[string]bool) comparison {
	then := map[string][][]string{}
	for _, l := range older {
		then[l.QID] = l.Retrieved
	}
	var a, b []scored
	out := comparison{Groups: map[string]map[string][3]float64{}}
	for _, l := range newer {
		items, ok := then[l.QID]
		delete(then, l.QID)
		evidence := CleanEvidence(l.Evidence, valid[l.conversation])
		switch {
		case !ok:
			out.Missing++
		case len(evidence) > 0:
			a = append(a, scored{l.Category, ScoreQuestion(evidence, items)})
			b = append(b, scored{l.Category, ScoreQuestion(evidence, l.Retrieved)})
		}
	}
	out.Missing += len(then)
	out.Questions = len(b)
	for _, g := range scoreGroups() {
		was, is := among(a, g), among(b, g)
		if len(is) == 0 {
			continue
		}
		out.Groups[g.key] = map[string][3]float64{}
		for _, m := range comparedMetrics {
			d, low, high := paired(was, is, m)
			out.Groups[g.key][m] = [3]float64{d, low, high}
		}
	}
	return out
}

func among(all []scored, g scoreGroup) []scored {
	var out []scored
	for _, s := range all {
		if g.in(s.Category) {
			out = append(out, s)
		}
	}
	return out
}

// show prints the differences by category and over all, in points of 100 but for MRR.
func (c comparison) show(w io.Writer, path string) {
	fmt.Fprintf(w, "this run − %s, paired by question, with the 95%% interval; %d questions, %d in one of the two only\n", path, c.Questions, c.Missing)
	var rows [][]string
	for _, g := range scoreGroups() {
		d, ok := c.Groups[g.key]
		if !ok {
			continue
		}
		row := []string{g.name}
		for _, m := range comparedMetrics {
			row = append(row, difference(m, d[m]))
		}
		rows = append(rows, row)
	}
	table(w, append([]string{"category"}, comparedMetrics...), rows)
	fmt.Fprintln(w)
}

func difference(metric string, d [3]float64) string {
	if metric == "MRR" {
		return fmt.Sprintf("%+.3f (%+.3f to %+.3f)", d[0], d[1], d[2])
	}
	return fmt.Sprintf("%+.1f (%+.1f to %+.1f)", 100*d[0], 100*d[1], 100*d[2])
}

// packedAt is what of the found fits into a number of tokens.
type packedAt struct {
	Tokens  int     `json:"max_tokens"`
	Recall  float64 `json:"recall"` // share of the evidence among the sources of what fits
	Hit     float64 `json:"hit"`
	All     float64 `json:"all"`
	Recall1 float64 `json:"recall_multi_hop"`
	Items   float64 `json:"items"` // mean
	Used    float64 `json:"tokens_used"`
}

// packedTokens are the budgets that a run is packed into.
var packedTokens = []int{500, 1000, 2000}

// packings packs what a run found as recall does, into each budget.
func packings(lines []runLine, valid map[string]map[string]bool, maxFacts int) []packedAt {
	out := make([]packedAt, 0, len(packedTokens))
	for _, budget := range packedTokens {
		p, n, multi := packedAt{Tokens: budget}, 0.0, 0.0
		for _, l := range lines {
			evidence := CleanEvidence(l.Evidence, valid[l.conversation])
			if len(evidence) == 0 {
				continue
			}
			items, used := l.pack(maxFacts, budget)
			got := found(evidence, items)
			n++
			p.Recall += got
			p.Hit += truth(got > 0)
			p.All += truth(got == 1)
			if l.Category == 1 {
				p.Recall1 += got
				multi++
			}
			p.Items += float64(len(items))
			p.Used += float64(used)
		}
		for _, v := range []*float64{&p.Recall, &p.Hit, &p.All, &p.Items, &p.Used} {
			*v /= max(1, n)
		}
		p.Recall1 /= max(1, multi)
		out = append(out, p)
	}
	return out
}

// found gives the share of the evidence that is a source of one of the items.
func found(evidence []string, items [][]string) float64 {
	have := map[string]bool{}
	for _, item := range items {
		for _, id := range item {
			have[id] = true
		}
	}
	n := 0.0
	for _, e := range evidence {
		n += truth(have[e])
	}
	return n / float64(len(evidence))
}

func packingTable(w io.Writer, all []packedAt) {
	var rows [][]string
	for _, p := range all {
		rows = append(rows, []string{strconv.Itoa(p.Tokens), metric("", p.Recall), metric("", p.Hit), metric("", p.All), metric("", p.Recall1),
			fmt.Sprintf("%.1f", p.Items), fmt.Sprintf("%.0f", p.Used)})
	}
	fmt.Fprintln(w, "what fits into so many tokens")
	table(w, strings.Split("max_tokens,recall,hit,all,recall multi-hop,items,tokens used", ","), rows)
	fmt.Fprintln(w)
}
