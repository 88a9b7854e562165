package deploy_test

import (
	"context"
	"encoding/json"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// TestTheContractsSentencesHold checks the contract's statements about single requests; examples and semantics have
// their own tests.
func TestTheContractsSentencesHold(t *testing.T) {
	t.Parallel()
	l, err := local.Start(t.Context(), quietSettings(t), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	nc, err := nats.Connect(l.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	ask(t, nc, "mem.alice.retain", `{"facts":[{"text":"Alice likes tea."}],"wait":"30s"}`)
	for _, c := range []struct {
		name, subject, body string
		code                int // 0 = answered
		field               string
	}{
		{"an unknown field is named", "mem.alice.recall", `{"query":"tea","max_fact":3}`, 400, "max_fact"},
		{"a wrong type is named", "mem.alice.recall", `{"query":"tea","max_facts":"3"}`, 400, "max_facts"},
		{"an empty payload reads as an empty object", "mem.alice.status", ``, 0, ""},
		{"a query is required", "mem.alice.recall", `{}`, 400, "query"},
		{"max_facts begins at 1", "mem.alice.recall", `{"query":"tea","max_facts":0}`, 400, "max_facts"},
		{"max_facts ends at 1000", "mem.alice.recall", `{"query":"tea","max_facts":1001}`, 400, "max_facts"},
		{"a time has a zone", "mem.alice.recall", `{"query":"tea","from":"2026-05-20T09:14:00"}`, 400, ""},
		{"a duration is a string", "mem.alice.recall", `{"query":"tea","wait":2}`, 400, ""},
		{"wait is at most 5m", "mem.alice.recall", `{"query":"tea","wait":"6m"}`, 400, "wait"},
		{"an unknown strategy is named", "mem.alice.recall", `{"query":"tea","strategies":{"magic":1}}`, 400, "strategies.magic"},
		{"a vector of another size", "mem.alice.recall", `{"query":"tea","vector":[1,0]}`, 409, "vector"},
		{"an unknown bank", "mem.nobody.recall", `{"query":"tea"}`, 404, ""},
		{"an unknown bank, waiting for a message", "mem.nobody.recall", `{"query":"tea","after":1000,"wait":"1ms"}`, 0, ""},
		{"a bank that needs no encoding is not encoded", "mem.%61lice.recall", `{"query":"tea"}`, 400, ""},
		{"hex is upper case", "mem.a%2e.recall", `{"query":"tea"}`, 400, ""},
		{"a bank that exists is not created", "mem.alice.bank", `{"create":true}`, 409, ""},
		{"a trait out of range", "mem.alice.bank", `{"disposition":{"skepticism":6,"literalism":3,"empathy":3}}`, 400, "disposition.skepticism"},
		{"a fact without text", "mem.alice.retain", `{"facts":[{"text":""}]}`, 400, "facts.0.text"},
		{"facts or a text", "mem.alice.retain", `{}`, 400, "facts"},
		{"feedback names something", "mem.alice.feedback", `{"outcome":"success"}`, 400, "used"},
		{"an unknown record", "mem.alice.get", `{"id":"f_none"}`, 404, ""},
		{"a cursor of another list", "mem.alice.list", `{"cursor":"x"}`, 400, "cursor"},
		{"forget names one thing", "mem.alice.forget", `{}`, 400, "id"},
		{"a bank is no bot's to erase", "mem.alice.forget", `{"bank":true}`, 400, "bank"},
		{"erasing an unknown bank", "mem.admin.erase", `{"bank":"nobody"}`, 404, ""},
		{"admin is no bank", "mem.admin.erase", `{"bank":"admin"}`, 400, "bank"},
		{"a trailing text", "mem.alice.status", `{} {}`, 400, ""},
		{"no object", "mem.alice.status", `[]`, 400, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m, err := nc.Request(c.subject, []byte(c.body), 30*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			code, _ := strconv.Atoi(m.Header.Get("Nats-Service-Error-Code"))
			if code != c.code {
				t.Fatalf("code %d, want %d: %s", code, c.code, m.Data)
			}
			if c.code == 0 {
				return
			}
			var f wire.Fault
			if err := json.Unmarshal(m.Data, &f); err != nil || f.Error.Code != c.code || f.Error.Message == "" {
				t.Fatalf("the body is %s", m.Data)
			}
			if c.field != "" && f.Error.Field != c.field {
				t.Errorf("field %q, want %q: %s", f.Error.Field, c.field, f.Error.Message)
			}
		})
	}
}
