package e2e_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// TestAReplySubjectCannotBeTurnedAgainstTheBroker sends requests whose reply subjects are streams, endpoints or broker
// APIs: an answer sent there must have no effect.
func TestAReplySubjectCannotBeTurnedAgainstTheBroker(t *testing.T) {
	t.Parallel()
	p := dial(t, startLocal(t, nil).URL)
	p.publish("mem.a.message.s", `{"id":"m1","content":"I keep bees in Ghent."}`)
	p.publish("mem.a.flush.s", "")
	p.settle("a")
	js, err := p.nc.JetStream()
	if err != nil {
		t.Fatal(err)
	}
	before, err := js.StreamInfo("MEM_MESSAGES")
	if err != nil {
		t.Fatal(err)
	}
	for _, reply := range []string{"$JS.API.STREAM.PURGE.MEM_MESSAGES", "$KV.MEM_BANKS.a", "mem.a.message.s", "mem.b.message.s", "mem.a.recall", "mem.a.write.forget"} {
		watch, err := p.nc.SubscribeSync(reply)
		if err != nil {
			t.Fatal(err)
		}
		for _, body := range []string{`{"query":"bees"}`, `{"nonsense":1}`} {
			if err := p.nc.PublishMsg(&nats.Msg{Subject: "mem.a.recall", Reply: reply, Data: []byte(body)}); err != nil {
				t.Fatal(err)
			}
		}
		p.mustAsk("mem.a.recall", `{"query":"bees"}`)
		if m, err := watch.NextMsg(300 * time.Millisecond); err == nil {
			if reply != "mem.a.recall" || m.Reply == "" {
				t.Errorf("answered on %s: %.200s", reply, m.Data)
			}
		}
		_ = watch.Unsubscribe()
	}
	after, err := js.StreamInfo("MEM_MESSAGES")
	if err != nil {
		t.Fatal(err)
	}
	if before.State.Msgs != after.State.Msgs || before.State.LastSeq != after.State.LastSeq {
		t.Errorf("the stream was %+v, is %+v", before.State, after.State)
	}
}
