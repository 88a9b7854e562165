package consolidate

import (
	"context"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Retimed gives the facts of a state that computing its whole timeline anew changes.
func Retimed(v View, s memory.State, cfg Config) ([]memory.Fact, error) {
	ws, err := newWorkspace(v, memory.Write{}, cfg)
	if err != nil {
		return nil, err
	}
	ws.retime(s)
	var out []memory.Fact
	for _, f := range ws.changedFacts() {
		out = append(out, f.now)
	}
	return out, ws.err
}

// Tracing gives what applying a message and a write, and publishing their
// changes, does for tracing alone, to be called again and again.
func Tracing(c *Consolidator, message, write events.Event) func(context.Context) {
	batch, list := []events.Event{message}, []MessageEvent{{Seq: message.Seq, Bank: message.Bank}}
	run, changes := []pendingWrite{{event: write}}, []events.BankChange{{Bank: write.Bank}}
	return func(ctx context.Context) {
		c.traceMessages(ctx, batch, list).end(nil)
		c.traceWrites(ctx, run).end(nil)
		c.traceChanges(ctx, changes).end(nil)
	}
}

// Pace is pace.
type Pace = pace

// Most is most.
func (p *pace) Most() int { return p.most() }

// Wrote is wrote.
func (p *pace) Wrote(n int, took time.Duration, now time.Time) { p.wrote(n, took, now) }

// Stored is stored.
func (p *pace) Stored(took time.Duration, now time.Time) { p.stored(took, now) }
