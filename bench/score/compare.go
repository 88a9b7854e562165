package score

// Difference is a mean difference and the low and high end of its 95% interval.
type Difference = [3]float64

// Comparison is how a run differs from an older one, question by question.
type Comparison struct {
	Questions int                              `json:"questions"`         // in both runs, with usable evidence
	Missing   int                              `json:"missing,omitempty"` // in one of the two only
	Groups    map[string]map[string]Difference `json:"groups"`            // by group and metric
}

// Compared names the metrics of a Comparison.
var Compared = Metrics[:len(Metrics)-1]

// Compare holds a run against an older one, question by question. Both are scored by the newer one's evidence; valid
// holds the ids of the turns of each conversation.
func Compare(older, newer []Line, valid map[string]map[string]bool) Comparison {
	then := map[string][][]string{}
	for _, l := range older {
		then[l.QID] = l.Retrieved
	}
	var a, b []Scored
	out := Comparison{Groups: map[string]map[string]Difference{}}
	for _, l := range newer {
		items, ok := then[l.QID]
		delete(then, l.QID)
		evidence := CleanEvidence(l.Evidence, valid[l.Conversation])
		switch {
		case !ok:
			out.Missing++
		case len(evidence) > 0:
			a = append(a, Scored{l.Category, Question(evidence, items)})
			b = append(b, Scored{l.Category, Question(evidence, l.Retrieved)})
		}
	}
	out.Missing += len(then)
	out.Questions = len(b)
	for _, g := range Groups() {
		was, is := g.Of(a), g.Of(b)
		if len(is) == 0 {
			continue
		}
		out.Groups[g.Key] = Differences(was, is)
	}
	return out
}

// Differences returns the mean difference b − a of each metric by question, with its interval, as Paired does.
func Differences(a, b []Scored) map[string]Difference {
	out := map[string]Difference{}
	for _, m := range Compared {
		d, low, high := Paired(a, b, m)
		out[m] = Difference{d, low, high}
	}
	return out
}
