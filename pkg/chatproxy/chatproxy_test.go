package chatproxy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"go.uber.org/goleak"

	"github.com/eunoe-memory/eunoe/pkg/chatproxy"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/test/scriptedmodel"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConfigurationsThatAreNone(t *testing.T) {
	t.Parallel()
	for _, c := range []chatproxy.Config{{Patience: 1, Tokens: 1}, {Upstream: "api.openai.com", Patience: 1, Tokens: 1}, {Upstream: "https://me:secret@host/v1", Patience: 1, Tokens: 1}, {Upstream: "https://host/v1", Patience: 1}, {Upstream: "https://host/v1", Tokens: 1}} {
		if _, err := chatproxy.New(c, chatproxy.Deps{}); !errors.Is(err, memory.ErrInvalid) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestTheTextOfAnAnswer(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 9<<20)
	for _, c := range []struct{ name, kind, body, text string }{
		{"a whole answer", "application/json", `{"choices":[{"index":1,"message":{"content":"b"}},{"index":0,"message":{"content":" a "}}]}`, "a"},
		{"an answer in parts", "application/json; charset=utf-8", `{"choices":[{"message":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}]}`, "a\nb"},
		{"tool calls alone", "application/json", `{"choices":[{"message":{"content":null,"tool_calls":[{}]}}]}`, ""},
		{"no JSON", "application/json", `<html>`, ""},
		{"a page", "text/html", `{"choices":[{"message":{"content":"a"}}]}`, ""},
		{"a stream", "text/event-stream", "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\r\n\r\n: c\ndata:{\"choices\":[{\"delta\":{\"content\":\"b\"}}]}", "ab"},
		{"a stream of others", "text/event-stream", "data: [DONE]\n\ndata: 7\n\nevent: x\n", ""},
		{"an answer that is too long", "application/json", `{"choices":[{"message":{"content":"` + long + `"}}]}`, ""},
		{"a line that is too long", "text/event-stream", "data: " + long + "\ndata: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n", ""},
	} {
		text, passed, err := chatproxy.TextOf(http.Header{"Content-Type": {c.kind}}, iotest.HalfReader(strings.NewReader(c.body)))
		if text != c.text || string(passed) != c.body || err != nil {
			t.Errorf("%s: %.80q, %v; %d of %d bytes passed", c.name, text, err, len(passed), len(c.body))
		}
	}
	broken := iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader(`{"choices":[{"message":{"content":"a"}}]}`)))
	if text, _, err := chatproxy.TextOf(http.Header{"Content-Type": {"application/json"}}, broken); text != "" || err == nil {
		t.Errorf("an answer that broke off: %q, %v", text, err)
	}
}

func FuzzInsert(f *testing.F) {
	for _, s := range []string{
		`{"messages":[{"role":"user","content":"hi"}]}`, "{\n\"x\":1e999,\"messages\" : [ {\"role\":\"system\",\"content\":\"s\"} ,{\"role\":\"user\",\"content\":[{\"text\":\"a\"}]},\n{\"role\":\"tool\"}]\t}",
		`{"messages":[null,7,"x",{"role":"user"}],"user":7}`, `{"messages":{}}`, `[]`, `{"messages":[],"messages":[]}`, `{"Messages":[{"role":"user","content":"x"}],"messages":[{"role":"user","content":"y"}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		out, last, err := chatproxy.Insert(body, "<memory> é \"\\")
		if err != nil {
			if !errors.Is(err, memory.ErrInvalid) {
				t.Fatal(err)
			}
			return
		}
		if !last {
			if !bytes.Equal(out, body) {
				t.Fatalf("%q became %q", body, out)
			}
			return
		}
		if !json.Valid(out) {
			t.Fatalf("%q became %q", body, out)
		}
		at := 0
		for at < len(body) && at < len(out) && body[at] == out[at] {
			at++
		}
		// The bytes that follow are those of the body: the message may begin like what it stands before.
		for added := len(out) - len(body); at >= 0; at-- {
			if bytes.Equal(out[at+added:], body[at:]) && bytes.Equal(out[:at], body[:at]) {
				return
			}
		}
		t.Fatalf("%q became %q", body, out)
	})
}

// A program that serves HTTP passes a completion on. Memory is a client of Eunoe; without one the request goes on as it is.
func ExampleProxy() {
	model := httptest.NewServer(scriptedmodel.New((&scriptedmodel.Script{}).Answer("", "Hello, Ann.")))
	defer model.Close()
	p, err := chatproxy.New(chatproxy.Config{Upstream: model.URL + "/v1", Patience: 300 * time.Millisecond, Tokens: 1000}, chatproxy.Deps{})
	if err != nil {
		panic(err)
	}
	defer p.Close()
	stored := make(chan struct{})
	call := chatproxy.Call{Bank: "ann", Body: []byte(`{"model":"testmodel","messages":[{"role":"user","content":"Hello"}]}`), Until: time.Now().Add(300 * time.Millisecond)}
	w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/v1/chat/completions", nil)
	if err := p.Serve(w, r, call, func() { close(stored) }); err != nil {
		panic(err)
	}
	<-stored
	fmt.Println(w.Code, strings.Contains(w.Body.String(), "Hello, Ann."), w.Header().Get("X-Eunoe-Recalled"))
	// Output: 200 true 0
}
