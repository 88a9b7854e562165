package transfer

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func (im *Importer) flush(ctx context.Context, bank memory.BankID, session memory.SessionID) error {
	return im.insist(ctx, func(ctx context.Context) error {
		_, err := im.client.Flush(ctx, bank, session)
		return err
	})
}

// acknowledgedWithin is how long one acknowledgement is waited for: that of a broker which is started again is lost.
const acknowledgedWithin = 3 * time.Second

// insist publishes again while the broker is away, for as long as Config.Patience says. Nothing is doubled by that: a
// message keeps its id, and a second flush has no effect.
func (im *Importer) insist(ctx context.Context, publish func(context.Context) error) error {
	all, cancel := context.WithTimeout(ctx, cmp.Or(im.cfg.Patience, client.DefaultConfig().Timeout))
	defer cancel()
	for {
		one, cancel := context.WithTimeout(all, acknowledgedWithin)
		err := publish(one)
		cancel()
		away := errors.Is(err, memory.ErrDeadline) || im.answered && errors.Is(err, memory.ErrUnavailable)
		if im.answered = im.answered || err == nil; err == nil || !away || !events.Sleep(all, 100*time.Millisecond) {
			return err
		}
	}
}

// flushOpen flushes the sessions whose last line is a message.
func (im *Importer) flushOpen(ctx context.Context) error {
	for _, t := range im.open {
		if err := im.flush(ctx, t.bank, t.session); err != nil {
			return err
		}
		im.report.Flushes++
	}
	im.open = nil
	return nil
}
