package trace_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/test/scriptedmodel"
)

const (
	secret  = "sk-proj-Zq8wLr2TnV5xKc9YbM3dHf7JpQ1sGa6UeWoXiN4t"
	key     = "the-key-of-the-model"
	message = "I moved to Lisbon in May with my tortoise Balthazar. My key is " + secret
)

func dial(t *testing.T, url string) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// traced is a trace started by a bot: its header, its id and the bot's span.
type traced struct{ header, id, span string }

func begun(n int) traced {
	id, at := fmt.Sprintf("%032x", 0xabc000+n), fmt.Sprintf("%016x", 0xdef000+n)
	return traced{"00-" + id + "-" + at + "-01", id, at}
}

func ask(t *testing.T, nc *nats.Conn, tr traced, subject, body string) string {
	t.Helper()
	msg := nats.NewMsg(subject)
	msg.Data = []byte(body)
	if tr.header != "" {
		msg.Header.Set("traceparent", tr.header)
	}
	r, err := nc.RequestMsg(msg, 20*time.Second)
	if err != nil {
		t.Fatalf("%s: %v", subject, err)
	}
	return string(r.Data)
}

func say(t *testing.T, nc *nats.Conn, tr traced, id, text string) {
	t.Helper()
	body, err := json.Marshal(map[string]string{"id": id, "speaker": "Alice", "content": text})
	if err != nil {
		t.Fatal(err)
	}
	if got := ask(t, nc, tr, "mem.alice.message.chat", string(body)); !strings.Contains(got, `"seq"`) {
		t.Fatalf("publish: %s", got)
	}
}

func TestOneProcess(t *testing.T) {
	t.Parallel()
	model := scriptedmodel.Start(t, nil)
	file := newTraces(t)
	set := apptest.Settings(t, map[string]string{
		"TRACE": "file:" + file.path, "TRIGGER_EVERY": "2", "MODEL": "openai:small", "MODEL_URL": model.URL, "MODEL_KEY": key,
		"EMBED": "openai:vectors", "EMBED_URL": model.URL, "RERANK_URL": strings.TrimSuffix(model.URL, "/v1") + "/rerank",
	})
	set.ModelRetries = 0
	l := apptest.Start(t, set)
	nc := dial(t, l.URL)
	changes, err := nc.SubscribeSync("mem.alice.change.fact")
	if err != nil {
		t.Fatal(err)
	}
	first, second := begun(1), begun(2)
	say(t, nc, first, "m1", message)
	say(t, nc, second, "m2", "My sister Nora lives in Bergen with a parrot called Archimedes.")

	t.Run("a conversation is one trace from the bot's span to the change events", func(t *testing.T) {
		change, err := changes.NextMsg(30 * time.Second)
		if err != nil {
			t.Fatal(err)
		}
		whole := []string{"cut window", "extract window", "append write", "commit write", "publish changes"}
		list := file.of(first.id, linked(first.span, whole...))
		told := chain(t, list, first.span, whole...)
		chain(t, list, first.span, "cut window", "extract window", "model call")
		chain(t, list, first.span, "cut window", "extract window", "embed facts", "model call")
		chain(t, list, first.span, "commit message", "publish changes")
		if want := "00-" + first.id + "-" + told.SpanContext.SpanID + "-01"; change.Header.Get("traceparent") != want {
			t.Errorf("the change carries %q, expected %q", change.Header.Get("traceparent"), want)
		}
		window := named(list, "cut window")[0]
		if len(window.Links) != 1 || window.Links[0].SpanContext.TraceID != second.id || window.Links[0].SpanContext.SpanID != second.span {
			t.Errorf("the window's links are %+v", window.Links)
		}
		if window.attribute("eunoe.bank") != "alice" || window.attribute("eunoe.session") != "chat" || window.attribute("eunoe.count") != 2.0 || window.attribute("eunoe.window") == nil {
			t.Errorf("the window says %+v", window.Attributes)
		}
		call := chain(t, list, chain(t, list, first.span, "cut window", "extract window").SpanContext.SpanID, "model call")
		if call.attribute("eunoe.stage") != "extract" || call.attribute("eunoe.model") != "openai:small" || call.attribute("eunoe.attempt") != 1.0 ||
			call.attribute("eunoe.tokens.prompt").(float64) < 10 || call.attribute("eunoe.outcome") != "ok" {
			t.Errorf("the call says %+v", call.Attributes)
		}
		file.of(second.id, has("commit message"))
	})

	t.Run("the steps of a recall are its child spans", func(t *testing.T) {
		asked := begun(3)
		if got := ask(t, nc, asked, "mem.alice.recall", `{"query":"Where does Alice live with Balthazar?"}`); !strings.Contains(got, "Lisbon") {
			t.Fatalf("recall: %s", got)
		}
		want := []string{"embed query", "keyword over facts", "semantic", "keyword over messages", "entity", "temporal", "graph", "keyword over composites", "fuse", "rerank", "pack"}
		list := file.of(asked.id, has(append(want, "recall")...))
		recall := chain(t, list, asked.span, "recall")
		for _, name := range want {
			chain(t, list, recall.SpanContext.SpanID, name)
		}
		chain(t, list, recall.SpanContext.SpanID, "embed query", "model call")
		chain(t, list, recall.SpanContext.SpanID, "rerank", "model call")
		if recall.attribute("eunoe.code") != 200.0 || recall.attribute("eunoe.count").(float64) < 1 {
			t.Errorf("the recall says %+v", recall.Attributes)
		}
	})

	t.Run("the model calls of an answer are its child spans", func(t *testing.T) {
		asked := begun(4)
		ask(t, nc, asked, "mem.alice.reflect", `{"query":"Where does Alice live?"}`)
		file.of(asked.id, linked(asked.span, "reflect", "model call"))
	})

	t.Run("the trace of a write request continues through the log", func(t *testing.T) {
		asked := begun(5)
		ask(t, nc, asked, "mem.alice.retain", `{"facts":[{"text":"Alice plays the viola da gamba."}]}`)
		file.of(asked.id, linked(asked.span, "retain", "append write", "commit write", "publish changes"))
		asked = begun(6)
		ask(t, nc, asked, "mem.alice.retain", `{"text":"I was given a clavichord by my aunt Philippa."}`)
		file.of(asked.id, linked(asked.span, "retain", "publish message", "cut window", "extract window", "append write", "commit write", "publish changes"))
	})

	t.Run("a failed request is marked as failed without the reason", func(t *testing.T) {
		asked := begun(7)
		ask(t, nc, asked, "mem.alice.recall", `{"query":"Where is Balthazar?","max_facts":-1}`)
		got := chain(t, file.of(asked.id, has("recall")), asked.span, "recall")
		if got.Status.Code != "Error" || got.attribute("eunoe.code") != 400.0 {
			t.Errorf("%+v", got)
		}
	})

	t.Run("a header that is malformed is ignored", func(t *testing.T) {
		if got := ask(t, nc, traced{header: "00-nonsense"}, "mem.alice.recall", `{"query":"Lisbon"}`); strings.Contains(got, `"error"`) {
			t.Errorf("recall: %s", got)
		}
		say(t, nc, traced{header: strings.Repeat("0", 600)}, "m9", "I also bought a kayak.")
	})

	t.Run("no span contains message text, questions, answers or keys", func(t *testing.T) {
		text := string(file.raw())
		for _, word := range []string{"Lisbon", "tortoise", "Balthazar", "Bergen", "parrot", "Archimedes", "viola", "clavichord", "Philippa", "kayak", "Where", secret, secret[8:20], key, "Nora"} {
			if strings.Contains(strings.ToLower(text), strings.ToLower(word)) {
				t.Errorf("%q is in the spans", word)
			}
		}
	})
}

func TestOffLeavesNoTrace(t *testing.T) {
	t.Parallel()
	l := apptest.Start(t, apptest.Settings(t, nil))
	nc := dial(t, l.URL)
	changes, err := nc.SubscribeSync("mem.alice.change.*")
	if err != nil {
		t.Fatal(err)
	}
	say(t, nc, begun(1), "m1", "I moved to Lisbon in May.")
	say(t, nc, begun(2), "m2", "My sister Nora lives in Bergen.")
	for {
		m, err := changes.NextMsg(30 * time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if m.Header.Get("traceparent") != "" {
			t.Errorf("%s carries %q", m.Subject, m.Header.Get("traceparent"))
		}
		if strings.HasSuffix(m.Subject, ".fact") {
			break
		}
	}
}
