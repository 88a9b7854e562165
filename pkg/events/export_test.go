package events

import (
	"time"

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

// Ends is what a connection knows of the ends of streams.
type Ends struct{ *streamEnds }

func NewEnds() Ends { return Ends{newStreamEnds()} }

// Believed tells an answer and reports whether it is the end of the stream "s".
func (e Ends) Believed(last, expected uint64, at time.Time) bool {
	return e.believed("s", last, expected, at)
}
