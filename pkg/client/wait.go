package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// WaitSettled asks for the bank's status until every message published for it
// has come to its end, and gives the last status. each, if not nil, is called
// with every status on the way. It asks every 50 ms at first and once a second
// at the slowest. A bank that is not there yet is waited for; the end of ctx
// is ErrDeadline.
func (c *Client) WaitSettled(ctx context.Context, bank memory.BankID, each func(memory.Status)) (memory.Status, error) {
	pause := 50 * time.Millisecond
	var last memory.Status
	for {
		st, err := c.Status(ctx, bank)
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
		pause = min(pause*3/2, time.Second)
	}
}
