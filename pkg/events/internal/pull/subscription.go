package pull

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/eunoe-memory/eunoe/pkg/events"
)

// Subscription delivers what a consumer holds over a channel. It is used by one goroutine.
//
// It does not use the library's own: that one takes a stored event without a body for a word of the broker if the event
// has a header "Status", which anybody who may publish can set, so that no reader would ever get past it. A word of the
// broker is told from an event by its reply subject, which the broker sets.
type Subscription struct {
	Messages chan *nats.Msg
	Failed   chan error   // receives the cause once if the subscription has ended
	Tick     *time.Ticker // fires every Look

	conn       *events.Conn
	name       string // of the consumer
	next       string // subject of requests for events
	size       int    // events requested ahead
	bytes      int    // and their size
	reconnects uint64
	done       chan struct{}
	sub        *nats.Subscription

	mu      sync.Mutex
	pending int         // events that were requested and have not come
	silence *time.Timer // fires when nothing was heard for two heartbeats
	closed  bool
}

// acknowledged begins the reply subject of a stored event, and of nothing else that the broker sends to a subscription.
const acknowledged = "$JS.ACK."

// Subscribe starts to consume. Up to size messages, and about 8 MB of them, are on their way or in the channel at a
// time.
func Subscribe(c *events.Conn, cons jetstream.Consumer, size int) (*Subscription, error) {
	size = max(1, size/2) // one half in the channel, the other half requested
	info := cons.CachedInfo()
	s := &Subscription{
		Messages: make(chan *nats.Msg, size), Failed: make(chan error, 1), done: make(chan struct{}),
		conn: c, name: info.Name, next: "$JS.API.CONSUMER.MSG.NEXT." + info.Stream + "." + info.Name,
		size: size, bytes: max(8<<20, 2*int(c.NC.MaxPayload())), reconnects: c.NC.Stats().Reconnects,
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	if s.sub, err = c.NC.Subscribe(c.NC.NewInbox(), s.receive); err == nil {
		err = s.request()
	}
	if err != nil {
		if s.sub != nil {
			_ = s.sub.Unsubscribe() // the connection is closed
		}
		return nil, events.Classify(err, "subscribe to consumer %s", s.name)
	}
	s.silence = time.AfterFunc(2*Heartbeat, s.silent)
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
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.silence.Stop()
	_ = s.sub.Unsubscribe() // a connection that is closed has no subscription
}

// receive takes what the broker sends: events, and words about a request.
func (s *Subscription) receive(m *nats.Msg) {
	s.mu.Lock()
	s.silence.Stop() // a reader that takes its time is no silence of the broker
	s.mu.Unlock()
	var err error
	left := 1
	if strings.HasPrefix(m.Reply, acknowledged) {
		select {
		case s.Messages <- m:
		case <-s.done:
			return
		}
	} else {
		left, err = s.heard(m)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	if s.pending -= left; err == nil {
		err = s.request()
	}
	if err != nil {
		s.fail(events.Broken(events.CauseLost, fmt.Errorf("consumer %s: %w", s.name, err)))
		return
	}
	s.silence.Reset(2 * Heartbeat)
}

// heard reads a word of the broker about a request: how many of the events asked for will not come, or why none will come
// any more.
func (s *Subscription) heard(m *nats.Msg) (left int, err error) {
	status, about := m.Header.Get("Status"), m.Header.Get("Description")
	about = strings.ToLower(about)
	switch {
	case status == "100": // a heartbeat
		return 0, nil
	case status == "404", status == "408", status == "409" && (strings.Contains(about, "maxbytes") || strings.Contains(about, "batch completed")):
		left, _ = strconv.Atoi(m.Header.Get("Nats-Pending-Messages")) //nolint:errcheck // 0 where the broker says nothing: the request is served
		return left, nil
	case status == "409" && strings.Contains(about, "leadership change"): // the new leader is asked
		return s.size, nil
	}
	return 0, fmt.Errorf("the broker says %s %s", status, about)
}

// request asks for events once half of those asked for have come.
func (s *Subscription) request() error {
	s.pending = max(0, s.pending)
	if s.pending > s.size/2 {
		return nil
	}
	body, err := json.Marshal(map[string]any{"batch": s.size - s.pending, "max_bytes": s.bytes, "expires": Expires, "idle_heartbeat": Heartbeat})
	if err != nil {
		return err
	}
	if err := s.conn.NC.PublishRequest(s.next, s.sub.Subject, body); err != nil {
		return err
	}
	s.pending = s.size
	return nil
}

// silent ends a subscription that heard nothing for too long, unless the connection is away: then the reader notices that
// it is back.
func (s *Subscription) silent() {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
	case !s.conn.NC.IsConnected():
		s.silence.Reset(2 * Heartbeat)
	default:
		s.fail(events.Broken(events.CauseSilent, fmt.Errorf("consumer %s: %w", s.name, errors.New("the broker sends no heartbeat"))))
	}
}

func (s *Subscription) fail(err error) {
	select {
	case s.Failed <- err:
	default: // the first cause counts
	}
}
