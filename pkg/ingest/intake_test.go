package ingest_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/ingest"
)

// How bots in accounts of their own are answered is tested in test/access. Here a publisher shares the account of the
// streams, as permissions written by hand allow.
func TestIntake(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	runIntake(t, c)
	inbox := c.NC.NewInbox()
	heard, err := c.NC.SubscribeSync(inbox)
	if err != nil {
		t.Fatal(err)
	}
	publish := func(subject, body string, header nats.Header) {
		t.Helper()
		if err := c.NC.PublishMsg(&nats.Msg{Subject: subject, Reply: inbox, Header: header, Data: []byte(body)}); err != nil {
			t.Fatal(err)
		}
	}
	stored := func(stream string) *jetstreamState { return stateOf(t, c, stream) }
	for _, kind := range []string{events.KindWrite, events.KindWindow, events.KindDead, events.KindParked, events.KindChange, "recall"} {
		publish("mem.alice.intake."+kind+".planted", `{"content":"planted"}`, nil)
	}
	publish("mem.alice.intake.message.refused", `{"content":"planted"}`, nats.Header{"Nats-Expected-Last-Sequence": {"0"}})
	publish("mem.alice.intake.message.stored", `{"content":"I moved to Lisbon."}`, nats.Header{"Traceparent": {"00-0123456789abcdef0123456789abcdef-0123456789abcdef-01"}, "Nats-Request-Info": {"{}"}})
	for i := range 50 {
		publish("mem.alice.intake.message.s", `{"content":"I own a boat."}`, nil)
		if i%2 == 1 {
			publish("mem.alice.intake.flush.s", ``, nil)
		}
	}
	natstest.Eventually(t, "what was published is stored", func() bool {
		s := stored(c.Naming.Messages())
		return s.in(".message.s") == 50 && s.in(".flush.s") == 25 && s.in(".message.stored") == 1
	})
	if n := stored(c.Naming.Messages()).in(".refused"); n != 0 {
		t.Errorf("a publish with a header of JetStream is stored %d times", n)
	}
	for _, stream := range []string{c.Naming.Writes(), c.Naming.Dead(), c.Naming.Parked(), c.Naming.Changes(), c.Naming.Windows()} {
		if n := stored(stream).in("planted"); n != 0 {
			t.Errorf("%s holds %d events that a bot planted", stream, n)
		}
	}
	if n, _, err := heard.Pending(); n != 0 || err != nil {
		t.Errorf("an inbox that the publisher chose got %d answers, %v", n, err)
	}
	js, err := c.JS.Stream(t.Context(), c.Naming.Messages())
	if err != nil {
		t.Fatal(err)
	}
	m, err := js.GetLastMsgForSubject(t.Context(), strings.TrimSuffix(c.Naming.StoredOf("alice", events.KindMessage), "*")+"stored")
	if err != nil || m.Header.Get("Traceparent") == "" || m.Header.Get("Nats-Request-Info") != "" {
		t.Errorf("%+v, %v", m, err)
	}
	said, early := 0, 0
	for seq := uint64(1); ; seq++ {
		m, err := js.GetMsg(t.Context(), seq)
		if err != nil {
			break
		}
		switch {
		case strings.HasSuffix(m.Subject, ".message.s"):
			said++
		case strings.HasSuffix(m.Subject, ".flush.s") && said%2 != 0:
			early++
		}
	}
	if early != 0 || said != 50 {
		t.Errorf("of %d messages, %d flushes are stored before the message that they were published after", said, early)
	}
}

// TestIntakeOfOddPublishes passes on publishes that a subscription, or the headers of a batch, could make an error of.
func TestIntakeOfOddPublishes(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	runIntake(t, c)
	largest := strings.Repeat("x", int(c.NC.MaxPayload()))
	const n = 12
	for range n { // together they are a batch, whose headers do not fit beside them
		if err := c.NC.Publish("mem.mo.intake.message.large", []byte(largest)); err != nil {
			t.Fatal(err)
		}
	}
	for range n {
		empty := &nats.Msg{Subject: "mem.mo.intake.flush.empty", Header: nats.Header{"Status": {"503"}, "Description": {"No Responders"}}}
		if err := c.NC.PublishMsg(empty); err != nil {
			t.Fatal(err)
		}
	}
	natstest.Eventually(t, "all is stored", func() bool {
		s := stateOf(t, c, c.Naming.Messages())
		return s.in(".message.large") == n && s.in(".flush.empty") == n
	})
}

// jetstreamState is the part of a stream's state that the broker returns.
type jetstreamState struct {
	Messages int
	Subjects map[string]int
}

func stateOf(t *testing.T, c *events.Conn, stream string) *jetstreamState {
	t.Helper()
	m, err := c.NC.Request("$JS.API.STREAM.INFO."+stream, []byte(`{"subjects_filter":">"}`), 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	var info struct{ State jetstreamState }
	if err := json.Unmarshal(m.Data, &info); err != nil {
		t.Fatal(err)
	}
	return &info.State
}

// in counts the messages of subjects with a suffix.
func (s *jetstreamState) in(suffix string) int {
	n := 0
	for subject, k := range s.Subjects {
		if strings.HasSuffix(subject, suffix) {
			n += k
		}
	}
	return n
}

// runIntake runs an ingest until the test ends and waits until its intake is open.
func runIntake(t *testing.T, c *events.Conn) {
	t.Helper()
	in, err := ingest.New(ingest.DefaultConfig(), ingest.Deps{Conn: c})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- in.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	natstest.Eventually(t, "the intake is open", func() bool {
		if err := c.NC.Publish("mem.alice.intake.message.open", []byte(`{"content":"Is it open?"}`)); err != nil {
			t.Fatal(err)
		}
		js, err := c.JS.Stream(t.Context(), c.Naming.Messages())
		if err != nil {
			t.Fatal(err)
		}
		info, err := js.Info(t.Context())
		return err == nil && info.State.Msgs > 0
	})
}
