package ingest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// intakePending bounds what waits in memory to be passed on, as a stream of the broker does; what is beyond is dropped
// and not acknowledged.
const (
	intakePending      = 10_000
	intakePendingBytes = 128 << 20
	intakeAhead        = 64 // of those are ready for the next round
)

// A round of the intake: how many events it passes on at most, and how long it collects them while the stream has not
// acknowledged those of the round before, which takes one or two milliseconds where it syncs.
const (
	roundEvents = 500
	roundWait   = 5 * time.Millisecond
)

// intakeCloses is how long it may take to pass on the last events.
const intakeCloses = 5 * time.Second

// clientInfo is a header that the broker adds to what comes from another account: who sent it.
const clientInfo = "Nats-Request-Info"

// intake passes messages and flushes of publishers with an account of their own on to the stream, and its
// acknowledgements back. It refuses the headers by which a publisher tells JetStream what to expect of the stream: they
// would tell it whether other banks have messages. It keeps nothing: the reply subject of a publish is part of the
// inbox for its acknowledgement. The processes share the work, so it goes on while one of them runs.
//
// What has come when it looks, and until the round before is acknowledged, is passed on together: several events of a
// bank as one atomic batch, for which a broker that syncs before it acknowledges does so once.
type intake struct {
	conn            *events.Conn
	inbox           string
	acks, published *nats.Subscription
	received        chan *nats.Msg // closed with the subscription
	ended           chan struct{}  // closed when nothing is passed on any more
	unacknowledged  atomic.Int64   // of the last round
}

func (i *intake) open() error {
	nc, n := i.conn.NC, i.conn.Naming
	i.inbox = nc.NewInbox()
	var err error
	if i.acks, err = nc.Subscribe(i.inbox+".*", i.acknowledge); err != nil {
		return events.Classify(err, "subscribe to acknowledgements")
	}
	// One subscription, so that a flush does not overtake the message before it. It has a handler, because a subscription
	// that is asked for the next event takes one without a body for an error if a header "Status" of its publisher says so.
	subject := n.Subject("*", events.KindIntake, "*.*")
	i.received, i.ended = make(chan *nats.Msg, intakeAhead), make(chan struct{})
	received := i.received
	if i.published, err = nc.QueueSubscribe(subject, events.KindIntake, func(m *nats.Msg) { received <- m }); err != nil {
		return errors.Join(events.Classify(err, "subscribe to %s", subject), i.acks.Unsubscribe())
	}
	i.published.SetClosedHandler(func(string) { close(received) }) // after the last event
	go i.run()
	for _, s := range []*nats.Subscription{i.acks, i.published} {
		if err := s.SetPendingLimits(intakePending, intakePendingBytes); err != nil {
			return errors.Join(fmt.Errorf("bound what waits on %s: %w", s.Subject, err), i.acks.Unsubscribe(), i.published.Unsubscribe())
		}
	}
	return nil
}

// close ends the intake. What was received is still passed on and acknowledged, unless the broker is away: then nothing
// can be, and there is nothing to wait for.
func (i *intake) close() {
	if !i.conn.NC.IsConnected() {
		_ = i.published.Unsubscribe() // the connection is closed next
		_ = i.acks.Unsubscribe()      // as above
		return
	}
	_ = i.published.Drain() // a connection that is closed has no subscription
	select {
	case <-i.ended:
	case <-time.After(intakeCloses):
	}
	_ = i.acks.Drain() // as above
}

// run passes on what is published until the subscription ends.
func (i *intake) run() {
	defer close(i.ended)
	for m := range i.received {
		i.passAll(i.collect(m))
	}
}

// collect returns a round that begins with an event.
func (i *intake) collect(first *nats.Msg) []*nats.Msg {
	round := []*nats.Msg{first}
	for until := time.Now().Add(roundWait); len(round) < roundEvents; {
		wait := time.Duration(0)
		if len(round) < events.BatchLeast && i.unacknowledged.Load() > 0 {
			wait = min(time.Until(until), time.Millisecond)
		}
		n, _, err := i.published.Pending()
		if (err != nil || n == 0) && len(i.received) == 0 && wait <= 0 {
			break
		}
		select {
		case m, ok := <-i.received:
			if !ok {
				return round
			}
			round = append(round, m)
		case <-time.After(max(wait, time.Millisecond)):
		}
	}
	return round
}

// event is what a publisher sent and what goes to the stream for it.
type event struct{ from, to *nats.Msg }

// passAll publishes what was received to the stream: the events of each bank in their order.
func (i *intake) passAll(round []*nats.Msg) {
	var banks []string
	byBank := map[string][]event{}
	for _, m := range round {
		bank, to := i.checked(m)
		if to == nil {
			continue
		}
		if byBank[bank] == nil {
			banks = append(banks, bank)
		}
		byBank[bank] = append(byBank[bank], event{m, to})
	}
	i.unacknowledged.Store(0)
	var batches sync.WaitGroup
	for _, bank := range banks {
		all := byBank[bank]
		if len(all) < events.BatchLeast {
			i.passEach(all)
			continue
		}
		batches.Go(func() {
			if !i.passTogether(all) {
				i.passEach(all)
			}
		})
	}
	batches.Wait()
}

// checked returns the bank of an event and what goes to the stream for it: nil if nothing does.
func (i *intake) checked(m *nats.Msg) (bank string, to *nats.Msg) {
	t := strings.Split(m.Subject, ".") // prefix.bank.intake.kind.session
	if t[3] != events.KindMessage && t[3] != events.KindFlush {
		return "", nil // whoever may publish here may not publish everything that the stages may
	}
	m.Header.Del(clientInfo)
	if name := refusedHeader(m.Header); name != "" {
		i.answer(m.Reply, refusal(i.conn.Naming, name))
		return "", nil
	}
	return t[1], &nats.Msg{Subject: i.conn.Naming.Subject(t[1], t[3], t[4]), Header: m.Header, Data: m.Data}
}

// passTogether stores events as one batch and answers their publishers. It returns false if the broker refused the batch:
// then they can be sent one by one. Where it did not answer, they may be stored, and their publishers, whose requests time
// out, decide whether to send them again.
func (i *intake) passTogether(all []event) bool {
	msgs := make([]*nats.Msg, len(all))
	for k, e := range all {
		msgs[k] = e.to
	}
	last, err := i.conn.PublishGrouped(context.Background(), msgs)
	if events.BatchRefused(err) {
		return false
	}
	if err != nil {
		i.conn.Log.Warn().Err(err).Msg("publishes were not acknowledged")
		return true
	}
	for k, e := range all {
		i.answer(e.from.Reply, acknowledgement(i.conn.Naming, last-uint64(len(all)-1-k)))
	}
	return true
}

// passEach publishes events one by one without waiting for the acknowledgement of the stream, which acknowledge passes
// on.
func (i *intake) passEach(all []event) {
	for _, e := range all {
		if answerable(e.from.Reply) {
			i.unacknowledged.Add(1)
			e.to.Reply = i.inbox + "." + base64.RawURLEncoding.EncodeToString([]byte(e.from.Reply))
		}
		if err := i.conn.NC.PublishMsg(e.to); err != nil {
			i.conn.Log.Warn().Err(err).Msg("a publish was not passed on")
			if e.to.Reply != "" {
				i.unacknowledged.Add(-1)
			}
			i.answer(e.from.Reply, notPassed(i.conn.Naming, err))
		}
	}
}

// acknowledge passes the acknowledgement of the stream on.
func (i *intake) acknowledge(m *nats.Msg) {
	i.unacknowledged.Add(-1)
	to, err := base64.RawURLEncoding.DecodeString(m.Subject[len(i.inbox)+1:])
	if err != nil || m.Header.Get("Status") != "" { // there is no stream: the publisher's request times out
		return
	}
	i.answer(string(to), m.Data)
}

func (i *intake) answer(to string, data []byte) {
	if !answerable(to) {
		return
	}
	if err := i.conn.NC.Publish(to, data); err != nil {
		i.conn.Log.Warn().Err(err).Msg("a publish was not acknowledged")
	}
}

// answerable reports whether a reply subject is the broker's own for a request from another account. Any other was
// chosen by the publisher, and an answer there could reach another bank.
func answerable(reply string) bool {
	return strings.HasPrefix(reply, "_R_.") || strings.HasPrefix(reply, "_GR_.")
}

// refusedHeader returns the first header, in alphabetical order, that only the broker's own protocol reads, "" if there
// is none. An id and the name of the stream tell nothing of other banks.
func refusedHeader(h nats.Header) string {
	refused := ""
	for name := range h {
		plain := strings.ToLower(strings.TrimSpace(name))
		if strings.HasPrefix(plain, "nats-") && name != nats.MsgIdHdr && name != nats.ExpectedStreamHdr && (refused == "" || name < refused) {
			refused = name
		}
	}
	return refused
}

// pubAck is an acknowledgement in the form that a stream uses.
type pubAck struct {
	Error  *apiError `json:"error,omitempty"`
	Stream string    `json:"stream"`
	Seq    uint64    `json:"seq"`
}

type apiError struct {
	Code        int    `json:"code"`
	Description string `json:"description"`
}

func acknowledgement(n events.Naming, seq uint64) []byte {
	return pubAck{nil, n.Messages(), seq}.encode()
}

// refusal is the acknowledgement of a publish that was not stored.
func refusal(n events.Naming, header string) []byte {
	err := memory.Invalid("header "+header, "does not go with a message; publish it without")
	return pubAck{&apiError{400, err.Error()}, n.Messages(), 0}.encode()
}

// notPassed is the acknowledgement of a publish that could not be sent to the stream.
func notPassed(n events.Naming, err error) []byte {
	err = events.Classify(err, "pass the publish on")
	return pubAck{&apiError{memory.Code(err), err.Error()}, n.Messages(), 0}.encode()
}

func (a pubAck) encode() []byte {
	b, _ := json.Marshal(a) //nolint:errcheck // numbers and strings
	return b
}
