package ordered_test

import (
	"bufio"
	"fmt"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
)

// imitations are headers of the words that a broker sends to a reader, by what they would say.
func imitations() map[string]nats.Header {
	return map[string]nats.Header{
		"the consumer is gone":    {"Status": {"409"}, "Description": {"Consumer Deleted"}},
		"the leader changed":      {"Status": {"409"}, "Description": {"Leadership Change"}},
		"the server shuts down":   {"Status": {"409"}, "Description": {"Server Shutdown"}},
		"the batch is complete":   {"Status": {"409"}, "Description": {"Batch Completed"}, "Nats-Pending-Messages": {"-9000000000"}},
		"the request has ended":   {"Status": {"408"}, "Description": {"Request Timeout"}, "Nats-Pending-Messages": {"no number"}},
		"there are no events":     {"Status": {"404"}},
		"a heartbeat":             {"Status": {"100"}, "Description": {"Idle Heartbeat"}, "Nats-Last-Consumer": {"77"}},
		"flow control":            {"Status": {"100"}, "Description": {"FlowControl Request"}, "Nats-Consumer-Stalled": {"$JS.API.STREAM.PURGE.MEM_MESSAGES"}},
		"nobody answers":          {"Status": {"503"}},
		"a pinned client differs": {"Status": {"423"}, "Nats-Pin-Id": {"mine"}},
		"a status of no meaning":  {"Status": {"teapot"}},
	}
}

// replaced fails the test if a consumer of the messages was replaced.
func replaced(t *testing.T, c *events.Conn) {
	t.Helper()
	for _, r := range c.Resubscriptions() {
		if r.Count > 0 {
			t.Errorf("consumers were replaced: %+v", r)
		}
	}
}

// TestAnEventThatImitatesTheBroker stores events without a body whose headers are those of the broker's own words to a
// reader: they are events as any other, and what follows them is read without a new consumer.
func TestAnEventThatImitatesTheBroker(t *testing.T) {
	t.Parallel()
	for name, header := range imitations() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := natstest.Start(t)
			const n = 12
			for i := range n {
				if i%4 != 1 {
					natstest.Publish(t, c, "marit", "s", "x")
					continue
				}
				if _, err := c.JS.PublishMsg(t.Context(), &nats.Msg{Subject: "mem.marit.flush.s", Header: header}); err != nil {
					t.Fatal(err)
				}
			}
			var r reading
			goRead(t, c, ordered.Config{Stream: c.Naming.Messages()}, r.take)
			natstest.Eventually(t, "all events", func() bool { return r.len() >= n })
			r.check(t, n)
			scanned := 0
			last, err := ordered.Scan(t.Context(), c, c.Naming.Messages(), nil, 0, func(e events.Event) error {
				scanned++
				got, err := c.EventAt(t.Context(), c.Naming.Messages(), e.Seq)
				if err == nil && (got.Seq != e.Seq || got.Subject != e.Subject || string(got.Data) != string(e.Data)) {
					err = fmt.Errorf("event %d is read as %+v", e.Seq, got)
				}
				return err
			})
			if err != nil || scanned != n || last != n {
				t.Errorf("%d events scanned up to %d, %v", scanned, last, err)
			}
			replaced(t, c)
		})
	}
}

// TestAnEventWhoseHeadersAreNone stores events with headers that only a publisher without a library can send: they are
// read as events, by readers and by their sequence.
func TestAnEventWhoseHeadersAreNone(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	at, err := url.Parse(c.NC.ConnectedUrl())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", at.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(natstest.Patience)); err != nil {
		t.Fatal(err)
	}
	bodies := []string{`{"content":"one"}`, "", `{"content":"three"}`}
	headers := []string{
		"NATS/1.0\r\nno colon\r\n\r\n", "NATS/1.0\r\n: no name\r\n\r\n", "NATS/1.0 409 Consumer Deleted\r\n\r\n", "NATS/1.0 100\r\n\r\n",
		"NATS/1.0\r\nend\r\n", "NATS/1.0\r\nnul: \x00\xff\r\n\r\n", "NATS/1.0\r\n folded: \r\n a\r\n\r\n", "NATS/1.0\r\n\r\n",
		"NATS/1.0\r\nNats-Sequence: 1\r\nNats-Subject: mem.other.message.s\r\nNats-Time-Stamp: 1999-01-01T00:00:00Z\r\nNats-Stream: OTHER\r\n\r\n",
	}
	var out strings.Builder
	out.WriteString("CONNECT {\"headers\":true,\"verbose\":false,\"pedantic\":false,\"lang\":\"by hand\"}\r\n")
	for _, h := range headers {
		for _, b := range bodies {
			fmt.Fprintf(&out, "HPUB mem.marit.message.s %d %d\r\n%s%s\r\n", len(h), len(h)+len(b), h, b)
		}
	}
	out.WriteString("PING\r\n")
	if _, err := conn.Write([]byte(out.String())); err != nil {
		t.Fatal(err)
	}
	for in := bufio.NewReader(conn); ; {
		line, err := in.ReadString('\n')
		if err != nil || strings.HasPrefix(line, "-ERR") {
			t.Fatalf("the broker says %q, %v", line, err)
		}
		if strings.HasPrefix(line, "PONG") {
			break
		}
	}
	n := len(headers) * len(bodies)
	var r reading
	goRead(t, c, ordered.Config{Stream: c.Naming.Messages()}, r.take)
	natstest.Eventually(t, "all events", func() bool { return r.len() >= n })
	r.check(t, n)
	for i := range n {
		seq := uint64(i + 1)
		want := bodies[i%len(bodies)]
		direct, err := c.EventAt(t.Context(), c.Naming.Messages(), seq)
		if err != nil || direct.Seq != seq || direct.Bank != "marit" || string(direct.Data) != want || direct.Stored.Year() < 2000 {
			t.Errorf("event %d (%q) is %+v, %v", seq, headers[i/len(bodies)], direct, err)
		}
		leader, err := c.ReadLeader(t.Context(), c.Naming.Messages(), map[string]any{"seq": seq})
		if err != nil || leader.Seq != seq || leader.Bank != "marit" || string(leader.Data) != want {
			t.Errorf("event %d (%q) of the leader is %+v, %v", seq, headers[i/len(bodies)], leader, err)
		}
	}
	replaced(t, c)
}
