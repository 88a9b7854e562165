package query

import (
	"context"
	"fmt"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Get reads one record by its id.
func (s *Service) Get(ctx context.Context, bank memory.BankID, r memory.GetRequest) (memory.Item, error) {
	if err := memory.CheckID("id", r.ID); err != nil {
		return memory.Item{}, err
	}
	var item *memory.Item
	err := s.store.Read(ctx, bank, func(rd Reader) error {
		var err error
		item, err = rd.Item(r.ID)
		return err
	})
	if err != nil {
		return memory.Item{}, err
	}
	if item == nil {
		return memory.Item{}, fmt.Errorf("record %q: %w", r.ID, memory.ErrNotFound)
	}
	return *item, nil
}

// List pages through the records of one kind that pass a filter, ordered by
// when they were said.
func (s *Service) List(ctx context.Context, bank memory.BankID, r memory.ListRequest) (memory.Page[memory.Item], error) {
	out := memory.Page[memory.Item]{Items: []memory.Item{}}
	if r.Record == "" {
		r.Record = memory.RecordFact
	}
	if !slices.Contains(memory.Records, r.Record) {
		return out, memory.Invalid("record", "is not a record; expected fact, composite, observation or message")
	}
	if r.Order != "" && r.Order != "newest" && r.Order != "oldest" {
		return out, memory.Invalid("order", "is not an order; expected newest or oldest")
	}
	if len(r.Records) > 0 {
		return out, memory.Invalid("records", "does not belong to a list; give record")
	}
	f, err := checkFilter(r.Filter)
	if err != nil {
		return out, err
	}
	list := "list " + string(r.Record) + " " + r.Order
	limit, from, err := page(r.Limit, r.Cursor, list)
	if err != nil {
		return out, err
	}
	err = s.store.Read(ctx, bank, func(rd Reader) error {
		items, next, err := rd.List(r.Record, f, r.Order == "oldest", from, limit)
		out.Items, out.Next = append(out.Items, items...), next.cursor(list)
		return err
	})
	return out, err
}

// The bounds of a tree: how deep and how many nodes one reply holds.
const (
	defaultDepth = 2
	maxDepth     = 16
	maxNodes     = 2000
)

// Tree reads composites with what stands below them, to a depth (default 2: a
// composite and its children).
func (s *Service) Tree(ctx context.Context, bank memory.BankID, r memory.TreeRequest) (memory.Page[memory.TreeNode], error) {
	out := memory.Page[memory.TreeNode]{Items: []memory.TreeNode{}}
	depth := r.Depth
	if depth == 0 {
		depth = defaultDepth
	}
	if depth < 1 || depth > maxDepth {
		return out, memory.Invalid("depth", "is %d; expected 1 to %d", depth, maxDepth)
	}
	limit, from, err := page(r.Limit, r.Cursor, "tree")
	if err != nil {
		return out, err
	}
	if r.Root != "" {
		if err := memory.CheckID("root", r.Root); err != nil {
			return out, err
		}
	}
	err = s.store.Read(ctx, bank, func(rd Reader) error {
		var roots []memory.Item
		if r.Root == "" {
			var next Place
			if roots, next, err = rd.Roots(from, limit); err != nil {
				return err
			}
			out.Next = next.cursor("tree")
		} else {
			root, err := rd.Item(r.Root)
			if err != nil {
				return err
			}
			if root == nil || root.Record != memory.RecordComposite && root.Record != memory.RecordFact {
				return fmt.Errorf("node %q: %w", r.Root, memory.ErrNotFound)
			}
			roots = []memory.Item{*root}
		}
		left := maxNodes
		for _, root := range roots {
			node, err := below(rd, root, depth, &left)
			if err != nil {
				return err
			}
			out.Items = append(out.Items, node)
		}
		return nil
	})
	return out, err
}

func below(rd Reader, item memory.Item, depth int, left *int) (memory.TreeNode, error) {
	node := memory.TreeNode{Item: item}
	*left--
	if depth <= 1 || item.Record != memory.RecordComposite {
		return node, nil
	}
	if *left <= 0 {
		return node, &memory.FieldError{Field: "depth", Message: fmt.Sprintf("reaches more than %d nodes; ask for less depth or a smaller limit", maxNodes), Meaning: memory.ErrTooLarge}
	}
	children, err := rd.Children(memory.CompositeID(item.ID))
	if err != nil {
		return node, err
	}
	for _, c := range children {
		n, err := below(rd, c, depth-1, left)
		if err != nil {
			return node, err
		}
		node.Nodes = append(node.Nodes, n)
	}
	return node, nil
}

// Entities lists the entities of a bank by id.
func (s *Service) Entities(ctx context.Context, bank memory.BankID, r memory.EntitiesRequest) (memory.Page[memory.Entity], error) {
	out := memory.Page[memory.Entity]{Items: []memory.Entity{}}
	if r.Type != "" && !r.Type.Known() {
		return out, memory.Invalid("type", "is not a type of entity; expected person, place, organization, project, tool, concept, file or other")
	}
	if len(r.Match) > memory.MaxName {
		return out, memory.Invalid("match", "is %d bytes long; at most %d are allowed", len(r.Match), memory.MaxName)
	}
	limit, from, err := page(r.Limit, r.Cursor, "entities")
	if err != nil {
		return out, err
	}
	err = s.store.Read(ctx, bank, func(rd Reader) error {
		list, next, err := rd.Entities(r.Type, r.Match, from, limit)
		out.Items, out.Next = append(out.Items, list...), next.cursor("entities")
		return err
	})
	return out, err
}
