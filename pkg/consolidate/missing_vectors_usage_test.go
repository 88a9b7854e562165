package consolidate_test

import (
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func TestCallsOfAnEmbedderThatStaysDownAreCounted(t *testing.T) {
	t.Parallel()
	e := newEmbedding(t)
	e.model.Down(true)
	stop := e.run()
	e.applied(e.bare(e.say("m1", "I drive a red car."), "m1", "Alice drives a red car."))
	natstest.Eventually(t, "the embedder was asked", func() bool { calls, _ := e.model.Calls(); return calls > 0 })
	stop()
	var told memory.Usage
	_, err := ordered.Scan(t.Context(), e.conn, e.conn.Naming.Writes(), nil, 0, func(ev events.Event) error {
		w, err := ev.Write()
		for _, u := range w.Usage {
			told = told.Plus(u.Usage)
		}
		return err
	})
	calls, _ := e.model.Calls()
	if err != nil || told.Calls != calls || told.Failed != calls {
		t.Errorf("the log tells of %+v, %v; there were %d calls, all failed", told, err, calls)
	}
}
