package consolidate

import (
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// applySummaries gives composites the wordings a language model found for them.
// One whose composite is no more changes nothing; an empty one says that the
// representative's text is to stand. Either way it is not asked for again.
func (ws *workspace) applySummaries(list []memory.Summary) {
	for _, s := range list {
		ws.out.Resolved = append(ws.out.Resolved, memory.PendingKey{Kind: memory.PendingSummarise, ID: string(s.Composite)})
		ws.load(s.Facts)
		whole := true
		for _, id := range s.Facts {
			if ws.fact(id) == nil {
				whole = false
				continue
			}
			ws.out.Derived = append(ws.out.Derived, id)
		}
		text := strings.TrimSpace(s.Text)
		c := ws.composite(s.Composite)
		result := memory.WriteResult{ID: string(s.Composite), Outcome: memory.OutcomeRefused}
		switch {
		case !whole && text != "":
			ws.out.Stale, result.Reason = true, "a fact it was written from is not there"
		case c == nil || c.gone:
			result.Reason = "the composite is not there"
		case memory.NormalText(text) == "":
			result.Reason = "the representative's text stands"
		case len(text) > memory.MaxFactText:
			result.Reason = "it is too long"
		default:
			next := c.now
			next.Text, next.By = text, ws.write.By
			if next.By == nil {
				next.By = &memory.Stamp{}
			}
			ws.putComposite(next)
			ws.worded[next.Level] = append(ws.worded[next.Level], string(next.ID))
			ws.out.Derived = append(ws.out.Derived, ws.leaves(next, 0)...)
			result.Outcome = memory.OutcomeUpdated
		}
		ws.out.Outcome.Results = append(ws.out.Outcome.Results, result)
	}
	ws.out.Derived = unite(ws.out.Derived, nil)
}

// factsAtLeast is how many facts a composite holds, or no fewer: one of
// composites holds two of each at the least.
func factsAtLeast(c memory.Composite) int { return len(c.Children) << min(max(0, c.Level-1), 20) }

// queueSummary puts a new composite down for a summary, where it holds facts
// enough; one that is no more waits for none.
func (ws *workspace) queueSummary(s *compositeState) {
	switch {
	case s.gone && s.before != nil:
		ws.out.Resolved = append(ws.out.Resolved, memory.PendingKey{Kind: memory.PendingSummarise, ID: string(s.before.ID)})
	case !s.gone && s.before == nil && ws.cfg.Summarise && s.now.By == nil && factsAtLeast(s.now) >= ws.cfg.SummariseMin:
		ws.out.Pending = append(ws.out.Pending, memory.PendingQuestion{PendingKey: memory.PendingKey{Kind: memory.PendingSummarise, ID: string(s.now.ID)}})
	}
}
