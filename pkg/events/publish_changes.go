package events

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// BankChange is a change and the bank it happened in.
type BankChange struct {
	Bank   memory.BankID
	Change memory.Change
	Trace  string // trace context, as telemetry.Line gives it; "" = none
}

// PublishChanges announces changes in order and returns when all are
// acknowledged; their ids are the Nats-Msg-Ids, so that announcing again what
// failed in part adds none twice.
func (c *Conn) PublishChanges(ctx context.Context, changes []BankChange) error {
	msgs := make([]*nats.Msg, len(changes))
	for i, ch := range changes {
		body, err := json.Marshal(ch.Change)
		if err != nil {
			return fmt.Errorf("encode change %s: %w", ch.Change.ID, err)
		}
		msgs[i] = withID(c.Naming.ChangeSubject(ch.Bank, ch.Change.What), ch.Change.ID, body)
		telemetry.Put(ch.Trace, msgs[i].Header)
	}
	return c.publishAll(ctx, msgs, func(i int) string { return "change " + changes[i].Change.ID })
}
