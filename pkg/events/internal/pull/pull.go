// Package pull subscribes to JetStream pull consumers through nats.go for the packages ordered and work, and decodes
// what is delivered. It adds what the library leaves to its caller: the end of a subscription is reported with one of
// the causes that package events counts.
package pull

import (
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/eunoe-memory/eunoe/pkg/events"
)

const (
	// Heartbeat is how often the broker confirms an idle request. The library reports a request that stays silent for
	// twice as long.
	Heartbeat = 750 * time.Millisecond
	// Expires is how long one request waits for events before the library repeats it.
	Expires = 30 * time.Second
	// Look is how often readers check the state of their subscription.
	Look = 500 * time.Millisecond
	// LooksPerCheck is how many looks without an event pass before the consumer is asked about itself, which costs a
	// request.
	LooksPerCheck = 4
)

// Subscription delivers what a consumer holds over a channel. It is used by one goroutine.
type Subscription struct {
	Messages chan jetstream.Msg
	Failed   chan error   // receives the cause once if the broker ends the subscription
	Tick     *time.Ticker // fires every Look

	conn       *events.Conn
	reconnects uint64
	done       chan struct{}
	consume    jetstream.ConsumeContext
}

// Subscribe starts to consume. Up to size messages, and about 8 MB of them, are on their way or in the channel at a
// time.
func Subscribe(c *events.Conn, cons jetstream.Consumer, size int) (*Subscription, error) {
	size = max(1, size/2) // one half in the channel, the other half requested
	s := &Subscription{
		Messages: make(chan jetstream.Msg, size), Failed: make(chan error, 1), done: make(chan struct{}),
		conn: c, reconnects: c.NC.Stats().Reconnects,
	}
	name := cons.CachedInfo().Name
	var err error
	s.consume, err = cons.Consume(func(m jetstream.Msg) {
		select {
		case s.Messages <- m:
		case <-s.done:
		}
	}, jetstream.PullMaxMessagesWithBytesLimit(size, max(8<<20, 2*int(c.NC.MaxPayload()))),
		jetstream.PullExpiry(Expires), jetstream.PullHeartbeat(Heartbeat),
		jetstream.ConsumeErrHandler(func(_ jetstream.ConsumeContext, err error) {
			if err = Ended(name, err); err == nil {
				return
			}
			select {
			case s.Failed <- err:
			default: // the first cause counts
			}
		}))
	if err != nil {
		return nil, events.Classify(err, "subscribe to consumer %s", name)
	}
	s.Tick = time.NewTicker(Look)
	return s, nil
}

// Reconnected returns an error when the connection was re-established since the subscription began. Deliveries that
// were on their way then are lost, which nothing else would reveal before the next event.
func (s *Subscription) Reconnected() error { return Reconnected(s.conn, s.reconnects) }

// Close ends the subscription. Messages that were not received are dropped.
func (s *Subscription) Close() {
	s.Tick.Stop()
	close(s.done)
	s.consume.Stop()
}

// Reconnected returns an error when the connection was re-established more often than before.
func Reconnected(c *events.Conn, before uint64) error {
	if c.NC.Stats().Reconnects == before {
		return nil
	}
	return events.Broken(events.CauseReconnected, errors.New("the connection was re-established"))
}

// Ended translates an error of the library about a consumer. It returns nil for a change of leadership, after which the
// library asks the new leader.
func Ended(consumer string, err error) error {
	switch {
	case err == nil || errors.Is(err, jetstream.ErrConsumerLeadershipChanged):
		return nil
	case errors.Is(err, jetstream.ErrNoHeartbeat):
		return events.Broken(events.CauseSilent, fmt.Errorf("consumer %s: %w", consumer, err))
	}
	return events.Broken(events.CauseLost, fmt.Errorf("consumer %s: %w", consumer, err))
}

// EventOf decodes a delivery. The metadata holds the consumer's own sequence and the number of deliveries.
func EventOf(c *events.Conn, m jetstream.Msg) (events.Event, *jetstream.MsgMetadata, error) {
	md, err := m.Metadata()
	if err != nil {
		return events.Event{}, nil, fmt.Errorf("read a delivery on %s: %w", m.Subject(), err)
	}
	e := c.Naming.NewEvent(md.Stream, m.Subject(), md.Sequence.Stream, md.Timestamp, m.Data(), m.Headers())
	e.Pending = md.NumPending
	return e, md, nil
}

// Ordered configures a consumer that needs no acknowledgements and disappears with its reader. It delivers the events
// that match one of subjects (nil = all) after a sequence.
func Ordered(subjects []string, after uint64) jetstream.ConsumerConfig {
	return jetstream.ConsumerConfig{
		FilterSubjects: subjects,
		DeliverPolicy:  jetstream.DeliverByStartSequencePolicy, OptStartSeq: after + 1,
		AckPolicy: jetstream.AckNonePolicy, MemoryStorage: true, Replicas: 1,
		InactiveThreshold: time.Minute, MaxWaiting: 8,
	}
}
