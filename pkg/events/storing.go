package events

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	// storeWithin is how long StoreEach sends again what is not acknowledged. A cluster elects leaders within 9 s.
	storeWithin = 30 * time.Second
	// storeAgain is how long an event may stay unacknowledged until it is sent again. batchAgain is the same for a batch, whose
	// events are then sent one by one.
	storeAgain = time.Second
	batchAgain = 2 * time.Second
	// storePause is between two rounds, for a broker that refuses at once.
	storePause = 200 * time.Millisecond
)

// passing are the broker's errors that an election ends: an event with this id is not stored yet, perhaps it never will be, for
// its leader is gone; there is no leader; the revision before is not stored yet.
var passing = []jetstream.ErrorCode{10158, 10008, 10163}

// Stored is what became of an event that was sent.
type Stored struct {
	Seq   uint64
	Again bool  // an event with the same id was stored before the call
	Sent  int   // how often; more than once, an earlier one may be stored though there is an error
	Err   error // nil = it is stored
}

// StoreEach sends events of one stream, each with a Nats-Msg-Id or the revision it expects, in their order and without waiting
// between them, and returns what became of each. What a leader has received and not stored is lost with it, and nobody says
// so: what is not acknowledged within a second, or refused because there is no leader, is sent again until ctx ends, for 30 s
// at most. None is stored twice. Events that had to be sent again may be stored in another order.
func (c *Conn) StoreEach(ctx context.Context, msgs []*nats.Msg) []Stored {
	ctx, cancel := context.WithTimeout(ctx, storeWithin)
	defer cancel()
	s := storing{conn: c, msgs: msgs, sent: make([][]jetstream.PubAckFuture, len(msgs)), out: make([]Stored, len(msgs))}
	open := make([]int, len(msgs))
	for i := range open {
		open[i] = i
	}
	for {
		open = s.round(ctx, open)
		if len(open) == 0 {
			return s.out
		}
		// What is sent while the connection is away waits in its buffer: once is enough.
		for wait := true; wait; wait = !c.NC.IsConnected() {
			if c.NC.IsClosed() {
				return s.out
			}
			if !Sleep(ctx, storePause) {
				return s.out
			}
		}
	}
}

// storing is one call of StoreEach; its lists are by event.
type storing struct {
	conn *Conn
	msgs []*nats.Msg
	sent [][]jetstream.PubAckFuture // one for each time it was sent
	out  []Stored
}

// round sends events once more, and returns those that are to be sent again.
func (s *storing) round(ctx context.Context, open []int) (again []int) {
	for _, i := range open {
		var f jetstream.PubAckFuture
		if f, s.out[i].Err = s.conn.JS.PublishMsgAsync(s.msgs[i], jetstream.WithStallWait(StallWait), jetstream.WithRetryAttempts(0)); f != nil {
			s.sent[i] = append(s.sent[i], f)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, storeAgain)
	defer cancel()
	for _, i := range open {
		if s.out[i].Err == nil {
			s.out[i] = s.await(ctx, s.sent[i])
		}
		s.out[i].Sent = len(s.sent[i])
		if sendAgain(s.out[i].Err) {
			again = append(again, i)
		}
	}
	return again
}

// errUnacknowledged is the error of an event of which the broker has said nothing.
var errUnacknowledged = errors.New("it was not acknowledged in time")

// await waits for the acknowledgement of an event until ctx ends. Whether it was stored before the call, the acknowledgement of
// the first time it was sent says, if there is one.
func (s *storing) await(ctx context.Context, sent []jetstream.PubAckFuture) Stored {
	last := len(sent) - 1
	became := Stored{Err: errUnacknowledged}
	select {
	case ack := <-sent[last].Ok():
		became = Stored{Seq: ack.Sequence, Again: ack.Duplicate}
	case became.Err = <-sent[last].Err():
	case <-ctx.Done():
	}
	for _, f := range slices.Backward(sent) {
		select {
		case ack := <-f.Ok():
			became = Stored{Seq: ack.Sequence, Again: ack.Duplicate}
		default:
		}
	}
	return became
}

// sendAgain reports whether an event may be stored when it is sent again, though the broker refused it or said nothing.
func sendAgain(err error) bool {
	var api *jetstream.APIError
	switch {
	case err == nil:
		return false
	case errors.As(err, &api):
		return slices.Contains(passing, api.ErrorCode)
	}
	return Transient(Classify(err, "send"))
}
