package recall

import (
	"fmt"
	"maps"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/recall/rank"
	"github.com/eunoe-memory/eunoe/pkg/text"
)

// Pack chooses whole texts in order until maxItems are chosen, passing over each that does not fit into what is left of
// maxTokens. It returns their places, ascending, and the tokens of all of them.
func Pack(texts []string, maxItems, maxTokens int) (chosen []int, tokens int) {
	for i, t := range texts {
		if len(chosen) == maxItems {
			break
		}
		n := text.CountTokens(t)
		if tokens+n > maxTokens {
			continue
		}
		chosen = append(chosen, i)
		tokens += n
	}
	return chosen, tokens
}

// nothingFits is the note that every item was too large.
func nothingFits(maxTokens int) string {
	return fmt.Sprintf("max_tokens: no item fits into %d tokens", maxTokens)
}

// pack reads the best entries whole and packs them. It reads some more as long as items that are too large leave places
// free. The list is never nil.
func (g *gatherer) pack(entries []entry) ([]memory.Item, int, error) {
	items, tokens := []memory.Item{}, 0
	passed := false
	explain := g.explainer()
	for len(entries) > 0 && len(items) < g.req.MaxItems {
		some := entries[:min(len(entries), g.req.MaxItems+10)]
		entries = entries[len(some):]
		whole, err := g.items(some, explain)
		if err != nil {
			return nil, 0, err
		}
		texts := make([]string, len(whole))
		for i, item := range whole {
			texts[i] = item.Text
		}
		chosen, used := Pack(texts, g.req.MaxItems-len(items), g.req.MaxTokens-tokens)
		for _, i := range chosen {
			item := whole[i]
			if !g.req.Sources {
				item.Sources = nil
			}
			items = append(items, item)
		}
		tokens += used
		passed = passed || len(chosen) < len(whole) && len(items) < g.req.MaxItems
	}
	if len(items) == 0 && passed {
		g.degraded = append(g.degraded, nothingFits(g.req.MaxTokens))
	}
	return items, tokens, nil
}

// items reads entries whole, in their order, with their scores and sources. explain may be nil.
func (g *gatherer) items(entries []entry, explain func(entry) map[string]memory.Contribution) ([]memory.Item, error) {
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
		if p, long := g.conversation.passages[e.no]; long && e.record == memory.RecordMessage {
			item = withPassage(item, g.messages[e.no].Text, p)
		}
		item.Sources = append(item.Sources, e.also...)
		if explain != nil {
			item.Explain = explain(e)
		}
		out = append(out, item)
	}
	return out, nil
}

// shownWhole is how many bytes of text a message may have that is always shown whole.
const shownWhole = 1000

// withPassage shows a long message, whose item begins with its text, by the part that answers best. What stands beneath the
// text stays.
func withPassage(item memory.Item, text string, p rank.Passage) memory.Item {
	beneath, ok := strings.CutPrefix(item.Text, text)
	if len(text) <= shownWhole || !ok || p.End > len(text) {
		return item
	}
	for p.End < len(text) { // what ends its last sentence belongs to it
		r, size := utf8.DecodeRuneInString(text[p.End:])
		if !unicode.IsPunct(r) {
			break
		}
		p.End += size
	}
	item.Passage = &memory.Passage{Start: p.Start, End: p.End, Of: len(text)}
	item.Text = text[p.Start:p.End] + beneath
	return item
}

// explainer returns a function that tells what each strategy gave an entry: the best of the rows it stands for. It is
// nil where the request asks for no explanation.
func (g *gatherer) explainer() func(entry) map[string]memory.Contribution {
	if !g.req.explain {
		return nil
	}
	ranks := map[memory.Record]map[string]map[int64]int{}
	for _, r := range memory.Records {
		ranks[r] = g.pool.ranks(r)
	}
	return func(e entry) map[string]memory.Contribution {
		out := map[string]memory.Contribution{}
		add := func(r memory.Record, no int64) {
			for name, s := range g.pool[r] {
				score, found := s[no]
				if !found {
					continue
				}
				at := ranks[r][name][no]
				old, have := out[name]
				if !have || score > old.Score || score == old.Score && at < old.Rank {
					out[name] = memory.Contribution{Rank: at, Score: score}
				}
			}
		}
		if e.message == 0 {
			add(e.record, e.no)
		} else {
			add(memory.RecordMessage, e.message)
			for _, no := range e.facts {
				add(memory.RecordFact, no)
			}
		}
		maps.DeleteFunc(out, func(name string, c memory.Contribution) bool { return c.Score == 0 && name != memory.StrategyRecency })
		return out
	}
}

// pack fills the reply with the best of what is ranked.
func (f *Found) pack(q Request) {
	texts := make([]string, len(f.ranked))
	for i, r := range f.ranked {
		texts[i] = r.item.Text
	}
	chosen, tokens := Pack(texts, q.MaxItems, q.MaxTokens)
	f.Reply.Items, f.Reply.Tokens = make([]memory.Item, 0, len(chosen)), tokens
	for _, i := range chosen {
		item := f.ranked[i].item
		if !q.Sources {
			item.Sources = nil
		}
		f.Reply.Items = append(f.Reply.Items, item)
	}
	if len(chosen) == 0 && len(texts) > 0 {
		f.Reply.Degraded = append(f.Reply.Degraded, nothingFits(q.MaxTokens))
	}
}
