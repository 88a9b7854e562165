package client

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// Get reads one record by id; ErrNotFound where there is none.
func (c *Client) Get(ctx context.Context, bank memory.BankID, id string) (memory.Item, error) {
	return Call(ctx, c, wire.Get, bank, wire.GetRequest{ID: id})
}

// List reads one page of records.
func (c *Client) List(ctx context.Context, bank memory.BankID, req wire.ListRequest) (wire.Page[memory.Item], error) {
	return Call(ctx, c, wire.List, bank, req)
}

// All walks every record that List would return, page by page. A page too large for the broker is asked for in smaller
// ones. An error ends the walk and comes as the last pair.
func (c *Client) All(ctx context.Context, bank memory.BankID, req wire.ListRequest) iter.Seq2[memory.Item, error] {
	return walk(req.Cursor, func(cursor string) (wire.Page[memory.Item], error) {
		req.Cursor = cursor
		for {
			p, err := c.List(ctx, bank, req)
			if !errors.Is(err, memory.ErrTooLarge) || req.Limit == 1 {
				return p, err
			}
			if req.Limit == 0 {
				req.Limit = 50 // the default of the service
			}
			req.Limit = max(1, req.Limit/2)
		}
	})
}

// Tree reads one page of the memory tree, from a root or of all roots.
func (c *Client) Tree(ctx context.Context, bank memory.BankID, req wire.TreeRequest) (wire.Page[wire.TreeNode], error) {
	return Call(ctx, c, wire.Tree, bank, req)
}

// Roots walks every node that Tree would return, page by page.
func (c *Client) Roots(ctx context.Context, bank memory.BankID, req wire.TreeRequest) iter.Seq2[wire.TreeNode, error] {
	return walk(req.Cursor, func(cursor string) (wire.Page[wire.TreeNode], error) {
		req.Cursor = cursor
		return c.Tree(ctx, bank, req)
	})
}

// Entities reads one page of the bank's entities.
func (c *Client) Entities(ctx context.Context, bank memory.BankID, req wire.EntitiesRequest) (wire.Page[memory.Entity], error) {
	return Call(ctx, c, wire.Entities, bank, req)
}

// AllEntities walks every entity, page by page.
func (c *Client) AllEntities(ctx context.Context, bank memory.BankID, req wire.EntitiesRequest) iter.Seq2[memory.Entity, error] {
	return walk(req.Cursor, func(cursor string) (wire.Page[memory.Entity], error) {
		req.Cursor = cursor
		return c.Entities(ctx, bank, req)
	})
}

// History reads how a fact came to be as it is: the facts before and after it, oldest first, their sources and the
// decisions of models about them.
func (c *Client) History(ctx context.Context, bank memory.BankID, id string) (wire.HistoryReply, error) {
	return Call(ctx, c, wire.History, bank, wire.HistoryRequest{ID: id})
}

// Changes reads change events after a sequence, for a program that was away; 0 = from the start.
func (c *Client) Changes(ctx context.Context, bank memory.BankID, req wire.ChangesRequest) (wire.Page[memory.Change], error) {
	return Call(ctx, c, wire.Changes, bank, req)
}

// Status returns the state of the bank: what is pending in each stage, what is stored, what became of its messages.
func (c *Client) Status(ctx context.Context, bank memory.BankID) (wire.Status, error) {
	return Call(ctx, c, wire.StatusOf, bank, wire.StatusRequest{})
}

// Sessions reads one page of the bank's sessions.
func (c *Client) Sessions(ctx context.Context, bank memory.BankID, req wire.SessionsRequest) (wire.Page[wire.Session], error) {
	return Call(ctx, c, wire.Sessions, bank, req)
}

// Recalls reads the recalls that a bank has kept, the last one first. A bank keeps them where its profile says so.
func (c *Client) Recalls(ctx context.Context, bank memory.BankID, req wire.RecallsRequest) (wire.RecallsReply, error) {
	return Call(ctx, c, wire.Recalls, bank, req)
}

// Snapshot reads what a curator of the memory looks at, each scope a part.
func (c *Client) Snapshot(ctx context.Context, bank memory.BankID, req wire.SnapshotRequest) (wire.Snapshot, error) {
	return Call(ctx, c, wire.SnapshotOf, bank, req)
}

// Windows reads one page of the bank's windows: those that have not ended, or those that have.
func (c *Client) Windows(ctx context.Context, bank memory.BankID, req wire.WindowsRequest) (wire.Page[wire.WindowStatus], error) {
	return Call(ctx, c, wire.Windows, bank, req)
}

// DeadLetters reads one page of the bank's dead letters, or one of them with its payload.
func (c *Client) DeadLetters(ctx context.Context, bank memory.BankID, req wire.LettersRequest) (wire.Page[memory.DeadLetter], error) {
	return Call(ctx, c, wire.DeadLetters, bank, req)
}

// settledPause is the longest pause between two looks of WaitSettled. A status takes some milliseconds.
const settledPause = 250 * time.Millisecond

// statusWithin is how long WaitSettled waits for one status before it asks for another, and twice as long each time: a
// process that is lost with its server does not answer.
const statusWithin = 3 * time.Second

// WaitSettled asks for the bank's status until every message published for it has been handled, and returns the last
// status. It calls each, if not nil, with every status on the way. It asks after 50 ms at first and four times a second at
// the slowest. A bank that does not exist yet is waited for; the end of ctx is ErrDeadline.
func (c *Client) WaitSettled(ctx context.Context, bank memory.BankID, each func(wire.Status)) (wire.Status, error) {
	pause, patience := 50*time.Millisecond, statusWithin
	var last wire.Status
	for {
		asking, cancel := context.WithTimeout(ctx, min(patience, c.timeout))
		st, err := c.Status(asking, bank)
		lost := err != nil && asking.Err() != nil
		cancel()
		switch {
		case err == nil:
			last = st
			if each != nil {
				each(st)
			}
			if st.Settled {
				return st, nil
			}
		case ctx.Err() != nil:
			return last, fmt.Errorf("wait for bank %s to settle: %w", bank, memory.ErrDeadline)
		case lost && patience < c.timeout:
			patience *= 2
		case !errors.Is(err, memory.ErrNotFound) && !errors.Is(err, memory.ErrUnavailable):
			return last, fmt.Errorf("wait for bank %s to settle: %w", bank, err)
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return last, fmt.Errorf("wait for bank %s to settle: %w", bank, memory.ErrDeadline)
		case <-timer.C:
		}
		pause = min(pause*3/2, settledPause)
	}
}

// walk turns pages, from the one at cursor on, into a sequence. A page that names itself as the next ends it.
func walk[T any](cursor string, page func(cursor string) (wire.Page[T], error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		cursor := cursor // a second walk begins at the beginning
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
