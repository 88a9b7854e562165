package query

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// The bounds of an expansion: items shown for one item, and messages before and
// after one.
const (
	maxAround = 20
	neighbour = 3
)

// expand gives the work of showing what stands around items that were shown:
// the leaves of a composite, what an observation rests on, a message's
// neighbours, a fact's history and who said it. Only what passes the request's
// filters is shown.
func (t *talk) expand(numbers []int) work {
	parts := make([]part, len(numbers))
	items := make([]memory.Item, len(numbers))
	for i, n := range numbers {
		item, ok := t.shelf.Item(n)
		parts[i].title = fmt.Sprintf("Around [%d]", n)
		if !ok {
			parts[i].note = "There is no item of this number."
		}
		items[i] = item
	}
	return func(ctx context.Context) (outcome, error) {
		for i, item := range items {
			if parts[i].note != "" {
				continue
			}
			f, err := t.around(ctx, item)
			if err != nil {
				return outcome{}, err
			}
			quotes, err := t.s.quotes(ctx, t.bank, f)
			if err != nil {
				return outcome{}, err
			}
			parts[i].brief = newBriefing(f, quotes)
		}
		return outcome{parts: parts}, nil
	}
}

// around gives what stands around an item.
func (t *talk) around(ctx context.Context, item memory.Item) (found, error) {
	f := found{bank: t.first.bank}
	var err error
	switch item.Record {
	case memory.RecordComposite:
		err = t.through(ctx, t.a.filter, &f, func(st Searcher) ([]int64, []int64, error) { return t.leaves(st, item) })
	case memory.RecordObservation:
		err = t.through(ctx, t.a.filter, &f, func(st Searcher) ([]int64, []int64, error) {
			nos, err := st.FactNumbers(factIDs(item.Children))
			return nos, nil, err
		})
	case memory.RecordMessage:
		err = t.neighbours(ctx, item, &f)
	case memory.RecordFact:
		if err = t.past(ctx, item, &f); err == nil {
			err = t.said(ctx, item.Sources, &f)
		}
	}
	return f, err
}

// through reads facts and messages by number in one state of the bank, seen
// through a filter, and adds them to what was found.
func (t *talk) through(ctx context.Context, filter memory.Filter, f *found, find func(Searcher) (facts, messages []int64, err error)) error {
	return t.s.store.Search(ctx, t.bank, filter, func(st Searcher) error {
		facts, messages, err := find(st)
		if err != nil {
			return err
		}
		for _, want := range []struct {
			record memory.Record
			nos    []int64
		}{{memory.RecordFact, facts}, {memory.RecordMessage, messages}} {
			if !t.a.records[want.record] {
				continue
			}
			left := max(0, maxAround-len(f.reply.Items))
			items, err := st.Items(want.record, want.nos[:min(len(want.nos), left)])
			if err != nil {
				return err
			}
			f.reply.Items = append(f.reply.Items, items...)
		}
		return f.addConflicts(st)
	})
}

func (t *talk) leaves(st Searcher, item memory.Item) (facts, messages []int64, err error) {
	nos, err := st.CompositeNumbers([]memory.CompositeID{memory.CompositeID(item.ID)})
	if err != nil {
		return nil, nil, err
	}
	rows, err := st.Composites(nos)
	for _, r := range rows {
		facts = append(facts, r.Leaves...)
	}
	return facts, nil, err
}

// sequences gives the places of messages in their stream, which are their numbers.
func (t *talk) sequences(ctx context.Context, ids []memory.MessageID) ([]int64, error) {
	var out []int64
	err := t.s.store.Read(ctx, t.bank, func(r Reader) error {
		list, err := r.SourcesNamed(ids)
		for _, s := range list {
			out = append(out, int64(s.Seq))
		}
		return err
	})
	return out, err
}

// neighbours adds the messages before and after one, in their order.
func (t *talk) neighbours(ctx context.Context, item memory.Item, f *found) error {
	nos, err := t.sequences(ctx, []memory.MessageID{memory.MessageID(item.ID)})
	if err != nil {
		return err
	}
	return t.through(ctx, t.a.filter, f, func(st Searcher) (facts, messages []int64, err error) {
		around, err := st.Around(nos, neighbour, neighbour)
		if err != nil {
			return nil, nil, err
		}
		for _, n := range around {
			slices.Reverse(n.Before)
			messages = append(append(messages, n.Before...), n.After...)
		}
		messages, err = passing(st, messages)
		return nil, messages, err
	})
}

// said adds messages by id.
func (t *talk) said(ctx context.Context, ids []memory.MessageID, f *found) error {
	nos, err := t.sequences(ctx, ids)
	if err != nil {
		return err
	}
	return t.through(ctx, t.a.filter, f, func(st Searcher) (facts, messages []int64, err error) {
		messages, err = passing(st, nos)
		return nil, messages, err
	})
}

// passing gives those of the messages that pass the filter, in their order.
func passing(st Searcher, nos []int64) ([]int64, error) {
	rows, err := st.Messages(nos)
	out := make([]int64, 0, len(rows))
	for _, m := range rows {
		out = append(out, m.No)
	}
	return out, err
}

// past adds the facts that a fact took the place of, or that took its own. Each
// is looked for as of when it began to hold, for it need not hold now; what began
// after the time the request asks about is left out.
func (t *talk) past(ctx context.Context, item memory.Item, f *found) error {
	h, err := t.s.History(ctx, t.bank, memory.HistoryRequest{ID: item.ID})
	if errors.Is(err, memory.ErrNotFound) {
		return nil // forgotten since it was shown
	}
	if err != nil {
		return err
	}
	for _, i := range h.Items {
		if i.ID == item.ID || len(i.Valid) == 0 || len(f.reply.Items) == maxAround/2 {
			continue
		}
		from := i.Valid[0].From
		if t.a.filter.AsOf != nil && from.After(*t.a.filter.AsOf) {
			continue
		}
		then := t.a.filter
		then.AsOf = &from
		err := t.through(ctx, then, f, func(st Searcher) ([]int64, []int64, error) {
			nos, err := st.FactNumbers([]memory.FactID{memory.FactID(i.ID)})
			return nos, nil, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func factIDs(ids []string) []memory.FactID {
	out := make([]memory.FactID, len(ids))
	for i, id := range ids {
		out[i] = memory.FactID(id)
	}
	return out
}
