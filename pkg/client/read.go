package client

import (
	"context"
	"errors"
	"iter"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Get reads one record by id; ErrNotFound where there is none.
func (c *Client) Get(ctx context.Context, bank memory.BankID, id string) (memory.Item, error) {
	return ask[memory.Item](ctx, c, bank, "get", memory.GetRequest{ID: id})
}

// List reads one page of records.
func (c *Client) List(ctx context.Context, bank memory.BankID, req memory.ListRequest) (memory.Page[memory.Item], error) {
	return ask[memory.Page[memory.Item]](ctx, c, bank, "list", req)
}

// All walks every record a list would give, page by page; pages too large for
// the broker are asked for in smaller ones. An error ends the walk and comes as
// the last pair.
func (c *Client) All(ctx context.Context, bank memory.BankID, req memory.ListRequest) iter.Seq2[memory.Item, error] {
	return walk(func(cursor string) (memory.Page[memory.Item], error) {
		if cursor != "" {
			req.Cursor = cursor
		}
		for {
			p, err := c.List(ctx, bank, req)
			if !errors.Is(err, memory.ErrTooLarge) || req.Limit == 1 {
				return p, err
			}
			if req.Limit == 0 {
				req.Limit = 50 // what a list gives by itself
			}
			req.Limit = max(1, req.Limit/2)
		}
	})
}

// Tree reads one page of the memory tree from a root, or of all roots.
func (c *Client) Tree(ctx context.Context, bank memory.BankID, req memory.TreeRequest) (memory.Page[memory.TreeNode], error) {
	return ask[memory.Page[memory.TreeNode]](ctx, c, bank, "tree", req)
}

// Roots walks every node a tree request would give, page by page.
func (c *Client) Roots(ctx context.Context, bank memory.BankID, req memory.TreeRequest) iter.Seq2[memory.TreeNode, error] {
	return walk(func(cursor string) (memory.Page[memory.TreeNode], error) {
		if cursor != "" {
			req.Cursor = cursor
		}
		return c.Tree(ctx, bank, req)
	})
}

// Entities reads one page of the bank's entities.
func (c *Client) Entities(ctx context.Context, bank memory.BankID, req memory.EntitiesRequest) (memory.Page[memory.Entity], error) {
	return ask[memory.Page[memory.Entity]](ctx, c, bank, "entities", req)
}

// AllEntities walks every entity, page by page.
func (c *Client) AllEntities(ctx context.Context, bank memory.BankID, req memory.EntitiesRequest) iter.Seq2[memory.Entity, error] {
	return walk(func(cursor string) (memory.Page[memory.Entity], error) {
		if cursor != "" {
			req.Cursor = cursor
		}
		return c.Entities(ctx, bank, req)
	})
}

// History reads how a fact came to be as it is, oldest first.
func (c *Client) History(ctx context.Context, bank memory.BankID, id string) (memory.Page[memory.Item], error) {
	return ask[memory.Page[memory.Item]](ctx, c, bank, "history", memory.HistoryRequest{ID: id})
}

// Changes reads change events after a sequence, for who was away; 0 = from the start.
func (c *Client) Changes(ctx context.Context, bank memory.BankID, req memory.ChangesRequest) (memory.Page[memory.Change], error) {
	return ask[memory.Page[memory.Change]](ctx, c, bank, "changes", req)
}

// Status says where the bank stands.
func (c *Client) Status(ctx context.Context, bank memory.BankID) (memory.Status, error) {
	return ask[memory.Status](ctx, c, bank, "status", struct{}{})
}

// walk turns pages into a sequence. A page that names itself as the next ends it.
func walk[T any](page func(cursor string) (memory.Page[T], error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		cursor := ""
		for {
			p, err := page(cursor)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range p.Items {
				if !yield(item, nil) {
					return
				}
			}
			if p.Next == "" || p.Next == cursor {
				return
			}
			cursor = p.Next
		}
	}
}
