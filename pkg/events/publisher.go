package events

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/oklog/ulid/v2"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// PublisherConfig bounds what a Publisher does.
type PublisherConfig struct {
	// InFlight bounds the messages of PublishAsync that are not acknowledged yet.
	InFlight int
	// Patience bounds how long a message is tried; its context may end it before.
	Patience time.Duration
	Backoff  Backoff // between tries
}

// DefaultPublisherConfig is 400 messages in flight and 30 s of patience.
func DefaultPublisherConfig() PublisherConfig {
	return PublisherConfig{InFlight: 400, Patience: 30 * time.Second, Backoff: Backoff{Min: 50 * time.Millisecond, Max: 2 * time.Second}}
}

// Validate reports every setting out of range, joined.
func (c PublisherConfig) Validate() error {
	var errs []error
	if c.InFlight < 1 || c.InFlight > 1000 {
		errs = append(errs, memory.Invalid("in_flight", "is %d; expected 1 to 1000", c.InFlight))
	}
	if c.Patience <= 0 {
		errs = append(errs, memory.Invalid("patience", "is %s; expected more than nothing", c.Patience))
	}
	return errors.Join(errs...)
}

// Publisher is what a bot publishes its messages with. It is safe for
// concurrent use.
type Publisher struct {
	cfg   PublisherConfig
	conn  *Conn
	slots chan struct{}
	await sync.WaitGroup
}

// NewPublisher makes a Publisher on a connection, which stays the caller's to close.
func NewPublisher(cfg PublisherConfig, conn *Conn) (*Publisher, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Publisher{cfg: cfg, conn: conn, slots: make(chan struct{}, cfg.InFlight)}, nil
}

// Publish stores a message and gives its sequence, which recall takes as
// "after". The message is checked first: memory.ErrInvalid names the field,
// memory.ErrTooLarge the limit. A message without an id is given one, so that a
// publish that had to be repeated is stored as one message in effect.
// memory.ErrUnavailable: the broker did not take it in time.
func (p *Publisher) Publish(ctx context.Context, bank memory.BankID, session memory.SessionID, m memory.Message) (uint64, error) {
	msg, err := p.encode(bank, session, m)
	if err != nil {
		return 0, err
	}
	ctx, span := p.conn.beginPublish(ctx, bank, session)
	seq, err := p.send(ctx, msg)
	span.At(seq).End(err)
	return seq, err
}

// Flush says that a conversation paused or ended: what is left of it is
// extracted now and not after the idle time. It gives the flush's sequence.
func (p *Publisher) Flush(ctx context.Context, bank memory.BankID, session memory.SessionID) (uint64, error) {
	if err := checkNames(bank, session); err != nil {
		return 0, err
	}
	return p.send(ctx, &nats.Msg{Subject: p.conn.Naming.FlushSubject(bank, session)})
}

// PublishAsync is Publish for imports: it returns when the message is on its
// way, waiting while InFlight others are, and calls done (nil = nobody) once
// with the sequence or the error, from another goroutine. Messages are stored
// in the order of the calls, unless one had to be tried again.
func (p *Publisher) PublishAsync(ctx context.Context, bank memory.BankID, session memory.SessionID, m memory.Message, done func(seq uint64, err error)) error {
	msg, err := p.encode(bank, session, m)
	if err != nil {
		return err
	}
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return meaning(ctx.Err(), "publish to %s", msg.Subject)
	}
	ctx, span := p.conn.beginPublish(ctx, bank, session)
	msg.Header = telemetry.Inject(ctx, nil)
	future, err := p.conn.JS.PublishMsgAsync(msg, jetstream.WithStallWait(stallWait))
	p.await.Go(func() {
		defer func() { <-p.slots }()
		var seq uint64
		if err == nil {
			select {
			case ack := <-future.Ok():
				if seq = ack.Sequence; ack.Duplicate {
					seq, err = p.send(ctx, msg)
				}
			case first := <-future.Err():
				if seq, err = p.send(ctx, msg); err != nil {
					err = errors.Join(err, first)
				}
			case <-ctx.Done():
				err = meaning(ctx.Err(), "publish to %s", msg.Subject)
			}
		} else {
			seq, err = p.send(ctx, msg)
		}
		span.At(seq).End(err)
		if done != nil {
			done(seq, err)
		}
	})
	return nil
}

// Wait returns when every message of PublishAsync is settled.
func (p *Publisher) Wait() { p.await.Wait() }

// send publishes until the message is stored or patience ends.
func (p *Publisher) send(ctx context.Context, msg *nats.Msg) (seq uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, p.cfg.Patience)
	defer cancel()
	err = untilDone(ctx, p.cfg.Backoff, func() (err error) {
		seq, err = p.conn.publishPlain(ctx, msg.Subject, msg.Data)
		return err
	}, nil)
	return seq, err
}

func checkNames(bank memory.BankID, session memory.SessionID) error {
	if _, err := memory.ParseBankID(string(bank)); err != nil {
		return err
	}
	_, err := memory.ParseSessionID(string(session))
	return err
}

func (p *Publisher) encode(bank memory.BankID, session memory.SessionID, m memory.Message) (*nats.Msg, error) {
	if err := checkNames(bank, session); err != nil {
		return nil, err
	}
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if m.ID == "" {
		m.ID = memory.MessageID(ulid.Make().String())
	}
	body, err := json.Marshal(m)
	if err != nil {
		return nil, memory.Invalid("metadata", "cannot be written as JSON: %v", err)
	}
	if len(m.Extra) > 0 {
		if body, err = withExtra(body, m.Extra); err != nil {
			return nil, err
		}
	}
	if limit := p.conn.NC.MaxPayload(); limit > 0 && int64(len(body)) > limit-512 {
		return nil, fmt.Errorf("the message has %d bytes, the broker takes about %d: %w", len(body), limit, memory.ErrTooLarge)
	}
	return &nats.Msg{Subject: p.conn.Naming.MessageSubject(bank, session), Data: body}, nil
}

// withExtra adds fields this version does not know, beside those it does.
func withExtra(body []byte, extra map[string]json.RawMessage) ([]byte, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, fmt.Errorf("encode message: %w", err)
	}
	for k, v := range extra {
		if _, own := fields[k]; !own {
			fields[k] = v
		}
	}
	out, err := json.Marshal(fields)
	if err != nil {
		return nil, memory.Invalid("", "a field cannot be written as JSON: %v", err)
	}
	return out, nil
}
