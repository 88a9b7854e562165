package query

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// ranked is an entry read whole, for models to look at outside the store: no
// model is waited for while the store is read.
type ranked struct {
	item   memory.Item
	leaves []memory.Item // of a composite, where a judge looks at it
}

// leastWhole is how many entries are read whole at least, where there are so
// many: models may drop some of the first.
const leastWhole = 100

// maxLeaves bounds the leaves of one composite that a judge is shown.
const maxLeaves = 8

// modelsLook reports whether a model looks at what was found before it is packed.
func (s *Service) modelsLook(a ask) bool {
	return s.reranker != nil || s.judge != nil && (a.judge != nil || a.adequacy > 0)
}

// setModels checks what a request asks of language models.
func setModels(r memory.RecallRequest, a *ask) error {
	if r.Adequacy < 0 || r.Adequacy > 2 {
		return memory.Invalid("adequacy", "is %d; expected 0 to 2 rounds", r.Adequacy)
	}
	a.adequacy = r.Adequacy
	if j := r.Judge; j != nil && !j.Off {
		threshold := memory.DefaultJudgeThreshold
		if j.Threshold != nil {
			threshold = *j.Threshold
		}
		if !(threshold >= 0 && threshold <= 1) {
			return memory.Invalid("judge.threshold", "is %g; expected 0 to 1", threshold)
		}
		a.judge = &threshold
	}
	return nil
}

// whole reads the best entries whole, in their order; never nil.
func (g *gatherer) whole(entries []entry, ranks map[memory.Record]map[string]map[int64]int) ([]ranked, error) {
	entries = entries[:min(len(entries), max(leastWhole, 4*g.a.maxFacts))]
	items, err := g.items(entries, ranks)
	if err != nil {
		return nil, err
	}
	out := make([]ranked, len(items))
	for i, item := range items {
		out[i] = ranked{item: item}
	}
	if g.a.judge == nil || !g.wants(memory.RecordFact) {
		return out, nil
	}
	number := map[string]int64{}
	for _, e := range entries {
		if e.record == memory.RecordComposite {
			number[e.id] = e.no
		}
	}
	left := judgedNodes
	for i, r := range out {
		if r.item.Record != memory.RecordComposite || left == 0 {
			continue
		}
		left--
		leaves := g.composites[number[r.item.ID]].Leaves
		if out[i].leaves, err = g.s.Items(memory.RecordFact, leaves[:min(len(leaves), maxLeaves)]); err != nil {
			return nil, err
		}
		for k := range out[i].leaves {
			out[i].leaves[k].Score = r.item.Score
		}
	}
	return out, nil
}

// pack fills the reply with the best of what is ranked.
func (f *found) pack(a ask) {
	texts := make([]string, len(f.ranked))
	for i, r := range f.ranked {
		texts[i] = r.item.Text
	}
	chosen, tokens := Pack(texts, a.maxFacts, a.maxTokens)
	f.reply.Items, f.reply.Tokens = make([]memory.Item, 0, len(chosen)), tokens
	for _, i := range chosen {
		item := f.ranked[i].item
		if !a.sources {
			item.Sources = nil
		}
		f.reply.Items = append(f.reply.Items, item)
	}
	if len(chosen) == 0 && len(texts) > 0 {
		f.reply.Degraded = append(f.reply.Degraded, fmt.Sprintf("max_tokens: no item fits into %d tokens", a.maxTokens))
	}
}

// degrade says once why something could not run.
func (f *found) degrade(why string) {
	if !slices.Contains(f.reply.Degraded, why) {
		f.reply.Degraded = append(f.reply.Degraded, why)
	}
}

// within bounds a model call: by its own time, and by the request's.
func within(ctx context.Context, a ask, start time.Time, most time.Duration) (context.Context, context.CancelFunc) {
	end := time.Now().Add(most)
	if a.deadline > 0 && start.Add(a.deadline).Before(end) {
		end = start.Add(a.deadline)
	}
	return context.WithDeadline(ctx, end)
}

// merge joins two results. What only the second holds finds its place by score;
// neither order changes otherwise. Of a message and a fact that rests on it the
// one that comes first stays.
func merge(a, b []ranked) []ranked {
	out := make([]ranked, 0, len(a)+len(b))
	have, resting := map[string]int{}, map[memory.MessageID]bool{}
	key := func(i memory.Item) string { return string(i.Record) + " " + i.ID }
	add := func(r ranked) {
		if at, ok := have[key(r.item)]; ok {
			out[at].item.Score = max(out[at].item.Score, r.item.Score)
			return
		}
		switch r.item.Record {
		case memory.RecordMessage:
			if resting[memory.MessageID(r.item.ID)] {
				return
			}
		case memory.RecordFact:
			for _, m := range r.item.Sources {
				if _, shown := have[string(memory.RecordMessage)+" "+string(m)]; shown {
					return
				}
				resting[m] = true
			}
		}
		have[key(r.item)] = len(out)
		out = append(out, r)
	}
	for len(a) > 0 || len(b) > 0 {
		if len(b) == 0 || len(a) > 0 && a[0].item.Score >= b[0].item.Score {
			add(a[0])
			a = a[1:]
			continue
		}
		add(b[0])
		b = b[1:]
	}
	return out
}

// better orders by descending score, ties by id.
func better(x, y ranked) int {
	switch {
	case x.item.Score > y.item.Score:
		return -1
	case x.item.Score < y.item.Score:
		return 1
	}
	return strings.Compare(x.item.ID, y.item.ID)
}
