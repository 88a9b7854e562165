package work

import (
	"context"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Pending returns the number of windows of a bank that are queued or being extracted.
func Pending(ctx context.Context, c *events.Conn, bank memory.BankID) (int, error) {
	t, err := queued(ctx, c, bank)
	return t.Events, err
}

func queued(ctx context.Context, c *events.Conn, bank memory.BankID) (events.Tally, error) {
	return c.Tally(ctx, c.Naming.Windows(), c.Naming.BankKind(bank, events.KindWindow))
}

// CountParked returns the number of parked windows of a bank.
func CountParked(ctx context.Context, c *events.Conn, bank memory.BankID) (int, error) {
	t, err := parked(ctx, c, bank)
	return t.Events, err
}

func parked(ctx context.Context, c *events.Conn, bank memory.BankID) (events.Tally, error) {
	return c.Tally(ctx, c.Naming.Parked(), c.Naming.BankKind(bank, events.KindParked))
}

// Unended is how many windows of a bank have not ended, at some moment.
type Unended struct {
	Queued, Parked int
	end            uint64 // of the work queue when it was first looked at
}

// CountUnended counts the windows of a bank that have not ended, by two requests to the broker, or three where a window of
// any bank was ever parked. The queue is then counted before and after the parked ones, so that one which moves between them is not
// missed; it may be counted twice for a moment.
func CountUnended(ctx context.Context, c *events.Conn, bank memory.BankID) (Unended, error) {
	before, err := queued(ctx, c, bank)
	if err != nil {
		return Unended{}, err
	}
	p, err := parked(ctx, c, bank)
	if err != nil {
		return Unended{}, err
	}
	u := Unended{Queued: before.Events, Parked: p.Events, end: before.Last}
	if p.Last == 0 {
		return u, nil
	}
	after, err := queued(ctx, c, bank)
	u.Queued = max(u.Queued, after.Events)
	return u, err
}

// Recount returns what CountUnended would now, where no window was counted. It is one request if nothing was queued since: a
// parked window returns by way of the queue.
func (u Unended) Recount(ctx context.Context, c *events.Conn, bank memory.BankID) (Unended, error) {
	now, err := queued(ctx, c, bank)
	if err != nil || now.Last == u.end && now.Events == 0 && u.Queued+u.Parked == 0 {
		return u, err
	}
	return CountUnended(ctx, c, bank)
}
