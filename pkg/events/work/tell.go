package work

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/eunoe-memory/eunoe/pkg/events"
)

const (
	// heardWithin is how long the broker may take to say that it has heard what became of an event, until it is told again.
	heardWithin = time.Second
	// tellPause is between two attempts to tell it.
	tellPause = 100 * time.Millisecond
	// tellFor is how long it is told. A cluster elects leaders within 9 s.
	tellFor = 30 * time.Second
)

// ack tells the broker that an event leaves the queue.
var ack = []byte("+ACK")

// nak tells the broker to deliver an event again after a pause; 0 = at once.
func nak(after time.Duration) []byte {
	if after <= 0 {
		return []byte("-NAK")
	}
	return fmt.Appendf(nil, `-NAK {"delay": %d}`, after.Nanoseconds())
}

// tell tells the broker what becomes of an event, again until it says that it has heard it: what it is told while the consumer
// has no leader is lost, and the event would stay in the queue for AckWait. When handlers have to end, it is told once.
func (w *worker) tell(m jetstream.Msg, word []byte) error {
	nc := w.conn.NC
	ctx, cancel := context.WithTimeout(w.handling, tellFor)
	defer cancel()
	for {
		if w.handling.Err() != nil {
			return nc.Publish(m.Reply(), word)
		}
		err := error(nil)
		if nc.IsConnected() { // what is sent while it is not waits in a buffer, as often as it is sent
			try, stop := context.WithTimeout(ctx, heardWithin)
			_, err = nc.RequestWithContext(try, m.Reply(), word)
			stop()
			if err == nil {
				return nil
			}
		}
		if !events.Sleep(ctx, tellPause) && w.handling.Err() == nil {
			return events.Classify(context.Cause(ctx), "tell the broker what became of an event (%v)", err)
		}
	}
}
