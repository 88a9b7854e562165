package reflect

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
)

const (
	maxExpanded     = 20 // items shown for one item
	neighbourReach  = 3  // messages before and after a message
	maxPredecessors = 10 // facts of a fact's history
)

// expand returns the work of showing what belongs to items that were shown: the leaves of a composite, what an observation
// rests on, a message's neighbours, a fact's history and its messages. Only what passes the request's filters is shown.
func (c *conversation) expand(numbers []int) work {
	parts, items := make([]part, len(numbers)), make([]memory.Item, len(numbers))
	for i, n := range numbers {
		item, ok := c.items.Item(n)
		parts[i].title = fmt.Sprintf("Around [%d]", n)
		if !ok {
			parts[i].note = "There is no item of this number."
		}
		items[i] = item
	}
	return c.fill(parts, func(ctx context.Context, i int) (recall.Found, error) { return c.around(ctx, items[i]) })
}

// around returns what belongs to an item.
func (c *conversation) around(ctx context.Context, item memory.Item) (recall.Found, error) {
	found := recall.Found{Bank: c.first.Bank}
	var err error
	switch item.Record {
	case memory.RecordComposite:
		err = c.add(ctx, c.q.Filter, &found, memory.RecordFact, func(s recall.Searcher) ([]int64, error) { return leaves(s, item) })
	case memory.RecordObservation:
		ids := make([]memory.FactID, len(item.Children))
		for i, id := range item.Children {
			ids[i] = memory.FactID(id)
		}
		err = c.add(ctx, c.q.Filter, &found, memory.RecordFact, func(s recall.Searcher) ([]int64, error) { return s.FactNumbers(ids) })
	case memory.RecordMessage:
		err = c.addNeighbours(ctx, item, &found)
	case memory.RecordFact:
		if err = c.addHistory(ctx, item, &found); err == nil {
			err = c.addMessages(ctx, item.Sources, &found)
		}
	}
	return found, err
}

// add reads the rows of a record that find names in one state of the bank, seen through a filter, and adds them to what
// was found.
func (c *conversation) add(ctx context.Context, filter memory.Filter, found *recall.Found, r memory.Record, find func(recall.Searcher) ([]int64, error)) error {
	return c.Store.Search(ctx, c.bank, filter, func(s recall.Searcher) error {
		nos, err := find(s)
		if err != nil {
			return err
		}
		if c.q.Filter.Finds(r) {
			items, err := s.Items(r, nos[:min(len(nos), max(0, maxExpanded-len(found.Reply.Items)))])
			if err != nil {
				return err
			}
			found.Reply.Items = append(found.Reply.Items, items...)
		}
		return found.AddConflicts(s)
	})
}

// leaves returns the facts at the bottom of a composite.
func leaves(s recall.Searcher, item memory.Item) (facts []int64, err error) {
	nos, err := s.CompositeNumbers([]memory.CompositeID{memory.CompositeID(item.ID)})
	if err != nil {
		return nil, err
	}
	rows, err := s.Composites(nos)
	for _, r := range rows {
		facts = append(facts, r.Leaves...)
	}
	return facts, err
}

// sequences returns the sequences of messages, which are their numbers.
func (c *conversation) sequences(ctx context.Context, ids []memory.MessageID) ([]int64, error) {
	var out []int64
	err := c.Store.Read(ctx, c.bank, func(r Reader) error {
		list, err := r.SourcesNamed(ids)
		for _, s := range list {
			out = append(out, int64(s.Seq))
		}
		return err
	})
	return out, err
}

// addNeighbours adds the messages before and after one, in their order.
func (c *conversation) addNeighbours(ctx context.Context, item memory.Item, found *recall.Found) error {
	nos, err := c.sequences(ctx, []memory.MessageID{memory.MessageID(item.ID)})
	if err != nil {
		return err
	}
	return c.add(ctx, c.q.Filter, found, memory.RecordMessage, func(s recall.Searcher) ([]int64, error) {
		around, err := s.Around(nos, neighbourReach, neighbourReach)
		if err != nil {
			return nil, err
		}
		var messages []int64
		for _, n := range around {
			slices.Reverse(n.Before)
			messages = append(append(messages, n.Before...), n.After...)
		}
		return passing(s, messages)
	})
}

// addMessages adds messages by id.
func (c *conversation) addMessages(ctx context.Context, ids []memory.MessageID, found *recall.Found) error {
	nos, err := c.sequences(ctx, ids)
	if err != nil {
		return err
	}
	return c.add(ctx, c.q.Filter, found, memory.RecordMessage, func(s recall.Searcher) ([]int64, error) { return passing(s, nos) })
}

// passing returns those of the messages that pass the filter, in their order.
func passing(s recall.Searcher, nos []int64) ([]int64, error) {
	rows, err := s.Messages(nos)
	out := make([]int64, 0, len(rows))
	for _, m := range rows {
		out = append(out, m.No)
	}
	return out, err
}

// addHistory adds the facts that a fact replaced or that replaced it. Each is looked for as of the time it became valid,
// for it need not be valid now; what became valid after the time the request asks about is left out.
func (c *conversation) addHistory(ctx context.Context, item memory.Item, found *recall.Found) error {
	history, err := c.History(ctx, c.bank, memory.FactID(item.ID))
	if errors.Is(err, memory.ErrNotFound) {
		return nil // forgotten since it was shown
	}
	if err != nil {
		return err
	}
	for _, i := range history {
		if i.ID == item.ID || len(i.Valid) == 0 || len(found.Reply.Items) == maxPredecessors {
			continue
		}
		from := i.Valid[0].From
		if c.q.Filter.AsOf != nil && from.After(*c.q.Filter.AsOf) {
			continue
		}
		then := c.q.Filter
		then.AsOf = &from
		err := c.add(ctx, then, found, memory.RecordFact, func(s recall.Searcher) ([]int64, error) {
			return s.FactNumbers([]memory.FactID{memory.FactID(i.ID)})
		})
		if err != nil {
			return err
		}
	}
	return nil
}
