package e2e_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// TestALongForgetAnswersAtOnce forgets a session that takes longer to erase than a request waits: the reply is a receipt
// that fills, by its op, for the bank that asked and for no other.
func TestALongForgetAnswersAtOnce(t *testing.T) {
	t.Parallel()
	const n = 5_000
	l := startLocal(t, map[string]string{"SYNC": "false"})
	p := dial(t, l.URL)
	own := client.DefaultConfig()
	own.URL = l.URL
	c, err := client.Connect(t.Context(), own)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() //nolint:errcheck // nothing is left to send
	messages := make([]memory.Message, 1000)
	for k := range n / len(messages) {
		for i := range messages {
			messages[i] = memory.Message{Speaker: "Ann", Role: memory.RoleAssistant, Content: fmt.Sprintf("The gauge of pump %d shows %d.", i, k)}
		}
		if _, err := c.PublishAll(t.Context(), "long", "s", messages); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	r := forgetIt(t, c, wire.ForgetRequest{Session: "s"})
	if took := time.Since(began); took > 2*time.Second { // half a second of it is the wait for a small one
		t.Errorf("the forget of %d messages answered after %s; want less than another write waits, 2s", n, took)
	}
	if !r.Pending || r.Op == "" || r.Write == 0 || r.Upto < n || r.Messages != 0 {
		t.Errorf("the first receipt is %+v; want a pending one with its op, write and upto", r)
	}
	full, err := c.WaitForgotten(t.Context(), "long", r.Op)
	if err != nil || full.Pending || full.Messages != n || full.Op != r.Op || full.Write != r.Write || full.Upto != r.Upto {
		t.Errorf("the receipt is %+v, %v; want %d messages by the op, write and upto of the first", full, err, n)
	}
	if again := forgetIt(t, c, wire.ForgetRequest{Session: "s", WriteControl: wire.WriteControl{Op: r.Op}}); again.Receipt != full.Receipt {
		t.Errorf("the request with its op: %+v; want %+v", again, full)
	}
	for subject, op := range map[string]string{"mem.other.forget": r.Op, "mem.long.forget": "never used"} {
		natstest.Eventually(t, subject+" does not find op "+op, func() bool { // the broker is busy with what it erases
			got, code := p.ask(subject, `{"op":"`+op+`","wait":"60s"}`)
			if code != "404" && code != "503" {
				t.Errorf("%s of op %s: %q %v; want 404", subject, op, code, got)
			}
			return code != "503"
		})
	}
	natstest.Eventually(t, "every message is forgotten", func() bool {
		s, err := c.Status(t.Context(), "long")
		return err == nil && s.Conservation.Forgotten == n
	})
}

// forgetIt forgets, without a wait of its own.
func forgetIt(t *testing.T, c *client.Client, r wire.ForgetRequest) wire.ForgetReply {
	t.Helper()
	reply, err := c.Forget(t.Context(), "long", r)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// TestTheReceiptOfAnErasedBank asks for it by its op when the bank is gone.
func TestTheReceiptOfAnErasedBank(t *testing.T) {
	t.Parallel()
	p := dial(t, startLocal(t, nil).URL)
	p.publish("mem.gone.message.s", `{"speaker":"Ann","content":"I keep bees."}`)
	p.publish("mem.gone.flush.s", "")
	p.settle("gone")
	r := p.mustAsk("mem.admin.erase", `{"bank":"gone","op":"leaving"}`)
	for _, again := range []object{p.mustAsk("mem.gone.forget", `{"op":"leaving"}`), p.mustAsk("mem.admin.erase", `{"bank":"gone","op":"leaving"}`)} {
		if r["messages"] != 1.0 || again["messages"] != 1.0 || again["facts"] != r["facts"] || again["pending"] != nil {
			t.Errorf("the receipt is %v, asked for again %v", r, again)
		}
	}
}
