package ordered

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/internal/pull"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// ErrSkipRest is returned by a function given to Scan to end the scan early. It is not an error of the scan.
var ErrSkipRest = errors.New("skip the rest")

// scanSize is how many events of a scan are requested ahead.
const scanSize = 512

// Scan calls fn, in order, with every event of a stream that matches one of the filters (nil = all) and comes after a
// sequence, up to the end that the stream has when Scan begins. It returns the last sequence it covers: that end, or
// the event at which fn returned an error. A consumer that is lost or stalls is replaced, which is logged and counted
// (Conn.Resubscriptions).
func Scan(ctx context.Context, c *events.Conn, stream string, subjects []string, after uint64, fn func(events.Event) error) (last uint64, err error) {
	end, err := c.LastSeq(ctx, stream)
	if err != nil || end <= after {
		return after, err
	}
	s := scanner{conn: c, stream: stream, subjects: subjects, at: after, end: end, fn: fn}
	err = events.Retry(ctx, events.Backoff{Max: time.Second}, func() error { return s.run(ctx) }, func(err error) {
		c.Log.Warn().Err(err).Str("stream", stream).Uint64("seq", s.at).Str("cause", c.Resubscribed(stream, err)).Msg("scanning with a new consumer")
	})
	switch {
	case errors.Is(s.failed, ErrSkipRest):
		return s.at, nil
	case s.failed != nil:
		return s.at, s.failed
	case err != nil:
		return s.at, err
	}
	return end, nil
}

// Count returns how many events of a stream match one of the filters (nil = all) and come after a sequence. The broker
// counts; no event is read.
func Count(ctx context.Context, c *events.Conn, stream string, subjects []string, after uint64) (uint64, error) {
	cons, drop, err := newConsumer(ctx, c, stream, subjects, after)
	if err != nil {
		return 0, fmt.Errorf("count the events of %s: %w", stream, err)
	}
	defer drop()
	return cons.CachedInfo().NumPending, nil
}

type scanner struct {
	conn     *events.Conn
	stream   string
	subjects []string
	at, end  uint64
	fn       func(events.Event) error
	failed   error // returned by fn

	received uint64 // consumer sequence of the last delivery
	doubts   int    // consumers in succession that delivered nothing of what is there
}

// run scans with one consumer. It returns nil when the scan is over.
func (s *scanner) run(ctx context.Context) error {
	if err := s.read(ctx); err != nil || s.failed != nil || s.at >= s.end {
		return err
	}
	return s.complete(ctx)
}

// mostDoubts is how often in succession a consumer may deliver nothing of what the log holds, a second apart, until it is
// believed: the broker may hold an event that it cannot read.
const mostDoubts = 30

// complete returns an error, so that the scan goes on with another consumer, if a replicated stream holds an event that was
// not delivered: a server that lags has told of no more.
func (s *scanner) complete(ctx context.Context) error {
	stream, err := events.Again(ctx, func(ctx context.Context) (jetstream.Stream, error) { return s.conn.JS.Stream(ctx, s.stream) })
	if err != nil {
		return events.Classify(err, "read stream %s", s.stream)
	}
	if stream.CachedInfo().Config.Replicas <= 1 {
		return nil
	}
	filters := s.subjects
	if len(filters) == 0 {
		filters = []string{">"}
	}
	for _, filter := range filters {
		e, err := s.conn.NextEvent(ctx, s.stream, filter, s.at+1)
		switch {
		case errors.Is(err, memory.ErrNotFound):
		case err != nil:
			return err
		case e.Seq <= s.end && s.doubts < mostDoubts:
			s.doubts++
			return events.Broken(events.CauseGap, fmt.Errorf("consumer of %s left out event %d", s.stream, e.Seq))
		}
	}
	return nil
}

// read scans with one consumer until it says that there is no more.
func (s *scanner) read(ctx context.Context) error {
	cons, drop, err := newConsumer(ctx, s.conn, s.stream, s.subjects, s.at)
	if err != nil {
		return err
	}
	defer drop()
	if cons.CachedInfo().NumPending == 0 {
		return nil
	}
	sub, err := pull.Subscribe(s.conn, cons, scanSize)
	if err != nil {
		return err
	}
	defer sub.Close()
	s.received = 0
	quiet, doubted := 0, false // ticks without an event; whether the consumer was found to hold some back
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-sub.Failed:
			return err
		case m := <-sub.Messages:
			quiet, doubted = 0, false
			if over, err := s.handle(m); over || err != nil {
				return err
			}
		case <-sub.Tick.C:
			if err := sub.Reconnected(); err != nil {
				return err
			}
			if quiet++; quiet < pull.LooksPerCheck {
				continue
			}
			quiet = 0
			info, err := events.Again(ctx, cons.Info)
			if err != nil {
				return events.Broken(events.CauseLost, events.Classify(err, "ask the consumer of %s", s.stream))
			}
			switch {
			case len(sub.Messages) > 0:
			case info.NumPending == 0 && info.Delivered.Consumer == s.received: // the rest was erased meanwhile
				return nil
			case doubted:
				return events.Broken(events.CauseStalled, fmt.Errorf("consumer of %s stalled with %d pending", s.stream, info.NumPending))
			default:
				doubted = true
			}
		}
	}
}

// handle passes one delivery to fn and reports whether the scan is over.
func (s *scanner) handle(m *nats.Msg) (over bool, err error) {
	e, delivery, err := pull.Delivered(s.conn, m)
	if err != nil {
		return false, err
	}
	if delivery != s.received+1 {
		return false, events.Broken(events.CauseGap, fmt.Errorf("consumer of %s left out a delivery", s.stream))
	}
	s.received++
	if e.Seq > s.end {
		return true, nil
	}
	s.at, s.doubts = e.Seq, 0
	s.failed = s.fn(e)
	return s.failed != nil || e.Pending == 0 || e.Seq == s.end, nil
}

// newConsumer creates a consumer of the events after a sequence; drop deletes it. A cluster without a leader drops the request,
// so it is repeated (events.Again); the name makes that harmless. It may place a consumer on a server that hangs, and the next
// one, of another name, elsewhere.
func newConsumer(ctx context.Context, c *events.Conn, stream string, subjects []string, after uint64) (cons jetstream.Consumer, drop func(), err error) {
	want, name := pull.Ordered(subjects, after), nuid.Next()
	want.Name = name
	cons, err = events.Again(ctx, func(ctx context.Context) (jetstream.Consumer, error) { return c.JS.CreateConsumer(ctx, stream, want) })
	if err != nil {
		return nil, nil, events.Classify(err, "create a consumer of %s", stream)
	}
	return cons, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = c.JS.DeleteConsumer(ctx, stream, name) // it disappears by itself if this fails
	}, nil
}
