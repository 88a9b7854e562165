// Package pull subscribes to JetStream pull consumers for the packages ordered and work, and decodes what is delivered.
// The end of a subscription is reported with one of the causes that package events counts.
package pull

import (
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/eunoe-memory/eunoe/pkg/events"
)

const (
	// Heartbeat is how often the broker confirms an idle request. One that stays silent for twice as long is given up.
	Heartbeat = 750 * time.Millisecond
	// Expires is how long one request waits for events before it is repeated.
	Expires = 30 * time.Second
	// Look is how often readers check the state of their subscription.
	Look = 500 * time.Millisecond
	// LooksPerCheck is how many looks without an event pass before the consumer is asked about itself, which costs a
	// request.
	LooksPerCheck = 4
)

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

// Delivered decodes what a Subscription delivered. consumer is the consumer's own sequence of the delivery.
func Delivered(c *events.Conn, m *nats.Msg) (e events.Event, consumer uint64, err error) {
	md, err := m.Metadata()
	if err != nil {
		return events.Event{}, 0, fmt.Errorf("read a delivery on %s: %w", m.Subject, err)
	}
	e = c.Naming.NewEvent(md.Stream, m.Subject, md.Sequence.Stream, md.Timestamp, m.Data, m.Header)
	e.Pending = md.NumPending
	return e, md.Sequence.Consumer, nil
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
