package events

import (
	"context"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	// askWithin is how long one question to the broker may take, whatever time the caller has: a server that hangs answers
	// none, and the same question to another one is answered.
	askWithin = 3 * time.Second
	// askAgain is how long a question may be unanswered until it is asked once more. What reaches a server while a stream
	// has no leader is dropped without a word, and so is what was sent over a connection that broke.
	askAgain = 500 * time.Millisecond
)

func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, askWithin)
}

// Again asks the broker by f, and once more beside that whenever half a second has passed without an answer, for three seconds.
// The first answer counts. f must be harmless to repeat, and end with its context.
func Again[T any](ctx context.Context, f func(context.Context) (T, error)) (T, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	type answer struct {
		value T
		err   error
	}
	answers := make(chan answer, askWithin/askAgain+1) // as many as can be asked for: nobody has to wait to answer
	ask := func() {
		value, err := f(ctx)
		answers <- answer{value, err}
	}
	tick := time.NewTicker(askAgain)
	defer tick.Stop()
	go ask()
	for asked := 1; ; {
		select {
		case a := <-answers:
			return a.value, a.err
		case <-tick.C:
			if asked++; asked <= cap(answers) {
				go ask()
			}
		}
	}
}

// Consumer returns a consumer of a stream.
func (c *Conn) Consumer(ctx context.Context, stream, name string) (jetstream.Consumer, error) {
	return Again(ctx, func(ctx context.Context) (jetstream.Consumer, error) { return c.JS.Consumer(ctx, stream, name) })
}
