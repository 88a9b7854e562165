package e2e_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
)

// TestHostileRequestsAtEveryEndpoint sends malformed requests to every endpoint. The
// error names the field, and earlier writes are unaffected.
func TestHostileRequestsAtEveryEndpoint(t *testing.T) {
	t.Parallel()
	p := dial(t, startLocal(t, nil).URL)
	p.publish("mem.b.message.s", `{"id":"kept","speaker":"Alice","content":"I live in Lisbon with my brother Tom."}`)
	p.publish("mem.b.flush.s", "")
	p.settle("b")
	before := facts(p, "b")

	long := strings.Repeat("x", 129)
	entities, _ := json.Marshal(strings.Fields(strings.Repeat("person:a ", 10000)))
	cases := []struct{ endpoint, body, code, field string }{
		{"recall", `{"query":`, "400", ""},
		{"recall", `[]`, "400", ""},
		{"recall", `{}`, "400", "query"},
		{"recall", `{"query":"a","unknown":1}`, "400", "unknown"},
		{"recall", `{"query":5}`, "400", "query"},
		{"recall", `{"query":"a","max_facts":-1}`, "400", "max_facts"},
		{"recall", `{"query":"a","max_facts":1000000000}`, "400", "max_facts"},
		{"recall", `{"query":"a","max_tokens":-5}`, "400", "max_tokens"},
		{"recall", `{"query":"a","records":["thing"]}`, "400", "records"},
		{"recall", `{"query":"a","strategies":{"magic":1}}`, "400", "strategies"},
		{"recall", `{"query":"a","as_of":"2026-01-01T00:00:00"}`, "400", "as_of"},
		{"recall", `{"query":"a","exclude":[]}`, "400", "exclude"},
		{"recall", `{"query":"a","wait":"soon"}`, "400", "wait"},
		{"recall", `{"query":"a","vector":[1,2,3]}`, "409", "vector"},
		{"recall", `{"query":"a","entities":` + string(entities) + `}`, "400", "entities"},
		{"recall", "{\"query\":\"\xff\"}", "400", ""},
		{"recall", `{"query":"` + strings.Repeat("word ", 20000) + `"}`, "400", "query"},
		{"reflect", `{"query":"a","style":"poem"}`, "400", "style"},
		{"reflect", `{"query":"a","max_turns":-1}`, "400", "max_turns"},
		{"observe", `{"types":["hunch"]}`, "400", "types"},
		{"observe", `{"min_confidence":7}`, "400", "min_confidence"},
		{"retain", `{}`, "400", ""},
		{"retain", `{"facts":[{"text":""}]}`, "400", "facts.0.text"},
		{"retain", `{"facts":[{"text":"a fact","vector":[1,2]}]}`, "409", "vector"},
		{"retain", `{"facts":[{"text":"a"},{"text":"b","said":"noon"}]}`, "400", "facts.1.said"},
		{"retain", `{"facts":[{"txt":"a"}]}`, "400", "txt"},
		{"edit", `{"id":"f_none","text":"new"}`, "404", ""},
		{"edit", `{"text":"new"}`, "400", "id"},
		{"conflicts", `{"state":"odd"}`, "400", "state"},
		{"feedback", `{"outcome":"great"}`, "400", "outcome"},
		{"bank", `{"disposition":{"skepticism":9,"literalism":3,"empathy":3}}`, "400", "skepticism"},
		{"bank", `{"create":true}`, "409", ""},
		{"forget", `{}`, "400", ""},
		{"forget", `{"id":"f_none"}`, "404", ""},
		{"get", `{"id":"none"}`, "404", ""},
		{"get", `{"id":"` + long + `"}`, "400", "id"},
		{"list", `{"limit":-1}`, "400", "limit"},
		{"list", `{"record":"thing"}`, "400", "record"},
		{"list", `{"cursor":"nonsense!"}`, "400", "cursor"},
		{"tree", `{"depth":-1}`, "400", "depth"},
		{"tree", `{"root":"c_none"}`, "404", ""},
		{"entities", `{"type":"alien"}`, "400", "type"},
		{"history", `{"id":"f_none"}`, "404", ""},
		{"changes", `{"limit":-1}`, "400", "limit"},
		{"status", `{"what":1}`, "400", "what"},
		{"recall", `{"Query":"a"}`, "400", "Query"},
		{"retain", `{"facts":[{"text":"a","Type":"event"}]}`, "400", "facts.0.Type"},
	}
	for _, c := range cases {
		reply, code := p.ask("mem.b."+c.endpoint, c.body)
		if code != c.code {
			t.Errorf("%s %.80s: code %q, want %q: %v", c.endpoint, c.body, code, c.code, reply)
			continue
		}
		if code == "" {
			continue
		}
		e, _ := reply["error"].(object)
		if fmt.Sprint(e["code"]) != c.code || e["message"] == "" {
			t.Errorf("%s %.80s: body %v", c.endpoint, c.body, reply)
		}
		if field, _ := e["field"].(string); c.field != "" && !strings.Contains(field, c.field) {
			t.Errorf("%s %.80s: field %q, want %q (%v)", c.endpoint, c.body, field, c.field, e["message"])
		}
	}
	for body, field := range map[string]string{`{"start":5}`: "start", `{"restart":true}`: "restart", `[]`: "the body", `7`: "the body"} {
		m, err := p.nc.Request("mem.admin.rebuild", []byte(body), natstest.Patience)
		if err != nil {
			t.Fatal(err)
		}
		var reply struct {
			Code  int
			Error string
		}
		if err := json.Unmarshal(m.Data, &reply); err != nil || reply.Code != 400 || !strings.HasPrefix(reply.Error, field) {
			t.Errorf("rebuild %s: %s, %v", body, m.Data, err)
		}
	}
	for _, empty := range []string{`{"query":"?!... --- \"' * ( ) NEAR"}`, `{"query":"\u0000"}`, `{"query":"🦀"}`} {
		if r := p.mustAsk("mem.b.recall", empty); r["items"] == nil {
			t.Errorf("%s: items is null", empty)
		}
	}
	for _, bank := range []string{"nobody", "%FF"} {
		if _, code := p.ask("mem."+bank+".status", ""); code != "404" && code != "400" {
			t.Errorf("bank %s: code %q", bank, code)
		}
	}
	for _, bank := range []string{"%61lice", "%2e", "a%2", long} {
		if _, code := p.ask("mem."+bank+".recall", `{"query":"a"}`); code != "400" {
			t.Errorf("bank token %.20s: code %q, want 400", bank, code)
		}
	}
	if after := facts(p, "b"); strings.Join(after, "\n") != strings.Join(before, "\n") {
		t.Errorf("facts changed from %q to %q", before, after)
	}
}

// TestHostilePublishes sends malformed events: each is accounted for, and the messages around it are kept.
func TestHostilePublishes(t *testing.T) {
	t.Parallel()
	p := dial(t, startLocal(t, nil).URL)
	subject := "mem.b.message.s"
	bodies := []string{
		`{"id":"first","speaker":"Alice","content":"I keep two goats, Heidi and Peter."}`,
		`{"content":`, `[]`, `"text"`, `{}`, `{"content":""}`, `{"content":7}`,
		`{"id":"` + strings.Repeat("x", 129) + `","content":"a"}`,
		`{"id":"seq:1","content":"a"}`,
		`{"content":"a","time":"2026-05-20T09:14:00"}`,
		"{\"content\":\"\xff\xfe\"}",
		`{"content":"a","role":"boss"}`,
		`{"id":"nul","speaker":"Alice","content":"A\u0000B \u0007 bell"}`,
		`{"id":"unknown","speaker":"Alice","content":"I sail on Sundays.","mood":"calm"}`,
		`{"id":"big","speaker":"Alice","content":"` + strings.Repeat("many words ", 80000) + `"}`,
		`{"id":"first","speaker":"Mallory","content":"I replace the first body."}`,
		`{"stream":"MEM_MESSAGES","seq":4}`,
		`{"id":"last","speaker":"Alice","content":"My boat is called Aurora."}`,
	}
	const dead, foreign, duplicate = 11, 1, 1
	for _, b := range bodies {
		p.publish(subject, b)
	}
	p.publish("mem.%61lice.message.s", `{"content":"under a token that does not decode"}`)
	p.publish("mem.b.flush.s", `{"upto":"x"}`)
	p.publish("mem.b.flush.s", "")
	s := p.settle("b")
	c := s["conservation"].(object)
	if c["published"] != float64(len(bodies)-foreign) || c["dead"] != float64(dead) || c["duplicate"] != float64(duplicate) || c["pending"] != 0.0 {
		t.Errorf("conservation: %v", c)
	}
	for _, id := range []string{"first", "nul", "unknown", "big", "last"} {
		if _, code := p.ask("mem.b.get", `{"id":"`+id+`"}`); code != "" {
			t.Errorf("get %s: %s", id, code)
		}
	}
	r := p.mustAsk("mem.b.recall", `{"query":"What is the name of Alice's boat?"}`)
	if !strings.Contains(fmt.Sprint(r["items"]), "Aurora") {
		t.Errorf("recall after the hostile ones: %v", r["items"])
	}
	if strings.Contains(fmt.Sprint(p.mustAsk("mem.b.get", `{"id":"first"}`)), "Mallory") {
		t.Error("a repeated id replaced the first body")
	}
	letters := p.mustAsk("mem.admin.dead", `{"action":"list"}`)
	if n := len(list(letters["items"])); n < dead {
		t.Errorf("%d dead letters, want at least %d", n, dead)
	}
	if _, code := p.ask("mem.alice.status", ""); code != "404" {
		t.Errorf("the bank named by a non-canonical token exists: %q", code)
	}
}
