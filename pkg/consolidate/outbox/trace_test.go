package outbox

import (
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/events"
)

func TestPublishingWithoutATracerAllocatesNothingForTracing(t *testing.T) {
	p := New(Deps{Conn: &events.Conn{}})
	changes := []events.BankChange{{Bank: "alice"}}
	if n := testing.AllocsPerRun(1000, func() { p.trace(t.Context(), changes) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
