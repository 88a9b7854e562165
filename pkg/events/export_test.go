package events

import (
	"context"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
)

// told is a consumer that only tells of itself.
type told struct {
	jetstream.Consumer
	info []*jetstream.ConsumerInfo
}

func (t *told) Info(context.Context) (*jetstream.ConsumerInfo, error) {
	i := t.info[0]
	t.info = t.info[1:]
	return i, nil
}

// Looks looks at a consumer that tells one thing after the other, each time
// after a request was not answered for long, and gives the causes to subscribe
// anew, "" for none.
func Looks(ctx context.Context, infos ...*jetstream.ConsumerInfo) []string {
	c := &Conn{Log: zerolog.Nop(), renewals: newRenewals(Naming{})}
	w := &worker{conn: c, cfg: WorkConfig{Durable: "extract", Stream: "S", StallAfter: time.Nanosecond}}
	cons, seen := &told{info: infos}, watch{}
	var out []string
	for range infos {
		cause := ""
		if err := w.look(ctx, cons, &seen); err != nil {
			cause = c.renewed("S", err)
		}
		out = append(out, cause)
		seen.looked = time.Time{}
	}
	return out
}

// Tracing is what a publish does for tracing alone.
func Tracing(ctx context.Context, c *Conn) {
	ctx, span := c.beginPublish(ctx, "alice", "s")
	telemetry.Inject(ctx, nil)
	span.At(1).End(nil)
	c.Traced(ctx, Event{Seq: 1})
}
