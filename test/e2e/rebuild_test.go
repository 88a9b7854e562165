package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/internal/app/offline"
	"github.com/eunoe-memory/eunoe/pkg/store"
)

// dump returns the logical dump of a closed store.
func dump(t *testing.T, path string) string {
	t.Helper()
	st, err := store.Open(store.Config{DSN: path, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	var b bytes.Buffer
	if err := st.Dump(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// history publishes messages and writes through every endpoint that changes the store.
func history(p plain) {
	p.t.Helper()
	converse(p, "talk", 120)
	p.settle("talk")
	p.mustAsk("mem.talk.bank", `{"name":"Talk","disposition":{"skepticism":4,"literalism":2,"empathy":3}}`)
	p.mustAsk("mem.talk.retain", `{"op":"r1","facts":[{"key":"k","text":"Alice's passport is valid until 2031.","type":"constraint"},{"text":"Ben plays the cello."}]}`)
	p.mustAsk("mem.talk.retain", `{"op":"r1","facts":[{"text":"A repeat of an op changes nothing."}]}`)
	p.mustAsk("mem.talk.retain", `{"facts":[{"key":"k","text":"Alice's passport is valid until 2036.","type":"constraint"}]}`)
	p.mustAsk("mem.talk.observe", `{}`)
	p.mustAsk("mem.talk.consolidate", `{"force":true}`)
	first := list(p.mustAsk("mem.talk.list", `{"record":"fact","limit":1}`)["items"])[0].(object)
	edit, _ := json.Marshal(object{"id": first["id"], "tags": []string{"checked"}, "pin": true})
	p.mustAsk("mem.talk.edit", string(edit))
	feedback, _ := json.Marshal(object{"retrieved": []any{first["id"]}, "used": []any{first["id"]}, "outcome": "success"})
	p.mustAsk("mem.talk.feedback", string(feedback))
	p.mustAsk("mem.talk.alias", `{"entity":"Alice","aliases":["Ben","爱丽丝"]}`)
	p.mustAsk("mem.talk.alias", `{"aliases":["person:ben"],"remove":true}`)
	p.mustAsk("mem.talk.apply", `{"changes":[{"op":"remember","as":"$n","text":"Carla tunes pianos.","entities":["person:Carla"]},{"op":"alias","entity":"Carla","aliases":["Charlie"]},
		{"op":"remember","text":"Charlie moved to Faro.","entities":["person:Charlie"]},{"op":"topic","ids":["$n"],"topic":"work"},{"op":"pin","id":"$n","pin":true}]}`)
	p.mustAsk("mem.talk.apply", `{"op":"back","changes":[{"op":"remember","as":"$r","text":"Carla rows in a club."},{"op":"alias","entity":"Carla","aliases":["Lotti"]},{"op":"merge","ids":["`+
		outcome(p.mustAsk("mem.talk.retain", `{"facts":[{"text":"Ben mends cellos."}]}`), 0)["id"].(string)+`","`+first["id"].(string)+`","$r"]}]}`)
	p.mustAsk("mem.talk.undo", `{"apply":"back"}`)
	if again := p.mustAsk("mem.talk.get", `{"id":"`+first["id"].(string)+`"}`); fmt.Sprint(again["sources"], again["valid"]) != fmt.Sprint(first["sources"], first["valid"]) {
		p.t.Errorf("taken back: %v, was %v", again, first)
	}
	p.mustAsk("mem.talk.apply", `{"op":"stays","changes":[{"op":"remember","text":"Carla fences on Mondays.","tags":["sport"]},{"op":"topic","ids":["`+first["id"].(string)+`"],"topic":"travel"}]}`)
	p.publish("mem.talk.message.s0", `{"id":"m0","content":"a duplicate id"}`)
	p.publish("mem.talk.message.s0", `{"content":5}`)
	p.publish("mem.talk.message.s0", `{"id":"better","speaker":"Alice","content":"I moved to Porto in April, not March.","replaces":"m4","time":"2026-03-03T09:00:00Z"}`)
	p.publish("mem.other.message.s", `{"speaker":"Zoe","content":"I run a bakery in Ghent."}`)
	p.publish("mem.talk.flush.s0", "")
	p.publish("mem.other.flush.s", "")
	p.settle("talk")
	p.settle("other")
}

func TestARebuildRestoresTheSameStore(t *testing.T) {
	t.Parallel()
	c := apptest.Settings(t, nil)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	l, err := local.Start(ctx, c, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	p := dial(t, l.URL)
	history(p)
	p.nc.Close()
	if err := l.Close(ctx); err != nil {
		t.Fatal(err)
	}
	before := dump(t, c.Store)
	if n := bytes.Count([]byte(before), []byte("\n")); n < 200 {
		t.Fatalf("the dump has %d lines", n)
	}
	for run := range 2 {
		if err := offline.Rebuild(ctx, c, nil); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(lines(before), lines(dump(t, c.Store))); diff != "" {
			t.Fatalf("rebuild %d differs (-live +rebuilt):\n%s", run+1, diff[max(0, len(diff)-6000):])
		}
	}
}

func lines(s string) []string {
	var out []string
	for _, l := range bytes.Split([]byte(s), []byte("\n")) {
		out = append(out, string(l))
	}
	return out
}

func TestARebuildAfterAForgetLacksTheForgotten(t *testing.T) {
	t.Parallel()
	c := apptest.Settings(t, nil)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	l, err := local.Start(ctx, c, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	p := dial(t, l.URL)
	converse(p, "talk", 60)
	p.publish("mem.talk.message.secret", `{"id":"secret","speaker":"Alice","content":"My safe opens with the word xylophonist."}`)
	p.publish("mem.talk.message.secret", `{"id":"other","speaker":"Alice","content":"I sing in the harbour choir."}`)
	p.publish("mem.talk.flush.secret", "")
	p.settle("talk")
	r := p.mustAsk("mem.talk.recall", `{"query":"xylophonist"}`)
	if len(list(r["items"])) == 0 {
		t.Fatal("nothing to forget was found")
	}
	f := p.mustAsk("mem.talk.forget", `{"id":"secret"}`)
	if f["receipt"] == nil && f["messages"] == nil {
		t.Errorf("no receipt: %v", f)
	}
	r = p.mustAsk("mem.talk.recall", `{"query":"xylophonist"}`)
	for _, it := range list(r["items"]) {
		if bytes.Contains([]byte(fmt.Sprint(it)), []byte("xylophonist")) {
			t.Errorf("recalled after a forget: %v", it)
		}
	}
	want := facts(p, "talk")
	waitErased(t, l, "xylophonist")
	p.nc.Close()
	if err := l.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if err := offline.Rebuild(ctx, c, nil); err != nil {
		t.Fatal(err)
	}
	again, err := local.Start(ctx, c, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close(ctx)
	q := dial(t, again.URL)
	q.settle("talk")
	if diff := cmp.Diff(want, facts(q, "talk")); diff != "" {
		t.Errorf("facts after a rebuild (-before +after):\n%s", diff)
	}
}
