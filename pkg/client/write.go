package client

import (
	"context"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Retain stores facts by hand, or a text as a message of its own. Partial
// success is normal: look at each result's outcome.
func (c *Client) Retain(ctx context.Context, bank memory.BankID, req memory.RetainRequest) (memory.RetainReply, error) {
	c.patient(&req.WriteControl)
	return ask[memory.RetainReply](ctx, c, bank, "retain", req)
}

// Observe derives observations from the bank's facts, or takes ready-made ones.
func (c *Client) Observe(ctx context.Context, bank memory.BankID, req memory.ObserveRequest) (memory.ObserveReply, error) {
	c.patient(&req.WriteControl)
	return ask[memory.ObserveReply](ctx, c, bank, "observe", req)
}

// Consolidate runs now what waits for a schedule. With fewer than 3 facts
// waiting and no Force nothing runs.
func (c *Client) Consolidate(ctx context.Context, bank memory.BankID, req memory.ConsolidateRequest) (memory.ConsolidateReply, error) {
	c.patient(&req.WriteControl)
	return ask[memory.ConsolidateReply](ctx, c, bank, "consolidate", req)
}

// Edit makes a new version of a fact; ErrConflict when it is at another version than the one named.
func (c *Client) Edit(ctx context.Context, bank memory.BankID, req memory.EditRequest) (memory.EditReply, error) {
	c.patient(&req.WriteControl)
	return ask[memory.EditReply](ctx, c, bank, "edit", req)
}

// Conflicts lists a page of conflicts; an empty state means the open ones.
func (c *Client) Conflicts(ctx context.Context, bank memory.BankID, state memory.ConflictState, cursor string) (memory.Page[memory.Conflict], error) {
	if state == "" {
		state = memory.ConflictOpen
	}
	return ask[memory.Page[memory.Conflict]](ctx, c, bank, "conflicts", memory.ConflictRequest{State: state, Cursor: cursor})
}

// Settle resolves a conflict by Winner or dismisses it. It is final.
func (c *Client) Settle(ctx context.Context, bank memory.BankID, req memory.ConflictRequest) (memory.WriteOutcome, error) {
	c.patient(&req.WriteControl)
	return ask[memory.WriteOutcome](ctx, c, bank, "conflicts", req)
}

// Feedback says what a recall was good for. It moves ranking, never content.
func (c *Client) Feedback(ctx context.Context, bank memory.BankID, req memory.FeedbackRequest) (memory.WriteOutcome, error) {
	c.patient(&req.WriteControl)
	return ask[memory.WriteOutcome](ctx, c, bank, "feedback", req)
}

// Forget erases a record, a session or what a speaker said, for good, and
// gives the receipt.
func (c *Client) Forget(ctx context.Context, bank memory.BankID, req memory.ForgetRequest) (memory.Receipt, error) {
	c.patient(&req.WriteControl)
	return ask[memory.Receipt](ctx, c, bank, "forget", req)
}

// Bank reads the profile of a bank; ErrNotFound where there is none.
func (c *Client) Bank(ctx context.Context, bank memory.BankID) (memory.Bank, error) {
	return ask[memory.Bank](ctx, c, bank, "bank", struct{}{})
}

// SetBank sets the fields it names and gives the profile as it then is. A bank
// that is not there is made; with Create an existing one is ErrConflict.
func (c *Client) SetBank(ctx context.Context, bank memory.BankID, update memory.BankUpdate) (memory.Bank, error) {
	return ask[memory.Bank](ctx, c, bank, "bank", update)
}

// patient fills in how long a write waits for its outcome.
func (c *Client) patient(w *memory.WriteControl) {
	if w.Wait == nil && c.wait > 0 {
		wait := memory.Duration(c.wait)
		w.Wait = &wait
	}
}
