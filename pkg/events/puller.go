package events

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// puller asks a pull consumer for messages over one subscription. It is used
// by one goroutine.
type puller struct {
	conn    *Conn
	subject string // where requests go
	inbox   string // followed by the number of the request
	asked   int    // requests so far
	current string // inbox of the last request
	sub     *nats.Subscription
	ch      chan *nats.Msg

	connected uint64    // how often the connection was made again
	alive     time.Time // last sign of life, or request
	tick      *time.Ticker
}

// A pull request says after how long without a message the broker gives a sign
// of life, and when it ends by itself.
const (
	pullHeartbeat = 2 * time.Second
	pullExpires   = 30 * time.Second
	// pullSilence without any sign means that the request is lost; pullLook is
	// how often that is looked at.
	pullSilence = 5 * time.Second
	pullLook    = 500 * time.Millisecond
)

// newPuller subscribes; capacity bounds the messages asked for at a time.
func (c *Conn) newPuller(stream, consumer string, capacity int) (*puller, error) {
	p := &puller{
		conn:    c,
		subject: fmt.Sprintf("$JS.API.CONSUMER.MSG.NEXT.%s.%s", stream, consumer),
		inbox:   c.NC.NewInbox() + ".",
		ch:      make(chan *nats.Msg, capacity+64), // and the signs of life of idle requests
		alive:   time.Now(), connected: c.NC.Stats().Reconnects,
	}
	sub, err := c.NC.ChanSubscribe(p.inbox+"*", p.ch)
	if err != nil {
		return nil, meaning(err, "subscribe for %s", consumer)
	}
	p.sub, p.tick = sub, time.NewTicker(pullLook)
	return p, nil
}

type pullRequest struct {
	Batch     int           `json:"batch"`
	MaxBytes  int           `json:"max_bytes,omitempty"`
	Expires   time.Duration `json:"expires"`
	Heartbeat time.Duration `json:"idle_heartbeat"`
}

// request asks for up to batch messages, and at most some megabytes of them.
// The request before it must be over or answered in full: together they could
// overflow the channel.
func (p *puller) request(batch int) error {
	body, err := json.Marshal(pullRequest{
		Batch: batch, MaxBytes: max(8<<20, 2*int(p.conn.NC.MaxPayload())),
		Expires: pullExpires, Heartbeat: pullHeartbeat,
	})
	if err != nil {
		return fmt.Errorf("encode pull request: %w", err)
	}
	p.asked++
	p.alive = time.Now()
	p.current = p.inbox + strconv.Itoa(p.asked)
	return meaning(p.conn.NC.PublishRequest(p.subject, p.current, body), "ask for messages")
}

// lost says that the request cannot be relied on: the connection was made
// again since, or there was no sign of life for long.
func (p *puller) lost() error {
	switch {
	case p.conn.NC.Stats().Reconnects != p.connected:
		return broken(causeReconnected, errors.New("the connection was made again"))
	case len(p.ch) == 0 && time.Since(p.alive) > pullSilence:
		return broken(causeSilent, fmt.Errorf("no sign of the consumer for %s", pullSilence))
	}
	return nil
}

func (p *puller) close() {
	p.tick.Stop()
	_ = p.sub.Unsubscribe()
}

// drain ends the subscription and gives each message that was already on its
// way to f.
func (p *puller) drain(f func(*nats.Msg)) {
	p.tick.Stop()
	closed := make(chan struct{})
	p.sub.SetClosedHandler(func(string) { close(closed) })
	if p.sub.Drain() != nil {
		return
	}
	limit := time.NewTimer(2 * time.Second)
	defer limit.Stop()
	for {
		select {
		case m, ok := <-p.ch:
			if !ok {
				return
			}
			if p.sign(m) == signMessage {
				f(m)
			}
		case <-closed:
			if len(p.ch) == 0 {
				return
			}
		case <-limit.C:
			return
		}
	}
}

// signal is what a delivery on the inbox means.
type signal int

const (
	signMessage signal = iota // a message
	signAlive                 // nothing to deliver, but there
	signEnded                 // the request is over: ask again
	signBroken                // the consumer is gone or unsound
)

// sign tells what a delivery means. What is said of a request that was
// answered in full is only a sign of life.
func (p *puller) sign(m *nats.Msg) signal {
	p.alive = time.Now()
	if m.Reply != "" || len(m.Header) == 0 {
		return signMessage
	}
	if m.Subject != p.current {
		return signAlive
	}
	switch m.Header.Get("Status") {
	case "100":
		return signAlive
	case "404", "408":
		return signEnded
	case "409":
		if m.Header.Get("Description") == "Message Size Exceeds MaxBytes" || m.Header.Get("Description") == "Batch Completed" {
			return signEnded
		}
		return signBroken
	case "":
		return signMessage
	}
	return signBroken
}

func (c *Conn) eventOf(m *nats.Msg) (Event, *nats.MsgMetadata, error) {
	md, err := m.Metadata()
	if err != nil {
		return Event{}, nil, fmt.Errorf("read a delivery on %s: %w", m.Subject, err)
	}
	e := c.Naming.newEvent(md.Stream, m.Subject, md.Sequence.Stream, md.Timestamp, m.Data, m.Header)
	e.Pending = md.NumPending
	return e, md, nil
}

// orderedConsumer is a consumer that needs no acknowledgement and goes when
// its reader does.
func orderedConsumer(subjects []string, after uint64) jetstream.ConsumerConfig {
	return jetstream.ConsumerConfig{
		FilterSubjects: subjects,
		DeliverPolicy:  jetstream.DeliverByStartSequencePolicy, OptStartSeq: after + 1,
		AckPolicy: jetstream.AckNonePolicy, MemoryStorage: true, Replicas: 1,
		InactiveThreshold: time.Minute, MaxWaiting: 8,
	}
}
