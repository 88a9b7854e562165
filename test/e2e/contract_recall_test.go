package e2e_test

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
)

// texts returns the texts of a reply's items, in order.
func texts(r object) []string {
	out := []string{}
	for _, v := range list(r["items"]) {
		out = append(out, fmt.Sprint(v.(object)["text"]))
	}
	return out
}

// ids returns the ids of a reply's items, in order.
func ids(r object) []string {
	out := []string{}
	for _, v := range list(r["items"]) {
		out = append(out, fmt.Sprint(v.(object)["id"]))
	}
	return out
}

func holds(list []string, word string) bool {
	return strings.Contains(strings.Join(list, "\n"), word)
}

// TestRecallKeepsItsPromises checks each field of a recall on one small bank.
func TestRecallKeepsItsPromises(t *testing.T) {
	t.Parallel()
	p := dial(t, startLocal(t, nil).URL)
	p.publish("mem.r.message.one", `{"id":"m1","speaker":"Alice","topic":"Health","content":"I am allergic to shellfish.","time":"2026-05-02T12:00:00+02:00","metadata":{"channel":"general","n":{"a":[1,2]}}}`)
	p.publish("mem.r.message.one", `{"id":"m2","speaker":"Bob","topic":"Work","content":"I work at Acme as a welder.","time":"2026-05-03T10:00:00Z"}`)
	p.publish("mem.r.message.two", `{"id":"m3","speaker":"ALICE","content":"I bought a red kayak from Acme.","time":"2026-06-04T10:00:00Z"}`)
	p.publish("mem.r.message.two", `{"id":"m4","speaker":"Dora","images":[{"sha256":"9f86","caption":"a lighthouse on a cliff","media_type":"image/png"}],"time":"2026-06-05T10:00:00Z"}`)
	p.publish("mem.r.flush.one", "{}")
	p.publish("mem.r.flush.two", "")
	kept := p.mustAsk("mem.r.retain", `{"facts":[
		{"key":"k1","text":"Alice carries an adrenaline pen.","type":"procedure","tags":["Safety","Kit"],"entities":["person:Alice"],"speaker":"Alice","said":"2026-05-10T10:00:00Z","occurred":{"from":"2024-01-01T00:00:00Z","to":"2024-02-01T00:00:00Z"},"confidence":0.5,"sources":["m1"],"metadata":{"x":1}},
		{"key":"k2","text":"The agent prefers short answers about kayaks.","kind":"experience","type":"tool_affordance","tags":["style"]}]}`)
	for _, v := range list(kept["results"]) {
		if v.(object)["outcome"] != "added" {
			t.Errorf("retained right after its source was published: %v", v)
		}
	}
	p.settle("r")

	recall := func(body string) object { t.Helper(); return p.mustAsk("mem.r.recall", body) }
	t.Run("an item has the named fields", func(t *testing.T) {
		r := recall(`{"query":"adrenaline pen","explain":true}`)
		for _, k := range []string{"recall", "items", "tokens", "fresh", "seen", "degraded", "took"} {
			if _, ok := r[k]; !ok {
				t.Errorf("the reply has no %s", k)
			}
		}
		if len(list(r["items"])) == 0 {
			t.Fatal("nothing found")
		}
		f := list(r["items"])[0].(object)
		for _, k := range []string{"id", "record", "kind", "type", "text", "score", "entities", "speaker", "occurred", "said", "valid", "confidence", "children", "sources", "metadata", "explain"} {
			if _, ok := f[k]; !ok {
				t.Errorf("no %s in %v", k, f)
			}
		}
		if f["record"] != "fact" || f["type"] != "procedure" || f["confidence"] != 0.5 || f["said"] != "2026-05-10T10:00:00Z" {
			t.Errorf("item %v", f)
		}
		kw, _ := f["explain"].(object)["keyword"].(object)
		if kw["rank"] != 1.0 || kw["score"] == nil {
			t.Errorf("explain %v", f["explain"])
		}
	})
	t.Run("a message keeps its metadata and reports its time in UTC", func(t *testing.T) {
		m := p.mustAsk("mem.r.get", `{"id":"m1"}`)
		meta, _ := json.Marshal(m["metadata"])
		if m["said"] != "2026-05-02T10:00:00Z" || string(meta) != `{"channel":"general","n":{"a":[1,2]}}` || m["session"] != "one" || m["topic"] != "Health" {
			t.Errorf("message %v", m)
		}
	})
	t.Run("sources false leaves them out", func(t *testing.T) {
		for _, v := range list(recall(`{"query":"shellfish","sources":false}`)["items"]) {
			if s := list(v.(object)["sources"]); len(s) > 0 {
				t.Errorf("sources %v", s)
			}
		}
	})
	t.Run("explain is absent unless requested", func(t *testing.T) {
		if strings.Contains(fmt.Sprint(recall(`{"query":"shellfish"}`)), "explain") {
			t.Error("explain is there")
		}
	})
	for _, c := range []struct {
		filter     string
		want, lack []string
	}{
		{`"speakers":["alice"]`, []string{"shellfish", "kayak"}, []string{"welder", "lighthouse"}},
		{`"speakers":["bOB","dora"]`, []string{"welder", "lighthouse"}, []string{"shellfish", "red kayak"}},
		{`"topics":["health"]`, []string{"shellfish"}, []string{"welder", "kayak"}},
		{`"topics":["WORK","HEALTH"]`, []string{"shellfish", "welder"}, []string{"kayak"}},
		{`"tags":["SAFETY"]`, []string{"adrenaline"}, []string{"welder", "kayak"}},
		{`"tags":["kit","Style"]`, []string{"adrenaline", "short answers"}, []string{"welder"}},
		{`"tags":["kit"],"kinds":["experience"]`, nil, []string{"adrenaline", "short answers"}},
		{`"kinds":["experience"]`, []string{"short answers"}, []string{"adrenaline", "welder"}},
		{`"types":["procedure","tool_affordance"]`, []string{"adrenaline", "short answers"}, []string{"welder"}},
		{`"entities":["person:ALICE"]`, []string{"adrenaline", "shellfish"}, []string{"welder"}},
		{`"session":"two"`, []string{"red kayak", "lighthouse"}, []string{"welder", "shellfish", "adrenaline"}},
		{`"session":"none"`, nil, []string{"welder"}},
		{`"from":"2026-06-04T10:00:00Z","to":"2026-06-04T12:00:00+02:00"`, []string{"red kayak"}, []string{"welder", "lighthouse"}},
		{`"from":"2024-01-15T00:00:00Z","to":"2024-01-16T00:00:00Z"`, []string{"adrenaline"}, []string{"welder"}},
		{`"as_of":"2026-05-02T10:00:00Z"`, []string{"shellfish"}, []string{"welder", "kayak", "adrenaline"}},
		{`"as_of":"2026-05-03T09:59:59Z"`, []string{"shellfish"}, []string{"welder", "kayak", "adrenaline"}},
		{`"records":["message"]`, []string{"shellfish", "lighthouse"}, []string{"adrenaline"}},
		{`"speakers":["alice"],"topics":["health"],"session":"one"`, []string{"shellfish"}, []string{"kayak"}},
		{`"speakers":["alice"],"topics":["work"]`, nil, []string{"shellfish", "welder"}},
	} {
		t.Run(c.filter, func(t *testing.T) {
			query := `{"query":"shellfish welder Acme red kayak kayaks lighthouse cliff adrenaline pen short answers","max_facts":50,`
			r := recall(query + c.filter + `}`)
			got := texts(r)
			raw, _ := json.Marshal(r["items"])
			for _, w := range c.want {
				if !strings.Contains(string(raw), w) {
					t.Errorf("recall lacks %q: %q", w, got)
				}
			}
			for _, w := range c.lack {
				if strings.Contains(string(raw), w) {
					t.Errorf("recall holds %q: %q", w, got)
				}
			}
			if strings.Contains(c.filter, "records") {
				return
			}
			all := ""
			for _, rec := range []string{"fact", "composite", "observation", "message"} {
				raw, _ := json.Marshal(p.mustAsk("mem.r.list", `{"record":"`+rec+`",`+c.filter+`}`))
				all += string(raw)
			}
			for _, w := range c.want {
				if !strings.Contains(all, w) {
					t.Errorf("list lacks %q: %s", w, all)
				}
			}
			for _, w := range c.lack {
				if strings.Contains(all, w) {
					t.Errorf("list holds %q: %s", w, all)
				}
			}
		})
	}
	t.Run("max_facts and max_tokens bound the reply by whole items", func(t *testing.T) {
		r := recall(`{"query":"Alice Acme kayak shellfish adrenaline","max_facts":2}`)
		if n := len(list(r["items"])); n != 2 {
			t.Errorf("%d items", n)
		}
		r = recall(`{"query":"Alice Acme kayak shellfish adrenaline","max_tokens":9}`)
		if r["tokens"].(float64) > 9 {
			t.Errorf("tokens %v", r["tokens"])
		}
		r = recall(`{"query":"Alice Acme kayak shellfish","max_tokens":1}`)
		if len(list(r["items"])) != 0 || len(list(r["degraded"])) == 0 || !strings.Contains(fmt.Sprint(r["degraded"]), "token") {
			t.Errorf("a budget that fits nothing: %v", r)
		}
	})
	t.Run("min_score leaves out what is below", func(t *testing.T) {
		all := recall(`{"query":"Alice Acme kayak shellfish adrenaline"}`)
		confidence := all["confidence"].(float64)
		if confidence <= 0 || confidence > 1 {
			t.Fatalf("confidence %v", confidence)
		}
		scores := []float64{}
		for _, v := range list(all["items"]) {
			s := v.(object)["score"].(float64)
			if s < 0 || s > 1 {
				t.Errorf("score %v", s)
			}
			scores = append(scores, s)
		}
		cut := confidence * scores[len(scores)/2] / scores[0] * .99999
		r := recall(fmt.Sprintf(`{"query":"Alice Acme kayak shellfish adrenaline","min_score":%v}`, cut))
		for _, v := range list(r["items"]) {
			if s := v.(object)["score"].(float64); confidence*s/scores[0] < cut {
				t.Errorf("item below %v: %v", cut, v)
			}
		}
		if n := len(list(r["items"])); n < len(scores)/2+1 || n > len(scores) {
			t.Errorf("min_score left %d of %d items", n, len(scores))
		}
		if n := len(list(recall(fmt.Sprintf(`{"query":"Alice Acme kayak shellfish adrenaline","min_score":%v}`, confidence+(1-confidence)/2))["items"])); n != 0 {
			t.Errorf("%d items above the confidence", n)
		}
		if n := len(list(recall(`{"query":"Alice","min_score":1}`)["items"])); n > len(scores) {
			t.Errorf("%d items at min_score 1", n)
		}
	})
	t.Run("a vector of the right size is taken, as numbers and as base64", func(t *testing.T) {
		v := make([]float32, 384)
		v[3], v[77] = 2, -1
		numbers, _ := json.Marshal(v)
		raw := []byte{}
		for _, f := range v {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(f))
		}
		a := recall(`{"query":"x","vector":` + string(numbers) + `,"strategies":{"semantic":1}}`)
		b := recall(`{"query":"x","vector":"` + base64.StdEncoding.EncodeToString(raw) + `","strategies":{"semantic":1}}`)
		if fmt.Sprint(ids(a)) != fmt.Sprint(ids(b)) {
			t.Errorf("numbers %v, base64 %v", ids(a), ids(b))
		}
		for _, bad := range []string{"[]", `""`, `[1,"a"]`, `"!!!"`, `[1e999]`, `"AAA="`} {
			if _, code := p.ask("mem.r.recall", `{"query":"x","vector":`+bad+`}`); code != "400" && code != "409" {
				t.Errorf("vector %s: code %q", bad, code)
			}
		}
	})
	t.Run("each strategy works alone, and weights that are all zero are rejected", func(t *testing.T) {
		for _, s := range []string{"keyword", "semantic", "entity", "temporal", "graph", "recency"} {
			recall(`{"query":"What did Alice buy on 2026-06-04?","strategies":{"` + s + `":1}}`)
		}
		for _, bad := range []string{`{"keyword":0}`, `{}`, `{"keyword":-1}`, `{"keyword":1001}`} {
			if _, code := p.ask("mem.r.recall", `{"query":"x","strategies":`+bad+`}`); code != "400" {
				t.Errorf("strategies %s: %q", bad, code)
			}
		}
	})
	t.Run("a deadline is met and omitted steps are named", func(t *testing.T) {
		r := recall(`{"query":"Alice","deadline":"1ns"}`)
		if r["items"] == nil || len(list(r["degraded"])) == 0 || !strings.Contains(fmt.Sprint(r["degraded"]), "deadline") {
			t.Errorf("deadline of 1ns: %v", r)
		}
		r = recall(`{"query":"Alice","deadline":"200ms","after":999999}`)
		if r["fresh"] != false || r["items"] == nil {
			t.Errorf("deadline with after: %v", r)
		}
	})
	t.Run("after and after_write that are not reached return fresh false and the items so far", func(t *testing.T) {
		for _, f := range []string{`"after":99999999`, `"after_write":99999999`} {
			r := recall(`{"query":"shellfish","wait":"50ms",` + f + `}`)
			if r["fresh"] != false || !holds(texts(r), "shellfish") {
				t.Errorf("%s: %v", f, r)
			}
			r = p.mustAsk("mem.nobody.recall", `{"query":"shellfish","wait":"50ms",`+f+`}`)
			if r["fresh"] != false || r["items"] == nil || len(list(r["items"])) != 0 {
				t.Errorf("unknown bank, %s: %v", f, r)
			}
		}
		if _, code := p.ask("mem.nobody.recall", `{"query":"shellfish","after":1}`); code != "404" {
			t.Errorf("unknown bank with after reached: %q", code)
		}
		if _, code := p.ask("mem.nobody.reflect", `{"query":"shellfish"}`); code != "404" {
			t.Errorf("reflect on an unknown bank: %q", code)
		}
	})
	t.Run("the same question has the same answer", func(t *testing.T) {
		want := fmt.Sprint(ids(recall(`{"query":"Alice Acme kayak","now":"2026-07-01T00:00:00Z"}`)))
		for range 20 {
			if got := fmt.Sprint(ids(recall(`{"query":"Alice Acme kayak","now":"2026-07-01T00:00:00Z"}`))); got != want {
				t.Fatalf("%s, then %s", want, got)
			}
		}
	})
	t.Run("a recall writes nothing", func(t *testing.T) {
		before := p.mustAsk("mem.r.status", "")
		for range 5 {
			recall(`{"query":"Alice"}`)
		}
		after := p.mustAsk("mem.r.status", "")
		a, _ := json.Marshal(before)
		b, _ := json.Marshal(after)
		if string(a) != string(b) {
			t.Errorf("%s became %s", a, b)
		}
	})
	t.Run("reflect streams deltas, then the whole", func(t *testing.T) {
		inbox := p.nc.NewRespInbox()
		sub, err := p.nc.SubscribeSync(inbox)
		if err != nil {
			t.Fatal(err)
		}
		defer sub.Unsubscribe()
		if err := p.nc.PublishRequest("mem.r.reflect", inbox, []byte(`{"query":"What is Alice allergic to?","stream":true,"style":"context"}`)); err != nil {
			t.Fatal(err)
		}
		said := ""
		for {
			m, err := sub.NextMsg(natstest.Patience)
			if err != nil {
				t.Fatal(err)
			}
			var o object
			if err := json.Unmarshal(m.Data, &o); err != nil {
				t.Fatal(err)
			}
			if d, ok := o["delta"].(string); ok {
				said += d
				continue
			}
			if o["response"] != said || said == "" {
				t.Errorf("deltas %q, response %q", said, o["response"])
			}
			for _, k := range []string{"citations", "facts_used", "turns", "usage", "mode", "degraded"} {
				if _, ok := o[k]; !ok {
					t.Errorf("reflect has no %s", k)
				}
			}
			return
		}
	})
}
