package query

import (
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/analysis"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Pack chooses whole items in order until maxItems are chosen, passing over
// each that does not fit into what is left of maxTokens. It gives their places
// and the tokens of all of them.
func Pack(texts []string, maxItems, maxTokens int) (chosen []int, tokens int) {
	for i, text := range texts {
		if len(chosen) == maxItems {
			break
		}
		n := analysis.CountTokens(text)
		if tokens+n > maxTokens {
			continue
		}
		chosen = append(chosen, i)
		tokens += n
	}
	return chosen, tokens
}

// pack reads the best entries whole and packs them. Entries are read in runs:
// one more while items that are too large leave places free.
func (g *gatherer) pack(entries []entry, ranks map[memory.Record]map[string]map[int64]int) ([]memory.Item, int, error) {
	items, tokens := []memory.Item{}, 0
	passed := false
	for len(entries) > 0 && len(items) < g.a.maxFacts {
		run := entries[:min(len(entries), g.a.maxFacts+10)]
		entries = entries[len(run):]
		whole, err := g.items(run, ranks)
		if err != nil {
			return nil, 0, err
		}
		texts := make([]string, len(whole))
		for i, item := range whole {
			texts[i] = item.Text
		}
		chosen, used := Pack(texts, g.a.maxFacts-len(items), g.a.maxTokens-tokens)
		for _, i := range chosen {
			items = append(items, whole[i])
		}
		tokens += used
		passed = passed || len(chosen) < len(whole) && len(items) < g.a.maxFacts
	}
	if len(items) == 0 && passed {
		g.degraded = append(g.degraded, fmt.Sprintf("max_tokens: no item fits into %d tokens", g.a.maxTokens))
	}
	return items, tokens, nil
}

// items reads entries whole, in their order.
func (g *gatherer) items(entries []entry, ranks map[memory.Record]map[string]map[int64]int) ([]memory.Item, error) {
	byID := map[string]memory.Item{}
	for _, r := range memory.Records {
		var nos []int64
		for _, e := range entries {
			if e.record == r {
				nos = append(nos, e.no)
			}
		}
		if len(nos) == 0 {
			continue
		}
		list, err := g.s.Items(r, nos)
		if err != nil {
			return nil, err
		}
		for _, item := range list {
			byID[string(r)+item.ID] = item
		}
	}
	out := make([]memory.Item, 0, len(entries))
	for _, e := range entries {
		item, ok := byID[string(e.record)+e.id]
		if !ok {
			continue
		}
		item.Score = e.score
		item.Sources = append(item.Sources, e.also...)
		if g.a.explain {
			item.Explain = g.explain(e, ranks)
		}
		if !g.a.sources {
			item.Sources = nil
		}
		out = append(out, item)
	}
	return out, nil
}
