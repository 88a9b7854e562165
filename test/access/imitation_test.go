package access_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
)

// TestABotThatImitatesTheBrokerStopsNobody publishes messages and flushes without a body, with the headers by which a
// broker tells a reader that its consumer is gone, that nobody answers, or that nothing happens. Each is acknowledged and
// is an event as any other; what another bot says becomes facts.
func TestABotThatImitatesTheBrokerStopsNobody(t *testing.T) {
	t.Parallel()
	for name, start := range servers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			a, b := w.login(t, "alice"), w.login(t, "bob")
			published := 0
			for _, status := range []string{"503", "409", "404", "408", "400", "423", "100", "soon"} {
				for _, about := range []string{"Consumer Deleted", "Leadership Change", "Idle Heartbeat", ""} {
					h := nats.Header{"Status": {status}, "Description": {about}, "Nats-Msg-Id": {status + about}}
					for _, kind := range []string{"message", "flush"} {
						m, err := a.nc.RequestMsg(&nats.Msg{Subject: "mem.alice." + kind + ".chat", Header: h}, natstest.Patience)
						if err != nil {
							t.Fatalf("%s with %v: %v", kind, h, err)
						}
						var ack struct {
							Seq       uint64
							Error     any
							Duplicate bool
						}
						if err := json.Unmarshal(m.Data, &ack); err != nil || ack.Error != nil || ack.Seq == 0 {
							t.Fatalf("%s with %v: %s, %v", kind, h, m.Data, err)
						}
						if kind == "message" && !ack.Duplicate {
							published++
						}
						h.Set("Nats-Msg-Id", h.Get("Nats-Msg-Id")+"f")
					}
				}
			}
			b.remember("bob", "My parrot is called Kwabena.")
			if found := b.mustAsk("mem.bob.recall", `{"query":"What is my parrot called?","records":["fact"]}`); !strings.Contains(found, "Kwabena") {
				t.Errorf("bob's parrot: %s", found)
			}
			s := a.settle("alice")
			if c := s.Conservation; c.Dead != published || c.Published != published || s.Dead != published {
				t.Errorf("of %d messages without a body: %+v, %d letters", published, c, s.Dead)
			}
		})
	}
}
