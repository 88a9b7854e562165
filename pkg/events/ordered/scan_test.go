package ordered_test

import (
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
)

func TestScanGoesOnWhenItsConsumerStalls(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	for range 700 { // more than a request asks for
		natstest.Publish(t, c, "alice", "s", "x")
	}
	n := 0
	last, err := ordered.Scan(t.Context(), c, c.Naming.Messages(), nil, 0, func(e events.Event) error {
		if n++; n == 1 {
			for _, name := range consumers(t, c, c.Naming.Messages()) {
				if _, err := c.JS.PauseConsumer(t.Context(), c.Naming.Messages(), name, time.Now().Add(time.Hour)); err != nil {
					return err
				}
			}
		}
		if e.Seq != uint64(n) {
			t.Errorf("event %d came as number %d", e.Seq, n)
		}
		return nil
	})
	if err != nil || n != 700 || last != 700 {
		t.Errorf("%d events up to %d, %v", n, last, err)
	}
	if natstest.Resubscriptions(c, c.Naming.Messages(), "stalled") != 1 {
		t.Errorf("counted %+v", c.Resubscriptions())
	}
}
