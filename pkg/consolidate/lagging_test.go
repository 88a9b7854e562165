package consolidate_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
)

// lagging is a broker that recovers: its first consumer of a stream is made late, and those that are made before it are on a
// server that has nothing of the stream.
type lagging struct {
	jetstream.JetStream
	stream, none string
	late         chan struct{}
	made         atomic.Int64
}

func (l *lagging) CreateConsumer(ctx context.Context, stream string, cfg jetstream.ConsumerConfig) (jetstream.Consumer, error) {
	if stream == l.stream {
		first := l.made.Add(1) == 1
		select {
		case <-l.late:
		default:
			if !first {
				cfg.FilterSubjects, cfg.FilterSubject = nil, l.none
				break
			}
			<-l.late
		}
	}
	return l.JetStream.CreateConsumer(ctx, stream, cfg)
}

// TestAMessageThatTheBrokerDoesNotShowYetIsNotSkipped has a write wait for a message that no consumer delivers for a while.
func TestAMessageThatTheBrokerDoesNotShowYetIsNotSkipped(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	const text = "Alice's bicycle is from Utrecht."
	write := s.facts(s.say("m1", "Mijn fiets komt uit Utrecht."), "m1", text)
	conn := natstest.Another(t, s.conn)
	late := &lagging{JetStream: conn.JS, stream: conn.Naming.Messages(), none: conn.Naming.StoredOfSession("nobody", "s"), late: make(chan struct{})}
	conn.JS = late
	// The write is read and waits by then; nothing tells of it.
	release := time.AfterFunc(500*time.Millisecond, func() { close(late.late) })
	defer release.Stop()
	s.runAs(s.consolidator(conn, s.db))
	s.applied(write)
	if messages, _, err := s.db.Applied(t.Context()); messages != 1 || err != nil || !s.has(s.db, text) {
		t.Errorf("message %d is applied, %v; the fact is there: %v", messages, err, s.has(s.db, text))
	}
	states, err := s.db.MessageStates(t.Context())
	n := int64(0)
	for _, of := range states {
		n += of
	}
	if n != 1 || err != nil {
		t.Errorf("messages are stored as %v, %v", states, err)
	}
}
