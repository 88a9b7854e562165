package work

import (
	"context"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/events"
)

// told is a consumer that only reports its info.
type told struct {
	jetstream.Consumer
	info []*jetstream.ConsumerInfo
}

func (t *told) Info(context.Context) (*jetstream.ConsumerInfo, error) {
	i := t.info[0]
	t.info = t.info[1:]
	return i, nil
}

// Looks looks at a consumer that tells one thing after the other, each time after a request was not answered for long,
// and returns the causes to subscribe anew, "" for none.
func Looks(ctx context.Context, infos ...*jetstream.ConsumerInfo) []string {
	c := &events.Conn{Log: zerolog.Nop()}
	w := &worker{conn: c, cfg: Config{Durable: "extract", Stream: "S", StallAfter: time.Nanosecond}}
	cons, seen := &told{info: infos}, stallCheck{}
	var out []string
	for range infos {
		cause := ""
		if err := w.checkStall(ctx, cons, &seen); err != nil {
			cause = c.Resubscribed("S", err)
		}
		out = append(out, cause)
		seen.asked = time.Time{}
	}
	return out
}
