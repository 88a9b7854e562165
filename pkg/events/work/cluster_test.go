package work_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/work"
)

func TestWorkGoesOnWhenTheLeaderOfItsConsumerMoves(t *testing.T) {
	t.Parallel()
	c := natstest.StartCluster(t).Connect(t)
	options := events.DefaultStreamOptions()
	options.Replicas = 3
	if err := c.Reconcile(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	var handled atomic.Int64
	goWork(t, c, work.Config{}, func(context.Context, events.Event) error { handled.Add(1); return nil })
	natstest.PublishWindow(t, c, 1)
	natstest.Eventually(t, "the first window", func() bool { return handled.Load() == 1 })
	leader := func() string {
		cons, err := c.JS.Consumer(t.Context(), c.Naming.Windows(), "extract")
		if err != nil || cons.CachedInfo().Cluster == nil {
			return ""
		}
		return cons.CachedInfo().Cluster.Leader
	}
	before := leader()
	if _, err := c.NC.Request("$JS.API.CONSUMER.LEADER.STEPDOWN."+c.Naming.Windows()+".extract", nil, 5*time.Second); err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, "another leader", func() bool { now := leader(); return now != "" && now != before })
	natstest.PublishWindow(t, c, 2)
	natstest.Eventually(t, "the window after it", func() bool { return handled.Load() == 2 })
}
