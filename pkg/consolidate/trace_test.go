package consolidate_test

import (
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/events"
)

func TestApplyingCostsNothingMoreWhereNobodyTraces(t *testing.T) {
	s := newStage(t)
	c, ctx := s.consolidator(s.conn, s.db), t.Context()
	apply := consolidate.Tracing(c, events.Event{Seq: 1, Bank: "alice"}, events.Event{Seq: 2, Bank: "alice"})
	if n := testing.AllocsPerRun(5000, func() { apply(ctx) }); n != 0 { // the average: the server has work of its own
		t.Errorf("%v allocations", n)
	}
}
