package query

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// Get returns one record by its id.
func (s *Service) Get(ctx context.Context, bank memory.BankID, r wire.GetRequest) (memory.Item, error) {
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
	return cutText(*item, s.tooLarge(*item)), nil
}

const (
	defaultDepth = 2 // of a tree
	maxDepth     = 16
	maxNodes     = 2000 // in one reply
)

// Tree returns composites with what is below them, to a depth (default 2: a composite and its children).
func (s *Service) Tree(ctx context.Context, bank memory.BankID, r wire.TreeRequest) (wire.Page[wire.TreeNode], error) {
	out := wire.Page[wire.TreeNode]{Items: []wire.TreeNode{}}
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
			var next Position
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

// below returns an item with its descendants, to a depth. left is how many more nodes the reply may hold.
func below(rd Reader, item memory.Item, depth int, left *int) (wire.TreeNode, error) {
	node := wire.TreeNode{Item: item}
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

// Entities returns a page of the entities of a bank, by id.
func (s *Service) Entities(ctx context.Context, bank memory.BankID, r wire.EntitiesRequest) (wire.Page[memory.Entity], error) {
	out := wire.Page[memory.Entity]{Items: []memory.Entity{}}
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

// Conflicts lists conflicts by state, or resolves or dismisses one.
func (s *Service) Conflicts(ctx context.Context, bank memory.BankID, r wire.ConflictRequest) (wire.ConflictReply, error) {
	if r.ID != "" {
		return s.writes.DecideConflict(ctx, bank, r)
	}
	return s.listConflicts(ctx, bank, r)
}

func (s *Service) listConflicts(ctx context.Context, bank memory.BankID, r wire.ConflictRequest) (wire.ConflictReply, error) {
	switch r.State {
	case "", memory.ConflictOpen, memory.ConflictResolved, memory.ConflictDismissed:
	default:
		return wire.ConflictReply{}, memory.Invalid("state", "is not a state; expected open, resolved or dismissed")
	}
	if r.Winner != "" || r.Dismiss || r.Version != nil {
		return wire.ConflictReply{}, memory.Invalid("id", "is required to decide a conflict")
	}
	limit, from, err := page(r.Limit, r.Cursor, "conflicts")
	if err != nil {
		return wire.ConflictReply{}, err
	}
	reply := wire.ConflictReply{Items: []wire.ConflictItem{}}
	err = s.store.Read(ctx, bank, func(rd Reader) error {
		list, next, err := rd.Conflicts(r.State, from, limit)
		if err != nil {
			return err
		}
		reply.Next = next.cursor("conflicts")
		for _, c := range list {
			facts, err := rd.FactItems([]memory.FactID{c.A, c.B})
			if err != nil {
				return err
			}
			reply.Items = append(reply.Items, wire.ConflictItem{Conflict: c, Facts: facts})
		}
		return nil
	})
	return reply, err
}

// defaultPage is how many items a page has where a request does not say.
const defaultPage = 50

// cursor is a position as callers see it: opaque, and valid for the same list only.
type cursor struct {
	List string `json:"l"`
	At   int64  `json:"a,omitempty"`
	No   int64  `json:"n,omitempty"`
	ID   string `json:"i,omitempty"`
}

// cursor returns the position as a cursor of a list; "" for the zero position.
func (p Position) cursor(list string) string {
	if p.IsZero() {
		return ""
	}
	raw, err := json.Marshal(cursor{list, p.At, p.No, p.ID})
	if err != nil {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// page checks a request's limit (0 = 50) and reads its cursor, which must be of the same list.
func page(limit int, from, list string) (int, Position, error) {
	if limit == 0 {
		limit = defaultPage
	}
	if limit < 1 || limit > memory.MaxLimit {
		return 0, Position{}, memory.Invalid("limit", "is %d; expected 1 to %d", limit, memory.MaxLimit)
	}
	if from == "" {
		return limit, Position{}, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(from)
	var c cursor
	if err != nil || json.Unmarshal(raw, &c) != nil || c.List != list {
		return 0, Position{}, memory.Invalid("cursor", "is not a cursor of this list; give the next of the page before, or nothing")
	}
	return limit, Position{c.At, c.No, c.ID}, nil
}
