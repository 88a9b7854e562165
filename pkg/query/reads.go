package query

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/request"
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

// List returns a page of the records of one kind that pass a filter, ordered by when they were said.
func (s *Service) List(ctx context.Context, bank memory.BankID, r wire.ListRequest) (wire.Page[memory.Item], error) {
	out := wire.Page[memory.Item]{Items: []memory.Item{}}
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
	if err := request.Filter(r.Filter); err != nil {
		return out, err
	}
	list := "list " + string(r.Record) + " " + r.Order
	limit, from, err := page(r.Limit, r.Cursor, list)
	if err != nil {
		return out, err
	}
	err = s.store.Read(ctx, bank, func(rd Reader) error {
		var err error
		if out.Items, from, err = s.listed(rd, r, from, limit); err != nil {
			return err
		}
		if out.Next = from.cursor(list); len(out.Items) == 1 {
			out.Items[0] = cutText(out.Items[0], s.tooLarge(out))
		}
		return nil
	})
	return out, err
}

// firstListed is how many items of a list are read at first; then as many as were read already, while they fit a reply.
const firstListed = 32

// listed returns a page of a list and the place after it. A page that no reply can hold is refused as soon as that is
// known: whole, a thousand messages could be a gigabyte.
func (s *Service) listed(rd Reader, r wire.ListRequest, from Position, limit int) ([]memory.Item, Position, error) {
	out, size, most := []memory.Item{}, 0, 0
	if s.conn != nil {
		most = int(s.conn.NC.MaxPayload())
	}
	for n := firstListed; ; n = len(out) {
		items, next, err := rd.List(r.Record, r.Filter, r.Order == "oldest", from, min(n, limit-len(out)))
		if err != nil {
			return nil, next, err
		}
		out = append(out, items...)
		if len(out) == limit || next.IsZero() {
			return out, next, nil
		}
		for _, i := range items {
			size += leastSize(i)
		}
		if from = next; most > 0 && size > most {
			return nil, next, replyTooLarge(wire.List.Name, fmt.Sprintf("more than %d", size), int64(most))
		}
	}
}

// leastSize returns how many bytes an item has at least in a reply.
func leastSize(i memory.Item) int {
	n := len(i.Text) + len(i.Reasoning)
	for _, id := range i.Sources {
		n += len(id)
	}
	if len(i.Metadata) > 0 {
		body, _ := memory.Encode(i.Metadata) //nolint:errcheck // it comes of JSON
		n += len(body)
	}
	return n
}

// replyMargin is what the subject and the headers of a reply may take of the broker's limit, in bytes.
const replyMargin = 1024

// tooLarge returns by how many bytes a reply exceeds what the broker takes; 0 or less if it fits.
func (s *Service) tooLarge(reply any) int {
	if s.conn == nil || s.conn.NC.MaxPayload() <= 0 {
		return 0
	}
	body, err := memory.Encode(reply)
	if err != nil {
		return 0 // reported where the reply is sent
	}
	return len(body) + replyMargin - int(s.conn.NC.MaxPayload())
}

// cutText returns an item whose text is at least so many bytes of JSON shorter, and says that it was cut. With 0 or less
// the item stays as it is.
func cutText(item memory.Item, over int) memory.Item {
	if over <= 0 {
		return item
	}
	size := func(text string) int {
		body, _ := memory.Encode(text) //nolint:errcheck // a string has a JSON form
		return len(body)
	}
	most := size(item.Text) - over - len(`"cut":true,`)
	for size(item.Text) > most && item.Text != "" {
		item.Text = memory.Truncate(item.Text, len(item.Text)*3/4)
	}
	item.Cut = true
	return item
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
