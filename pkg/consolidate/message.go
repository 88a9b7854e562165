package consolidate

import (
	"context"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// messageBatch is what was delivered of the messages at once, and what of it is
// for the store.
type messageBatch struct {
	events []events.Event
	list   []MessageEvent
}

func (c *Consolidator) readMessages(batch []events.Event) messageBatch {
	return messageBatch{events: batch, list: messageEvents(batch, c.deps.Redactor)}
}

// messageEvents reads the message events of a batch. Flushes, acknowledgements
// of a broker and events of banks that do not decode are none of the store's:
// only the position moves over them. A malformed message is a dead event.
func messageEvents(batch []events.Event, redact Redactor) []MessageEvent {
	var out []MessageEvent
	for _, e := range batch {
		if e.Err != nil || e.Kind != events.KindMessage || memory.IsForeign(e.Data) {
			continue
		}
		me := MessageEvent{Seq: e.Seq, Bank: e.Bank, Session: e.Session, Stored: memory.At(e.Stored), State: memory.StatePending}
		m, err := e.Message()
		if err != nil {
			me.State = memory.StateDead
			out = append(out, me)
			continue
		}
		m.Content = strings.ReplaceAll(m.Content, "\x00", "\uFFFD")
		if indexed := redact.Redact(m.Content); indexed != m.Content {
			me.Indexed = indexed
		}
		me.Message = &m
		out = append(out, me)
	}
	return out
}

// skipErased moves the position over messages that were erased from the log
// and will never be delivered, where a write waits for them.
func (a *applier) skipErased(ctx context.Context) error {
	if len(a.waiting) == 0 || a.waiting[0].write.Upto <= a.appliedMessages {
		return nil
	}
	upto := a.waiting[0].write.Upto
	found := false
	err := a.insist(ctx, "looking for erased messages", func() error {
		found = false
		_, err := a.deps.Conn.Scan(ctx, a.deps.Conn.Naming.Messages(), nil, a.appliedMessages, func(events.Event) error {
			found = true
			return events.ErrEnough
		})
		return err
	})
	if err != nil || found {
		return err
	}
	err = a.insist(ctx, "stepping over erased messages", func() error {
		return a.deps.Store.ApplyMessages(context.WithoutCancel(ctx), a.appliedMessages, upto, nil)
	})
	if err == nil {
		a.appliedMessages = upto
	}
	return err
}
