package llm

import (
	"cmp"
	"context"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// summariseCase is a composite that waits for a wording, with the texts of its members and the facts below it.
type summariseCase struct {
	id       memory.CompositeID
	level    int
	texts    []string
	leaves   []memory.FactID
	attempts int
}

// summarise asks for wordings of pending composites of a bank: of one batch or, with all, of every one.
func (w *Worker) summarise(ctx context.Context, bank memory.BankID, all bool) error {
	return inBatches(ctx, all, "summarise %d composites", func() (int, int, error) { return w.summariseBatch(ctx, bank) })
}

func (w *Worker) summariseBatch(ctx context.Context, bank memory.BankID) (left, resolved int, err error) {
	cases, err := w.readComposites(ctx, bank)
	if err != nil || len(cases) == 0 {
		return 0, 0, err
	}
	slices.SortStableFunc(cases, func(a, b summariseCase) int {
		return cmp.Or(cmp.Compare(a.attempts, b.attempts), cmp.Compare(a.level, b.level))
	})
	write := memory.Write{Bank: bank, Kind: memory.WriteSummary}
	var batch []summariseCase
	for _, c := range cases {
		switch {
		case len(c.texts) < 2: // it is no more, or cannot be read
			write.Summaries = append(write.Summaries, memory.Summary{Composite: c.id})
		case len(batch) < w.cfg.SummariseNodes && (len(batch) == 0 || batch[0].attempts == c.attempts):
			batch = append(batch, c)
		}
	}
	if len(batch) > 0 {
		batch = batch[:min(len(batch), w.batchSize(w.cfg.SummariseNodes, batch[0].attempts))]
		if err := w.summariseByModel(ctx, &write, batch); err != nil {
			return len(cases), 0, err
		}
	}
	if len(write.Summaries) == 0 {
		w.appendUsage(ctx, bank, write.Usage)
		return len(cases), 0, nil
	}
	key := []string{string(bank)}
	for _, s := range write.Summaries {
		key = append(key, string(s.Composite), s.Text)
		w.clearUnusable(bank, memory.PendingSummarise, string(s.Composite))
	}
	write.Op = opOf(memory.StageSummarise, key...)
	if err := w.append(ctx, write); err != nil {
		return len(cases), 0, err
	}
	return len(cases) - len(write.Summaries), len(write.Summaries), nil
}

// summariseByModel asks for the wordings of a batch. One that is not faithful to its members becomes empty: the
// representative's text stands.
func (w *Worker) summariseByModel(ctx context.Context, write *memory.Write, batch []summariseCase) error {
	p, err := summarisePrompt(w.shown(), batch)
	if err != nil {
		return err
	}
	q, err := w.ask(ctx, write.Bank, memory.StageSummarise, w.deps.Summarise, p)
	write.Usage = q.usage
	if err != nil && !isNonsense(err) {
		return err
	}
	var texts map[int]string
	refused := 0
	if err == nil {
		texts, refused, err = parseSummaries(q.text, len(batch))
	}
	w.answered(write.Bank, memory.StageSummarise, err == nil)
	by := q.stamp
	write.By = &by
	taken := 0
	for i, c := range batch {
		s := memory.Summary{Composite: c.id}
		text, answered := texts[i+1]
		switch {
		case !answered && !w.giveUp(write.Bank, memory.PendingSummarise, string(c.id)):
			continue
		case !answered:
			w.dropped(write.Bank, memory.StageSummarise, string(c.id))
		case Unfaithful(text, c.texts) != "":
			refused++
		default:
			s.Text, s.Facts = w.deps.Redactor.Redact(text), c.leaves
			taken++
		}
		write.Summaries = append(write.Summaries, s)
	}
	w.metrics.counted(memory.StageSummarise, "taken", taken)
	w.metrics.counted(memory.StageSummarise, "refused", refused)
	return nil
}

// readComposites reads the composites that wait for a wording. One with a member that is too long to be shown whole has
// no texts.
func (w *Worker) readComposites(ctx context.Context, bank memory.BankID) (cases []summariseCase, err error) {
	show := w.shown()
	err = w.deps.Store.Look(ctx, bank, func(v plan.View) error {
		waiting, err := v.Pending(memory.PendingSummarise, pendingRead)
		if err != nil {
			return err
		}
		ids := make([]memory.CompositeID, len(waiting))
		for i, q := range waiting {
			ids[i] = memory.CompositeID(q.ID)
		}
		found, err := v.Composites(ids)
		if err != nil {
			return err
		}
		there := map[memory.CompositeID]memory.Composite{}
		for _, c := range found {
			there[c.ID] = c
		}
		for _, id := range ids {
			c := summariseCase{id: id, attempts: w.unusableAnswers(bank, memory.PendingSummarise, string(id))}
			if node, ok := there[id]; ok && node.By == nil {
				c.level = node.Level
				if err := c.read(v, node, show); err != nil {
					return err
				}
			}
			cases = append(cases, c)
		}
		return nil
	})
	return cases, err
}

func (c *summariseCase) read(v plan.View, node memory.Composite, s shown) error {
	members, err := v.Nodes(node.Level-1, node.Children)
	if err != nil {
		return err
	}
	for _, m := range members {
		if len(m.Text) > s.bytes {
			c.texts = nil
			break
		}
		c.texts = append(c.texts, s.text(m.Text))
	}
	c.leaves, err = leaves(v, node.Level, node.Children, 0)
	return err
}

// leaves returns the facts below the children of a composite.
func leaves(v plan.View, level int, children []string, depth int) ([]memory.FactID, error) {
	var out []memory.FactID
	if level <= 1 {
		for _, c := range children {
			out = append(out, memory.FactID(c))
		}
		return out, nil
	}
	ids := make([]memory.CompositeID, len(children))
	for i, c := range children {
		ids[i] = memory.CompositeID(c)
	}
	below, err := v.Composites(ids)
	if err != nil || depth > 64 {
		return nil, err
	}
	for _, b := range below {
		more, err := leaves(v, b.Level, b.Children, depth+1)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
