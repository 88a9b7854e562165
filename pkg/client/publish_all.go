package client

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// PublishAll stores many messages of one session, some hundreds of them on
// their way at a time, and gives their sequences in the order of the messages:
// for imports, and many times as fast as Publish where the broker syncs before
// it acknowledges. They stand in the log in that order, unless one had to be
// published again. All are checked first: ErrInvalid names the message by its
// number and the field, before anything is sent. Any other error joins what
// went wrong; a message whose sequence is 0 was then not acknowledged. One
// without ID is given one.
func (c *Client) PublishAll(ctx context.Context, bank memory.BankID, session memory.SessionID, messages []memory.Message) ([]uint64, error) {
	if err := checkNames(bank, session); err != nil {
		return nil, err
	}
	for i, m := range messages {
		if err := m.Validate(); err != nil {
			return nil, fmt.Errorf("message %d: %w", i, err)
		}
	}
	p, err := events.NewPublisher(events.DefaultPublisherConfig(), c.conn)
	if err != nil {
		return nil, err
	}
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	ctx, reason := c.refused.watch(ctx, c.conn.Naming.MessageSubject(bank, session))
	var mu sync.Mutex
	var failed []error
	seqs := make([]uint64, len(messages))
	fail := func(i int, err error) {
		mu.Lock()
		defer mu.Unlock()
		failed = append(failed, fmt.Errorf("publish message %d to session %s: %w", i, session, published(reason(err))))
	}
	for i, m := range messages {
		err := p.PublishAsync(ctx, bank, session, m, func(seq uint64, err error) {
			if err != nil {
				fail(i, err)
				return
			}
			seqs[i] = seq
		})
		if err != nil {
			fail(i, err)
			break
		}
	}
	p.Wait()
	return seqs, errors.Join(failed...)
}
