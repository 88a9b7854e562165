// Package e2e tests the complete system through its public interfaces.
package e2e_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
)

// startLocal runs the complete pipeline with its own broker until the test ends.
func startLocal(t *testing.T, overrides map[string]string) *local.Local {
	t.Helper()
	return apptest.Start(t, apptest.Settings(t, overrides))
}

// plain is a NATS client that uses the wire contract and no code of this module.
type plain struct {
	t  *testing.T
	nc *nats.Conn
}

func dial(t *testing.T, url string) plain {
	t.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return plain{t, nc}
}

// publish sends a JetStream publish as any client does: a request that the stream acknowledges. It returns the
// sequence.
func (p plain) publish(subject, body string) uint64 {
	p.t.Helper()
	var ack struct {
		Seq   uint64          `json:"seq"`
		Error json.RawMessage `json:"error"`
	}
	m, err := p.nc.Request(subject, []byte(body), natstest.Patience)
	if err != nil {
		p.t.Fatalf("publish %s: %v", subject, err)
	}
	if err := json.Unmarshal(m.Data, &ack); err != nil || ack.Error != nil || ack.Seq == 0 {
		p.t.Fatalf("publish %s: %s", subject, m.Data)
	}
	return ack.Seq
}

type object = map[string]any

// ask sends a request and returns the reply and the error code ("" for none).
func (p plain) ask(subject, body string) (object, string) {
	p.t.Helper()
	m, err := p.nc.Request(subject, []byte(body), natstest.Patience)
	if err != nil {
		p.t.Fatalf("request %s: %v", subject, err)
	}
	var out object
	if err := json.Unmarshal(m.Data, &out); err != nil {
		p.t.Fatalf("%s: not a JSON object: %s", subject, m.Data)
	}
	return out, m.Header.Get("Nats-Service-Error-Code")
}

// mustAsk sends a request that succeeds. As the contract advises, a write that was not applied in time is repeated with
// its op, and the receipt of a forget that is pending is asked for: the machine may be busy.
func (p plain) mustAsk(subject, body string) object {
	p.t.Helper()
	out, code := p.ask(subject, body)
	if e, _ := out["error"].(object); code == "504" && e["op"] != nil {
		again := object{}
		if err := json.Unmarshal([]byte(body), &again); err != nil {
			p.t.Fatalf("%s: %v", body, err)
		}
		again["op"], again["wait"] = e["op"], "60s"
		raw, err := json.Marshal(again)
		if err != nil {
			p.t.Fatal(err)
		}
		body = string(raw)
		out, code = p.ask(subject, body)
	}
	if code != "" {
		p.t.Fatalf("%s %s: %s %v", subject, body, code, out)
	}
	if bank, ok := strings.CutSuffix(subject, ".forget"); ok && out["pending"] == true {
		return p.mustAsk(bank+".forget", `{"op":"`+out["op"].(string)+`","wait":"60s"}`)
	}
	if subject == "mem.admin.erase" && out["pending"] == true {
		var r struct{ Bank string }
		if err := json.Unmarshal([]byte(body), &r); err != nil {
			p.t.Fatal(err)
		}
		return p.mustAsk("mem."+token(r.Bank)+".forget", `{"op":"`+out["op"].(string)+`","wait":"60s"}`)
	}
	return out
}

// settle waits until status reports settled.
func (p plain) settle(bank string) object {
	p.t.Helper()
	var s object
	natstest.Eventually(p.t, "bank "+bank+" settles", func() bool {
		var code string
		s, code = p.ask("mem."+bank+".status", "")
		return code == "" && s["settled"] == true
	})
	return s
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

func TestAPlainNATSClientByTheContractAlone(t *testing.T) {
	t.Parallel()
	p := dial(t, startLocal(t, nil).URL)

	changes, err := p.nc.SubscribeSync("mem.alice.change.>")
	if err != nil {
		t.Fatal(err)
	}
	p.publish("mem.alice.message.s1", `{"id":"m1","role":"user","speaker":"Alice","content":"I am allergic to shellfish.","time":"2026-05-20T09:14:00Z"}`)
	seq := p.publish("mem.alice.message.s1", `{"id":"m2","role":"user","speaker":"Alice","content":"I moved to Lisbon in May.","time":"2026-05-20T09:15:00Z"}`)

	seen, _ := json.Marshal(object{"query": "What is Alice allergic to?", "after": seq})
	r := p.mustAsk("mem.alice.recall", string(seen))
	if r["fresh"] != true || len(list(r["items"])) == 0 {
		t.Fatalf("a recall after a publish must see it: %v", r)
	}

	p.publish("mem.alice.flush.s1", "")
	s := p.settle("alice")
	if n, _ := s["facts"].(float64); n < 2 {
		t.Fatalf("status after settling: %v", s)
	}
	r = p.mustAsk("mem.alice.recall", `{"query":"What is Alice allergic to?"}`)
	first, _ := list(r["items"])[0].(object)
	if src := list(first["sources"]); len(src) == 0 || src[0] != "m1" {
		t.Fatalf("first item of %v", r)
	}
	ref := p.mustAsk("mem.alice.reflect", `{"query":"Where does Alice live?","style":"context"}`)
	if ref["mode"] != "context" || ref["response"] == "" {
		t.Fatalf("reflect: %v", ref)
	}
	kinds := map[string]bool{}
	for !kinds["mem.alice.change.fact"] || !kinds["mem.alice.change.message"] {
		m, err := changes.NextMsg(natstest.Patience)
		if err != nil {
			t.Fatalf("change events so far %v: %v", kinds, err)
		}
		var c object
		if err := json.Unmarshal(m.Data, &c); err != nil || c["id"] == "" || c["op"] == "" || c["record"] == "" {
			t.Fatalf("change %s", m.Data)
		}
		kinds[m.Subject] = true
	}
	if _, code := p.ask("mem.nobody.recall", `{"query":"a"}`); code != "404" {
		t.Errorf("an unknown bank answers %q, want 404", code)
	}
	if e, code := p.ask("mem.alice.recall", `{"query":"a","max_fact":1}`); code != "400" || e["error"].(object)["field"] != "max_fact" {
		t.Errorf("an unknown field answers %s %v", code, e)
	}
}
