package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Subscription receives the change events published since it was made.
type Subscription struct {
	sub    *nats.Subscription
	prefix string
}

// Subscribe listens to the changes of a bank: what is one of the memory.Change constants ("fact"), "" = all. The
// subscription is in place when it returns. Events that come while the program is away are not sent again: read them
// with Changes.
func (c *Client) Subscribe(ctx context.Context, bank memory.BankID, what string) (*Subscription, error) {
	if what == "" {
		what = "*"
	} else if strings.ContainsAny(what, ".*> ") {
		return nil, memory.Invalid("what", "%q is not a kind of change; expected one like fact", what)
	}
	all, err := c.subject(bank, events.KindChange)
	if err != nil {
		return nil, err
	}
	subject := all + "." + what
	sub, err := c.conn.NC.SubscribeSync(subject)
	if err != nil {
		return nil, fmt.Errorf("subscribe to %s: %w", subject, meaning(err))
	}
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	if err := c.conn.NC.FlushWithContext(ctx); err != nil {
		sub.Unsubscribe() //nolint:errcheck // the flush's error is the one to tell
		return nil, fmt.Errorf("subscribe to %s: %w", subject, meaning(err))
	}
	return &Subscription{sub: sub, prefix: all + "."}, nil
}

// Next waits for the next change. The end of ctx is ctx's error. An event that cannot be read as a change is skipped.
func (s *Subscription) Next(ctx context.Context) (memory.Change, error) {
	for {
		msg, err := s.sub.NextMsgWithContext(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return memory.Change{}, ctx.Err()
			}
			if errors.Is(err, nats.ErrPermissionViolation) {
				err = notAllowed("subscribe to", s.sub.Subject)
			}
			return memory.Change{}, fmt.Errorf("subscription %s: %w", s.sub.Subject, meaning(err))
		}
		var ch memory.Change
		if json.Unmarshal(msg.Data, &ch) != nil {
			continue
		}
		ch.What = strings.TrimPrefix(msg.Subject, s.prefix)
		return ch, nil
	}
}

// All repeats Next until ctx ends. Any other error ends it and comes as the last pair.
func (s *Subscription) All(ctx context.Context) iter.Seq2[memory.Change, error] {
	return func(yield func(memory.Change, error) bool) {
		for {
			ch, err := s.Next(ctx)
			if ctx.Err() != nil {
				return
			}
			if !yield(ch, err) || err != nil {
				return
			}
		}
	}
}

// Close stops listening.
func (s *Subscription) Close() error { return s.sub.Unsubscribe() }
