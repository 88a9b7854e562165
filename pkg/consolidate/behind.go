package consolidate

import (
	"context"
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// lookEvery is how often the store is asked whether it stands where this owner left it.
const lookEvery = time.Second

// look returns memory.ErrConflict if the store stands elsewhere than this owner left it, so that it begins again from there.
// A server that failed over, or was restored from a backup, is behind; where nothing is said, no transaction would find
// out. A store that does not answer is left to the next transaction. It asks every lookEvery at most.
func (l *loop) look(ctx context.Context) error {
	if time.Since(l.looked) < lookEvery {
		return nil
	}
	l.looked = time.Now()
	_, writes, err := l.deps.Store.Applied(ctx)
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	messages, err := l.deps.Store.MessagePosition(ctx)
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	if messages.Seq != l.Messages() || writes != l.Writes {
		return fmt.Errorf("the store was left at message %d and write %d and stands at %d and %d: %w",
			l.Messages(), l.Writes, messages.Seq, writes, memory.ErrConflict)
	}
	return nil
}

// skipErased moves the position over messages that were erased from the log and will never be delivered, where a write
// waits for them. In a cluster that recovers, the log may seem to hold none because a server lags.
func (l *loop) skipErased(ctx context.Context) error {
	if len(l.waiting) == 0 || l.open.Load() > 0 || upto(l.waiting[0]) <= l.MessagesOf(l.waiting[0].Event.Bank) {
		return nil
	}
	gone, last := false, upto(l.waiting[0])
	err := l.retry.Do(ctx, "looking for erased messages", func() (err error) {
		gone, err = l.deps.Conn.Gone(ctx, l.deps.Conn.Naming.Messages(), l.Messages(), last)
		return err
	})
	if err != nil || !gone {
		return err
	}
	return l.SkipMessages(ctx, last)
}
