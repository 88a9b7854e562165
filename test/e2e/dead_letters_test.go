package e2e_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/test/scriptedmodel"
)

// ward is a pipeline whose model returned an invalid answer for the first window, which is now a dead letter.
type ward struct {
	plain
	l      *local.Local
	letter object
}

func newWard(t *testing.T) *ward {
	t.Helper()
	script := new(scriptedmodel.Script).Answer("extract", "certainly!").Answer("extract", "with pleasure!") // asked once more at once
	srv := scriptedmodel.Start(t, script)
	l := startLocal(t, map[string]string{"MODEL": "openai:testmodel", "MODEL_URL": srv.URL, "MODEL_KEY": "none", "MAX_ATTEMPTS": "1"})
	w := &ward{plain: dial(t, l.URL), l: l}
	w.publish("mem.alice.message.s", `{"id":"m1","speaker":"Alice","content":"I live in Lisbon and I am allergic to shellfish.","time":"2026-05-20T09:14:00Z"}`)
	w.publish("mem.alice.flush.s", "")
	w.letter = w.onlyLetter()
	natstest.Eventually(t, "the message is applied, whose window may be dead before", func() bool {
		_, code := w.ask("mem.alice.list", `{"record":"message"}`)
		return code == ""
	})
	return w
}

// onlyLetter waits for a dead letter and returns it with its payload.
func (w *ward) onlyLetter() object {
	w.t.Helper()
	var items []any
	natstest.Eventually(w.t, "a dead letter", func() bool {
		items = list(w.mustAsk("mem.admin.dead", `{"bank":"alice"}`)["items"])
		return len(items) > 0
	})
	if len(items) != 1 {
		w.t.Fatalf("%d dead letters", len(items))
	}
	return list(w.mustAsk("mem.admin.dead", fmt.Sprintf(`{"action":"show","id":%v}`, items[0].(object)["id"]))["items"])[0].(object)
}

// retry sends the letter again and returns the error code.
func (w *ward) retry() string {
	w.t.Helper()
	_, code := w.ask("mem.admin.dead", fmt.Sprintf(`{"action":"retry","id":%v}`, w.letter["id"]))
	return code
}

// copyOf publishes the letter's event again, under a new id or without one.
func (w *ward) copyOf(id string) {
	w.t.Helper()
	payload, err := base64.StdEncoding.DecodeString(w.letter["payload"].(string))
	if err != nil {
		w.t.Fatal(err)
	}
	m := &nats.Msg{Subject: w.letter["subject"].(string), Data: payload, Header: nats.Header{}}
	if id != "" {
		m.Header.Set("Nats-Msg-Id", id)
	}
	if _, err := w.l.Conn.JS.PublishMsg(w.t.Context(), m); err != nil {
		w.t.Fatal(err)
	}
}

// once waits until the bank is settled and fails unless the message yielded its facts exactly once and no dead letter
// remains.
func (w *ward) once() {
	w.t.Helper()
	var s object
	natstest.Eventually(w.t, "settled without dead letters", func() bool {
		s = w.settle("alice")
		return s["dead"] == 0.0
	})
	c := s["conservation"].(object)
	if c["committed"] != 1.0 || c["dead"] != 0.0 || c["published"] != 1.0 {
		w.t.Errorf("conservation %v", c)
	}
	items := list(w.mustAsk("mem.alice.list", `{"record":"fact"}`)["items"])
	if len(items) == 0 || float64(len(items)) != s["facts"] {
		w.t.Errorf("%d facts are listed, status says %v", len(items), s["facts"])
	}
	seen := map[string]bool{}
	for _, i := range items {
		f := i.(object)
		if seen[f["text"].(string)] || fmt.Sprint(f["sources"]) != "[m1]" {
			w.t.Errorf("fact %v rests on %v", f["text"], f["sources"])
		}
		seen[f["text"].(string)] = true
	}
	if v := w.mustAsk("mem.admin.verify", `{"full":true}`); v["ok"] != true {
		w.t.Errorf("verify: %v", v["problems"])
	}
}

func TestDeadLetters(t *testing.T) {
	t.Parallel()

	t.Run("a letter reports the outcome of the event, and contains it", func(t *testing.T) {
		t.Parallel()
		w := newWard(t)
		d := w.letter
		payload, err := base64.StdEncoding.DecodeString(fmt.Sprint(d["payload"]))
		if err != nil || !strings.Contains(string(payload), `"new":[{"seq":1}]`) {
			t.Errorf("the payload is %s, %v", payload, err)
		}
		if d["stage"] != "extract" || d["bank"] != "alice" || d["session"] != "s" || d["attempts"] != 1.0 || d["stream"] != "MEM_WINDOWS" || d["seq"] != 1.0 ||
			d["subject"] != "mem.alice.window.s" || d["reason"] == "" || !strings.Contains(fmt.Sprint(d["output"]), "with pleasure!") || !strings.HasPrefix(fmt.Sprint(d["prompt"]), "extract/") {
			t.Errorf("the letter is %v", d)
		}
		first, err1 := time.Parse(time.RFC3339, fmt.Sprint(d["first"]))
		last, err2 := time.Parse(time.RFC3339, fmt.Sprint(d["last"]))
		if err1 != nil || err2 != nil || last.Before(first) {
			t.Errorf("first %v, last %v", d["first"], d["last"])
		}
		s := w.settle("alice")
		if s["dead"] != 1.0 || s["conservation"].(object)["dead"] != 1.0 {
			t.Errorf("status %v", s)
		}
		resp, err := http.Get("http://" + w.l.HTTP + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if body, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(body), `eunoe_stream_messages{stream="dead"} 1`) {
			t.Errorf("no metric counts the dead letters: %v", err)
		}
		if v := w.mustAsk("mem.admin.verify", `{"full":true}`); v["ok"] != true {
			t.Errorf("verify: %v", v["problems"])
		}
	})
	t.Run("sent again twice, it counts once", func(t *testing.T) {
		t.Parallel()
		w := newWard(t)
		if code := w.retry(); code != "" {
			t.Fatal(code)
		}
		if code := w.retry(); code != "404" {
			t.Errorf("the second time gave %q", code)
		}
		w.once()
	})
	t.Run("sent again by several at once, it counts once", func(t *testing.T) {
		t.Parallel()
		w := newWard(t)
		var wg sync.WaitGroup
		codes := make([]string, 6)
		for i := range codes {
			wg.Go(func() { codes[i] = w.retry() })
		}
		wg.Wait()
		for _, code := range codes {
			if code != "" && code != "404" {
				t.Errorf("got %q", code)
			}
		}
		w.once()
	})
	t.Run("with a second copy in flight, it counts once", func(t *testing.T) {
		t.Parallel()
		w := newWard(t)
		w.copyOf("another-id")
		if code := w.retry(); code != "" {
			t.Fatal(code)
		}
		w.copyOf("")
		w.once()
	})
	t.Run("killed between sending it and removing the letter, it counts once", func(t *testing.T) {
		t.Parallel()
		w := newWard(t)
		w.copyOf(fmt.Sprintf("retry:%v", w.letter["id"])) // what a retry does first
		if code := w.retry(); code != "" {
			t.Fatal(code)
		}
		w.once()
	})
	t.Run("sent again after the window was extracted anew, it changes nothing", func(t *testing.T) {
		t.Parallel()
		w := newWard(t)
		if r := w.mustAsk("mem.admin.reextract", `{"bank":"alice"}`); r["windows"] != 1.0 {
			t.Fatalf("re-extract: %v", r)
		}
		natstest.Eventually(t, "the facts of the new extraction", func() bool { return w.settle("alice")["facts"] != 0.0 })
		before := fmt.Sprint(w.mustAsk("mem.alice.list", `{"record":"fact"}`)["items"])
		if code := w.retry(); code != "" {
			t.Fatal(code)
		}
		w.once()
		if after := fmt.Sprint(w.mustAsk("mem.alice.list", `{"record":"fact"}`)["items"]); after != before {
			t.Errorf("before\n%s\nafter\n%s", before, after)
		}
	})
	t.Run("dropped, it stays dead until it is extracted anew", func(t *testing.T) {
		t.Parallel()
		w := newWard(t)
		if r := w.mustAsk("mem.admin.dead", `{"action":"drop","all":true,"bank":"alice","stage":"extract"}`); r["done"] != 1.0 {
			t.Errorf("drop: %v", r)
		}
		if s := w.settle("alice"); s["dead"] != 0.0 || s["conservation"].(object)["dead"] != 1.0 {
			t.Errorf("status %v", s)
		}
		w.mustAsk("mem.admin.reextract", `{"bank":"alice"}`)
		natstest.Eventually(t, "the facts of the new extraction", func() bool { return w.settle("alice")["facts"] != 0.0 })
		w.once()
	})
	t.Run("a write that waits for messages the log does not have is applied once when it has them", func(t *testing.T) {
		t.Parallel()
		l := startLocal(t, nil)
		w := &ward{plain: dial(t, l.URL), l: l}
		w.publish("mem.alice.message.s", `{"id":"m1","content":"Hello there.","speaker":"Alice"}`)
		const write = `{"op":"by-hand","upto":3,"facts":[{"id":"f_x","text":"Alice keeps bees.","kind":"world","type":"fact","ops":["by-hand"],"valid":[{"from":"2026-01-01T00:00:00Z"}],"said":"2026-01-01T00:00:00Z","confidence":1}]}`
		w.publish("mem.alice.write.retain", write)
		w.letter = w.onlyLetter()
		w.publish("mem.alice.message.s", `{"id":"m2","content":"Hello again.","speaker":"Alice"}`)
		w.publish("mem.alice.message.s", `{"id":"m3","content":"And again.","speaker":"Alice"}`)
		w.publish("mem.alice.flush.s", "")
		w.copyOf("")
		if code := w.retry(); code != "" {
			t.Fatal(code)
		}
		w.copyOf("")
		natstest.Eventually(t, "settled without dead letters", func() bool { return w.settle("alice")["dead"] == 0.0 })
		n := 0
		for _, i := range list(w.mustAsk("mem.alice.list", `{"record":"fact"}`)["items"]) {
			if i.(object)["text"] == "Alice keeps bees." {
				n++
			}
		}
		if n != 1 {
			t.Errorf("the fact is there %d times", n)
		}
		if v := w.mustAsk("mem.admin.verify", `{"full":true}`); v["ok"] != true {
			t.Errorf("verify: %v", v["problems"])
		}
	})
}
