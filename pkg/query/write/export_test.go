package write

import (
	"context"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// AheadOfBank is aheadOfBank.
const AheadOfBank = aheadOfBank

// Ahead is ahead.
type Ahead = ahead

// Enter is enter.
func (a *ahead) Enter(ctx context.Context, w memory.Write, wait time.Duration) (func(), error) {
	return a.enter(ctx, w, wait)
}

// Banks returns how many banks are kept.
func (a *ahead) Banks() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.banks)
}
