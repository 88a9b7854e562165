package events

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// BankChange is a change and the bank it happened in.
type BankChange struct {
	Bank   memory.BankID
	Change memory.Change
}

// changesInFlight bounds the changes that are not acknowledged yet.
const changesInFlight = 256

// PublishChanges announces changes in order and returns when all are
// acknowledged; their ids are the Nats-Msg-Ids, so that announcing again what
// failed in part adds none twice.
func (c *Conn) PublishChanges(ctx context.Context, changes []BankChange) error {
	futures := make([]jetstream.PubAckFuture, 0, min(len(changes), changesInFlight))
	for len(changes) > 0 {
		part := changes[:min(len(changes), changesInFlight)]
		changes, futures = changes[len(part):], futures[:0]
		for _, ch := range part {
			body, err := json.Marshal(ch.Change)
			if err != nil {
				return fmt.Errorf("encode change %s: %w", ch.Change.ID, err)
			}
			m := withID(c.Naming.ChangeSubject(ch.Bank, ch.Change.What), ch.Change.ID, body)
			f, err := c.JS.PublishMsgAsync(m, jetstream.WithStallWait(stallWait))
			if err != nil {
				return meaning(err, "publish change %s", ch.Change.ID)
			}
			futures = append(futures, f)
		}
		for i, f := range futures {
			select {
			case <-f.Ok():
			case err := <-f.Err():
				return meaning(err, "publish change %s", part[i].Change.ID)
			case <-ctx.Done():
				return meaning(ctx.Err(), "publish change %s", part[i].Change.ID)
			}
		}
	}
	return nil
}
