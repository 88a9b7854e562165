package query_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// checking is a store whose check lasts until it may end.
type checking struct {
	query.Store
	begun, running, most atomic.Int64
	end                  chan struct{}
}

func (c *checking) Verify(ctx context.Context, full bool) (wire.Verification, error) {
	c.begun.Add(1)
	if n := c.running.Add(1); n > c.most.Load() {
		c.most.Store(n)
	}
	defer c.running.Add(-1)
	select {
	case <-c.end:
	case <-ctx.Done():
		return wire.Verification{}, ctx.Err()
	}
	return c.Store.Verify(ctx, full)
}

// TestOneCheckOfTheStoreRunsAtATime asks for five checks: each is answered, one after the other, and a recall beside the
// first one is answered.
func TestOneCheckOfTheStoreRunsAtATime(t *testing.T) {
	t.Parallel()
	slow := &checking{end: make(chan struct{})}
	s := serveWith(t, func(d *query.Deps) { slow.Store, d.Store = d.Store, slow })
	const checks = 5
	answers := make(chan error, checks)
	for range checks {
		go func() {
			m, err := s.nc.Request("mem.admin.verify", nil, natstest.Patience)
			if err == nil && m.Header.Get("Nats-Service-Error") != "" {
				t.Errorf("a check is refused: %s", m.Data)
			}
			answers <- err
		}()
	}
	natstest.Eventually(t, "the first check runs", func() bool { return slow.begun.Load() > 0 })
	if err := s.ask("mem.ada.recall", `{"query":"tea"}`, nil); !errors.Is(err, memory.ErrNotFound) { // the store is empty
		t.Error(err)
	}
	if n := slow.begun.Load(); n != 1 {
		t.Errorf("%d checks have begun", n)
	}
	close(slow.end)
	for range checks {
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
	if slow.begun.Load() != checks || slow.most.Load() != 1 {
		t.Errorf("%d checks ran, up to %d at a time", slow.begun.Load(), slow.most.Load())
	}
}
