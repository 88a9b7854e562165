package write

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/admission"
)

// aheadOfBank is how many writes of one bank are in the log, or on their way there, whose requests wait until they are
// applied. Writes are applied in the order of the log, so those of every other bank wait behind them. factsOfWrite facts
// count as one write more.
const (
	aheadOfBank  = 16
	factsOfWrite = 8
)

// ahead holds requests that write back while their bank has enough in the log. Its zero value is ready.
type ahead struct {
	mu    sync.Mutex
	banks map[memory.BankID]*bankAhead
}

type bankAhead struct {
	places   *semaphore.Weighted
	requests int // that have places or wait for them
}

// enter waits for the turn of a write in its bank, for a time at most; then the error is memory.ErrQuota and says when to
// come again. The caller calls leave, once, when the write is applied or not waited for any more.
func (a *ahead) enter(ctx context.Context, w memory.Write, wait time.Duration) (leave func(), err error) {
	a.mu.Lock()
	if a.banks == nil {
		a.banks = map[memory.BankID]*bankAhead{}
	}
	b := a.banks[w.Bank]
	if b == nil {
		b = &bankAhead{places: semaphore.NewWeighted(aheadOfBank)}
		a.banks[w.Bank] = b
	}
	b.requests++
	a.mu.Unlock()
	forget := func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if b.requests--; b.requests == 0 {
			delete(a.banks, w.Bank)
		}
	}
	cost := min(aheadOfBank, int64(1+len(w.Facts)/factsOfWrite))
	if !b.places.TryAcquire(cost) {
		limited, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		back := admission.Leave(ctx)
		err := b.places.Acquire(limited, cost)
		back()
		if err != nil {
			forget()
			if ctx.Err() != nil {
				return nil, events.Classify(ctx.Err(), "wait for the bank's earlier writes")
			}
			return nil, &memory.FieldError{Message: "the bank has too many writes that wait to be applied, and this one was not made; come again in 1s",
				Meaning: memory.ErrQuota, RetryAfter: time.Second}
		}
	}
	return func() { b.places.Release(cost); forget() }, nil
}
