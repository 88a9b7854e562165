package events

import (
	"context"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
)

// Tracing runs only the tracing part of a publish.
func Tracing(ctx context.Context, c *Conn) {
	ctx, span := c.beginPublish(ctx, "alice", "s")
	telemetry.Inject(ctx, nil)
	span.At(1).End(nil)
	c.Traced(ctx, Event{Seq: 1})
}
