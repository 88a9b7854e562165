package main_test

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
)

// TestWritesWaitAsLongAsTheCommand subscribes to the endpoints and inspects what each command sends.
func TestWritesWaitAsLongAsTheCommand(t *testing.T) {
	t.Parallel()
	conn := natstest.Start(t)
	var mu sync.Mutex
	sent := map[string]string{}
	_, err := conn.NC.Subscribe("mem.b.*", func(m *nats.Msg) {
		var r struct{ Wait string }
		_ = json.Unmarshal(m.Data, &r) //nolint:errcheck // then it names none
		mu.Lock()
		sent[strings.TrimPrefix(m.Subject, "mem.b.")] = r.Wait
		mu.Unlock()
		_ = m.Respond([]byte(`{}`)) //nolint:errcheck // the command says so
	})
	if err := errors.Join(err, conn.NC.Flush()); err != nil { // the broker knows that somebody answers
		t.Fatal(err)
	}
	environ := []string{"EUNOE_URL=" + conn.NC.ConnectedUrl(), "EUNOE_TIMEOUT=50s"}
	for endpoint, args := range map[string][]string{
		"retain": {"A fact."}, "edit": {"f_1", "Another text."}, "forget": {"f_1", "--yes"}, "observe": {}, "consolidate": {},
		"alias": {"Misaki", "美咲"}, "feedback": {"--retrieved", "f_1"}, "conflicts": {"dismiss", "x_1"},
	} {
		ok(t, environ, append([]string{endpoint, "--bank", "b"}, args...)...)
		mu.Lock()
		if sent[endpoint] != "40s" {
			t.Errorf("%s waits %q of 50s; want 40s", endpoint, sent[endpoint])
		}
		mu.Unlock()
	}
	ok(t, environ, "conflicts", "--bank", "b")
	mu.Lock()
	defer mu.Unlock()
	if sent["conflicts"] != "" {
		t.Errorf("a list waits %s for an outcome", sent["conflicts"])
	}
}

// TestAPendingReceipt answers forgets with a receipt that fills at the second question.
func TestAPendingReceipt(t *testing.T) {
	t.Parallel()
	conn := natstest.Start(t)
	_, err := conn.NC.Subscribe("mem.b.forget", func(m *nats.Msg) {
		reply := `{"op":"op-1","write":7,"upto":40,"pending":true}`
		if !strings.Contains(string(m.Data), "session") {
			reply = `{"op":"op-1","write":7,"upto":40,"messages":12}`
		}
		_ = m.Respond([]byte(reply)) //nolint:errcheck // the command says so
	})
	if err := errors.Join(err, conn.NC.Flush()); err != nil { // the broker knows that somebody answers
		t.Fatal(err)
	}
	environ := []string{"EUNOE_URL=" + conn.NC.ConnectedUrl()}
	forget := []string{"forget", "--bank", "b", "--session", "s", "--yes"}
	if out := ok(t, environ, forget...); !strings.Contains(out, "accepted") || !strings.Contains(out, "eunoe forget --op op-1") || strings.Contains(out, "messages") {
		t.Errorf("a pending receipt is shown as\n%s", out)
	}
	if out := ok(t, environ, append(forget, "--json")...); !strings.Contains(out, `"pending": true`) && !strings.Contains(out, `"pending":true`) {
		t.Errorf("as JSON it is\n%s", out)
	}
	for _, args := range [][]string{append(forget, "--wait"), {"forget", "--bank", "b", "--op", "op-1"}} {
		if out := ok(t, environ, args...); !strings.Contains(out, "up to message 40") || !strings.Contains(out, "12") {
			t.Errorf("%v shows\n%s", args, out)
		}
	}
}
