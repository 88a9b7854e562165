package e2e_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
)

// answers sends the same requests concurrently and returns their replies and codes.
func answers(t *testing.T, url, subject string, bodies []string) ([]object, []string) {
	t.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	out, codes := make([]object, len(bodies)), make([]string, len(bodies))
	var wg sync.WaitGroup
	for i, body := range bodies {
		wg.Add(1)
		go func() {
			defer wg.Done()
			m, err := nc.Request(subject, []byte(body), natstest.Patience)
			if err != nil {
				codes[i] = err.Error()
				return
			}
			_ = json.Unmarshal(m.Data, &out[i])
			codes[i] = m.Header.Get("Nats-Service-Error-Code")
		}()
	}
	wg.Wait()
	return out, codes
}

// TestRequestsThatRaceHaveOneWinner sends mutually exclusive requests concurrently.
func TestRequestsThatRaceHaveOneWinner(t *testing.T) {
	t.Parallel()
	l := startLocal(t, nil)
	p := dial(t, l.URL)
	repeat := func(n int, body func(i int) string) []string {
		out := make([]string, n)
		for i := range out {
			out[i] = body(i)
		}
		return out
	}
	t.Run("one op is applied once, and all callers receive its answer", func(t *testing.T) {
		replies, codes := answers(t, l.URL, "mem.op.retain", repeat(20, func(i int) string {
			return fmt.Sprintf(`{"op":"same","wait":"60s","facts":[{"text":"Ann owns violin number %d."}]}`, i)
		}))
		for i, r := range replies {
			if codes[i] != "" || fmt.Sprint(r) != fmt.Sprint(replies[0]) {
				t.Errorf("%d: %s %v, the first was %v", i, codes[i], r, replies[0])
			}
		}
		if got := facts(p, "op"); len(got) != 1 {
			t.Errorf("%q", got)
		}
	})
	t.Run("one text under one op is stored once", func(t *testing.T) {
		replies, codes := answers(t, l.URL, "mem.tx.retain", repeat(10, func(i int) string {
			return `{"op":"same","wait":"60s","text":"Ann owns a violin from Cremona."}`
		}))
		for i, r := range replies {
			if codes[i] != "" || len(list(r["results"])) != 1 {
				t.Errorf("%d: %s %v", i, codes[i], r)
			}
		}
		c := counts(p.settle("tx"))
		if c["committed"] != 1.0 || c["duplicate"].(float64)+1 != c["published"] {
			t.Errorf("%v", c)
		}
	})
	t.Run("of concurrent edits of one version one succeeds", func(t *testing.T) {
		r := p.mustAsk("mem.ed.retain", `{"facts":[{"text":"Ann owns a viola."}]}`)
		id := outcome(r, 0)["id"].(string)
		v := p.mustAsk("mem.ed.get", fmt.Sprintf(`{"id":%q}`, id))["version"]
		_, codes := answers(t, l.URL, "mem.ed.edit", repeat(12, func(i int) string {
			return fmt.Sprintf(`{"id":%q,"version":%v,"wait":"60s","tags":["t%d"]}`, id, v, i)
		}))
		won := 0
		for _, code := range codes {
			switch code {
			case "":
				won++
			case "409":
			default:
				t.Errorf("code %s", code)
			}
		}
		if won != 1 {
			t.Errorf("%d of 12 edits succeeded", won)
		}
	})
	t.Run("of concurrent creations of a bank one succeeds", func(t *testing.T) {
		_, codes := answers(t, l.URL, "mem.made.bank", repeat(12, func(i int) string { return fmt.Sprintf(`{"create":true,"wait":"60s","name":"N%d"}`, i) }))
		won := 0
		for _, code := range codes {
			if code == "" {
				won++
			} else if code != "409" {
				t.Errorf("code %s", code)
			}
		}
		if won != 1 {
			t.Errorf("%d of 12 made the bank", won)
		}
	})
	t.Run("one id is one message", func(t *testing.T) {
		_, codes := answers(t, l.URL, "mem.id.message.s", repeat(30, func(i int) string {
			return fmt.Sprintf(`{"id":"only","speaker":"Ann","content":"I own horn number %d."}`, i)
		}))
		for _, c := range codes {
			if c != "" {
				t.Error(c)
			}
		}
		p.publish("mem.id.flush.s", "")
		c := counts(p.settle("id"))
		if c["published"] != 30.0 || c["duplicate"] != 29.0 || c["committed"] != 1.0 {
			t.Errorf("%v", c)
		}
		if got := facts(p, "id"); len(got) != 1 {
			t.Errorf("%q", got)
		}
	})
	t.Run("a forget among publishes removes exactly the messages before it", func(t *testing.T) {
		stop, acked := make(chan struct{}), make(chan struct{}, 3*400)
		var mu sync.Mutex
		seqs := map[uint64]string{}
		var wg sync.WaitGroup
		for w := range 3 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				nc, err := nats.Connect(l.URL)
				if err != nil {
					t.Error(err)
					return
				}
				defer nc.Close()
				for i := 0; i < 400; i++ {
					select {
					case <-stop:
						return
					default:
					}
					id := fmt.Sprintf("w%d-%d", w, i)
					m, err := nc.Request("mem.rf.message.s", []byte(fmt.Sprintf(`{"id":%q,"speaker":"Ann","content":"I own horn %s."}`, id, id)), natstest.Patience)
					if err != nil {
						t.Error(err)
						return
					}
					var ack struct{ Seq uint64 }
					_ = json.Unmarshal(m.Data, &ack)
					mu.Lock()
					seqs[ack.Seq] = id
					mu.Unlock()
					acked <- struct{}{}
				}
			}()
		}
		for range 60 {
			<-acked
		}
		f := p.mustAsk("mem.rf.forget", `{"session":"s","wait":"60s"}`)
		upto := uint64(f["upto"].(float64))
		for range 100 {
			<-acked
		}
		close(stop)
		wg.Wait()
		p.publish("mem.rf.flush.s", "")
		s := p.settle("rf")
		all := strings.Join(facts(p, "rf"), "\n") + "\n"
		before := 0
		for seq, id := range seqs {
			if seq <= upto {
				before++
			}
			if has := strings.Contains(all, "<- "+id+"\n"); has != (seq > upto) {
				t.Errorf("message %s at %d, upto %d: in the memory %v", id, seq, upto, has)
			}
		}
		c := counts(s)
		if c["forgotten"] != float64(before) || c["published"] != float64(len(seqs)) || f["messages"] != float64(before) {
			t.Errorf("%d before: %v, receipt %v", before, c, f)
		}
	})
}
