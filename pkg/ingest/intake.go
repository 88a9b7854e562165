package ingest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// intakePending bounds what waits in memory to be passed on, as a stream of the broker does; what is beyond is dropped
// and not acknowledged.
const (
	intakePending      = 10_000
	intakePendingBytes = 128 << 20
)

// clientInfo is a header that the broker adds to what comes from another account: who sent it.
const clientInfo = "Nats-Request-Info"

// intake passes messages and flushes of publishers with an account of their own on to the stream, and its
// acknowledgements back. It refuses the headers by which a publisher tells JetStream what to expect of the stream: they
// would tell it whether other banks have messages. It keeps nothing: the reply subject of a publish is part of the
// inbox for its acknowledgement. The processes share the work, so it goes on while one of them runs.
type intake struct {
	conn  *events.Conn
	inbox string
	subs  []*nats.Subscription
}

func (i *intake) open() error {
	nc, n := i.conn.NC, i.conn.Naming
	i.inbox = nc.NewInbox()
	acks, err := nc.Subscribe(i.inbox+".*", i.acknowledge)
	if err != nil {
		return events.Classify(err, "subscribe to acknowledgements")
	}
	i.subs = append(i.subs, acks)
	// One subscription, so that a flush does not overtake the message before it.
	subject := n.Subject("*", events.KindIntake, "*.*")
	published, err := nc.QueueSubscribe(subject, events.KindIntake, i.pass)
	if err != nil {
		i.close()
		return events.Classify(err, "subscribe to %s", subject)
	}
	i.subs = append(i.subs, published)
	for _, s := range i.subs {
		if err := s.SetPendingLimits(intakePending, intakePendingBytes); err != nil {
			i.close()
			return fmt.Errorf("bound what waits on %s: %w", s.Subject, err)
		}
	}
	return nil
}

// close ends the intake. What was received is still passed on and acknowledged.
func (i *intake) close() {
	for k := len(i.subs) - 1; k >= 0; k-- {
		_ = i.subs[k].Drain() // a connection that is closed has no subscription
	}
}

// pass publishes a message or flush to the stream.
func (i *intake) pass(m *nats.Msg) {
	t := strings.Split(m.Subject, ".") // prefix.bank.intake.kind.session
	if t[3] != events.KindMessage && t[3] != events.KindFlush {
		return // whoever may publish here may not publish everything that the stages may
	}
	m.Header.Del(clientInfo)
	if name := refusedHeader(m.Header); name != "" {
		i.answer(m.Reply, refusal(i.conn.Naming, name))
		return
	}
	out := &nats.Msg{Subject: i.conn.Naming.Subject(t[1], t[3], t[4]), Header: m.Header, Data: m.Data}
	if answerable(m.Reply) {
		out.Reply = i.inbox + "." + base64.RawURLEncoding.EncodeToString([]byte(m.Reply))
	}
	if err := i.conn.NC.PublishMsg(out); err != nil {
		i.conn.Log.Warn().Err(err).Msg("a publish was not passed on")
	}
}

// acknowledge passes the acknowledgement of the stream on.
func (i *intake) acknowledge(m *nats.Msg) {
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

// refusal is the acknowledgement of a publish that was not stored, in the form that the stream uses.
func refusal(n events.Naming, header string) []byte {
	type apiError struct {
		Code        int    `json:"code"`
		Description string `json:"description"`
	}
	b, _ := json.Marshal(struct { //nolint:errcheck // numbers and strings
		Error  apiError `json:"error"`
		Stream string   `json:"stream"`
		Seq    uint64   `json:"seq"`
	}{apiError{400, memory.Invalid("header "+header, "does not go with a message; publish it without").Error()}, n.Messages(), 0})
	return b
}
