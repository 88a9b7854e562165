package query

import (
	"context"
	"fmt"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/request"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

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
