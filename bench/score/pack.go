package score

import "github.com/eunoe-memory/eunoe/pkg/query/recall"

// Packed is what fits into a budget of tokens of what a run found, on average.
type Packed struct {
	Tokens         int     `json:"max_tokens"`
	Recall         float64 `json:"recall"` // share of the evidence among the sources of what fits
	Hit            float64 `json:"hit"`
	All            float64 `json:"all"`
	RecallMultiHop float64 `json:"recall_multi_hop"`
	Items          float64 `json:"items"`
	Used           float64 `json:"tokens_used"`
}

// packedTokens are the budgets that a run is packed into.
var packedTokens = []int{500, 1000, 2000}

// Pack packs what a run found into each budget, choosing as recall chooses.
func Pack(lines []Line, valid map[string]map[string]bool, maxFacts int) []Packed {
	out := make([]Packed, 0, len(packedTokens))
	for _, budget := range packedTokens {
		p, n, multi := Packed{Tokens: budget}, 0.0, 0.0
		for _, l := range lines {
			evidence := CleanEvidence(l.Evidence, valid[l.Conversation])
			if len(evidence) == 0 {
				continue
			}
			items, used := l.pack(maxFacts, budget)
			got := share(evidence, items)
			n++
			p.Recall += got
			p.Hit += oneIf(got > 0)
			p.All += oneIf(got == 1)
			if l.Category == MultiHop {
				p.RecallMultiHop += got
				multi++
			}
			p.Items += float64(len(items))
			p.Used += float64(used)
		}
		for _, v := range []*float64{&p.Recall, &p.Hit, &p.All, &p.Items, &p.Used} {
			*v /= max(1, n)
		}
		p.RecallMultiHop /= max(1, multi)
		out = append(out, p)
	}
	return out
}

// pack returns the sources of the items that fit into maxTokens, and the tokens they take.
func (l Line) pack(maxFacts, maxTokens int) (items [][]string, tokens int) {
	chosen, tokens := recall.Pack(l.Texts, maxFacts, maxTokens)
	for _, i := range chosen {
		items = append(items, l.Retrieved[i])
	}
	return items, tokens
}

// share returns the share of the evidence that is a source of one of the items.
func share(evidence []string, items [][]string) float64 {
	have := map[string]bool{}
	for _, item := range items {
		for _, id := range item {
			have[id] = true
		}
	}
	n := 0.0
	for _, e := range evidence {
		n += oneIf(have[e])
	}
	return n / float64(len(evidence))
}
