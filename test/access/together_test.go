package access_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// What bots publish without waiting is passed on together, or one by one where the stream refuses two of the events as one
// with an id for JetStream that came twice. Each publish is answered with its own position, and the order of each bank is
// kept.
func TestPublishesThatComeTogetherAreAnsweredEach(t *testing.T) {
	t.Parallel()
	w := embedded(t, nil)
	bots := []*user{w.login(t, "alice"), w.login(t, "bob")}
	names := []string{"alice", "bob"}
	const n = 300
	heard := make([]chan *nats.Msg, len(bots))
	inbox := make([]string, len(bots))
	body := func(bot, i int) string {
		return fmt.Sprintf(`{"id":"m%d","content":"%s owns %d boats."}`, i, names[bot], i)
	}
	publish := func(bot, i int, header nats.Header) {
		t.Helper()
		m := &nats.Msg{Subject: "mem." + names[bot] + ".message.s", Reply: fmt.Sprint(inbox[bot], ".", i), Header: header, Data: []byte(body(bot, i))}
		if err := bots[bot].nc.PublishMsg(m); err != nil {
			t.Fatal(err)
		}
	}
	answered := make([]map[string]uint64, len(bots))
	wait := func(bot, n int) {
		t.Helper()
		for range n {
			select {
			case m := <-heard[bot]:
				var ack struct {
					Seq   uint64
					Error any
				}
				if err := json.Unmarshal(m.Data, &ack); err != nil || ack.Error != nil || ack.Seq == 0 {
					t.Fatalf("%s is answered %s, %v", m.Subject, m.Data, err)
				}
				answered[bot][m.Subject] = ack.Seq
			case <-time.After(15 * time.Second):
				t.Fatalf("%d of %s are answered", len(answered[bot]), names[bot])
			}
		}
	}
	for bot, u := range bots {
		heard[bot], inbox[bot], answered[bot] = make(chan *nats.Msg, n), u.nc.NewInbox(), map[string]uint64{}
		if _, err := u.nc.ChanSubscribe(inbox[bot]+".*", heard[bot]); err != nil {
			t.Fatal(err)
		}
	}
	twice := nats.Header{nats.MsgIdHdr: {"twice"}}
	repeat := func(bot, i int) bool { return bot == 0 && i == n/2+1 }
	for i := range n {
		for bot := range bots {
			if bot == 0 && i == n/2 || repeat(bot, i) {
				publish(bot, i, twice)
				continue
			}
			publish(bot, i, nil)
		}
	}
	wait(0, n)
	wait(1, n)
	if len(answered[0]) != n || len(answered[1]) != n {
		t.Errorf("%d and %d of %d are answered", len(answered[0]), len(answered[1]), n)
	}
	operator := w.login(t, "operator")
	for bot := range bots {
		before := uint64(0)
		for i := range n {
			if repeat(bot, i) {
				continue
			}
			seq := answered[bot][fmt.Sprint(inbox[bot], ".", i)]
			if seq <= before {
				t.Errorf("message %d of %s is at %d, after %d", i, names[bot], seq, before)
			}
			before = seq
			if i%20 == 0 {
				var stored struct {
					Message struct{ Data []byte }
				}
				said := operator.mustAsk("$JS.API.STREAM.MSG.GET."+w.naming.Messages(), fmt.Sprintf(`{"seq":%d}`, seq))
				if err := json.Unmarshal([]byte(said), &stored); err != nil || string(stored.Message.Data) != body(bot, i) {
					t.Errorf("message %d of %s is told %d, where %s is: %v", i, names[bot], seq, stored.Message.Data, err)
				}
			}
		}
	}
}
