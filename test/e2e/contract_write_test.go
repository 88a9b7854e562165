package e2e_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func (p plain) code(subject, body, want string) object {
	p.t.Helper()
	out, code := p.ask(subject, body)
	if code != want {
		p.t.Errorf("%s %.200s: code %q, want %q: %v", subject, body, code, want, out)
	}
	return out
}

func outcome(r object, i int) object {
	l := list(r["results"])
	if i >= len(l) {
		return object{}
	}
	return l[i].(object)
}

// TestWritesKeepTheirPromises checks the promises of every kind of write.
func TestWritesKeepTheirPromises(t *testing.T) {
	t.Parallel()
	p := dial(t, startLocal(t, nil).URL)

	t.Run("a key that is given another text supersedes", func(t *testing.T) {
		a := p.mustAsk("mem.key.retain", `{"facts":[{"key":"city","text":"Alice lives in Paris.","said":"2026-01-01T00:00:00Z"}]}`)
		b := p.mustAsk("mem.key.retain", `{"facts":[{"key":"city","text":"Alice lives in London.","said":"2026-03-01T00:00:00Z"}]}`)
		if outcome(a, 0)["outcome"] != "added" || outcome(b, 0)["outcome"] != "superseded" || a["write"] == nil {
			t.Fatalf("%v, %v", a, b)
		}
		now := p.mustAsk("mem.key.recall", `{"query":"Where does Alice live?"}`)
		if holds(texts(now), "Paris") || !holds(texts(now), "London") {
			t.Errorf("now %q", texts(now))
		}
		then := p.mustAsk("mem.key.recall", `{"query":"Where does Alice live?","as_of":"2026-02-01T00:00:00Z"}`)
		if !holds(texts(then), "Paris") || holds(texts(then), "London") {
			t.Errorf("then %q", texts(then))
		}
		id := outcome(b, 0)["id"].(string)
		h := p.mustAsk("mem.key.history", `{"id":"`+outcome(a, 0)["id"].(string)+`"}`)
		if fmt.Sprint(h["current"]) != "["+id+"]" || len(list(h["items"])) != 2 {
			t.Errorf("history %v", h)
		}
		c := p.mustAsk("mem.key.retain", `{"facts":[{"key":"city","text":"Alice lives in Paris.","said":"2026-05-01T00:00:00Z"}]}`)
		f := p.mustAsk("mem.key.get", `{"id":"`+outcome(a, 0)["id"].(string)+`"}`)
		if len(list(f["valid"])) != 2 || outcome(c, 0)["id"] != outcome(a, 0)["id"] {
			t.Errorf("Paris again: %v, %v", outcome(c, 0), f["valid"])
		}
		for at, want := range map[string]string{"2026-02-01": "Paris", "2026-04-01": "London", "2026-06-01": "Paris"} {
			got := texts(p.mustAsk("mem.key.recall", `{"query":"Where does Alice live?","as_of":"`+at+`T00:00:00Z"}`))
			if len(got) != 1 || !holds(got, want) {
				t.Errorf("as of %s: %q", at, got)
			}
		}
	})
	t.Run("the same fact again is merged, an op repeated changes nothing", func(t *testing.T) {
		p.mustAsk("mem.same.retain", `{"op":"one","facts":[{"text":"Bob plays chess."}]}`)
		r := p.mustAsk("mem.same.retain", `{"facts":[{"text":"bob  plays CHESS!"}]}`)
		if outcome(r, 0)["outcome"] != "merged" {
			t.Errorf("%v", r)
		}
		again := p.mustAsk("mem.same.retain", `{"op":"one","facts":[{"text":"Something else."}]}`)
		if again["op"] != "one" || outcome(again, 0)["outcome"] != "added" {
			t.Errorf("%v", again)
		}
		if n := len(facts(p, "same")); n != 1 {
			t.Errorf("%d facts", n)
		}
	})
	t.Run("an edit checks the version and makes a new one", func(t *testing.T) {
		r := p.mustAsk("mem.edit.retain", `{"facts":[{"text":"Carol owns a boat.","tags":["old"]}]}`)
		id := outcome(r, 0)["id"].(string)
		v := p.mustAsk("mem.edit.get", `{"id":"`+id+`"}`)["version"].(float64)
		e := p.mustAsk("mem.edit.edit", fmt.Sprintf(`{"id":%q,"version":%v,"tags":["New","sea"],"type":"preference"}`, id, v))
		if e["id"] != id || e["version"].(float64) <= v || e["write"] == nil || e["op"] == "" {
			t.Errorf("edit %v", e)
		}
		p.code("mem.edit.edit", fmt.Sprintf(`{"id":%q,"version":%v,"type":"event"}`, id, v), "409")
		f := p.mustAsk("mem.edit.get", `{"id":"`+id+`"}`)
		if f["type"] != "preference" || fmt.Sprint(f["tags"]) != "[new sea]" {
			t.Errorf("after the edit %v", f)
		}
		e = p.mustAsk("mem.edit.edit", fmt.Sprintf(`{"op":"e1","id":%q,"text":"Carol owns a yacht."}`, id))
		if e["id"] == id {
			t.Errorf("another text kept the id: %v", e)
		}
		same := p.mustAsk("mem.edit.edit", fmt.Sprintf(`{"op":"e1","id":%q,"text":"Carol owns a canoe."}`, id))
		if same["id"] != e["id"] || same["version"] != e["version"] {
			t.Errorf("%v, repeated %v", e, same)
		}
		got := texts(p.mustAsk("mem.edit.recall", `{"query":"What does Carol own?"}`))
		if !holds(got, "yacht") || holds(got, "boat") || holds(got, "canoe") {
			t.Errorf("%q", got)
		}
		kept := p.mustAsk("mem.edit.get", `{"id":"`+fmt.Sprint(e["id"])+`"}`)
		if fmt.Sprint(kept["tags"]) != "[new sea]" || kept["type"] != "preference" {
			t.Errorf("the new text lost what the old one had: %v", kept)
		}
		old := p.mustAsk("mem.edit.get", `{"id":"`+id+`"}`)
		if old["superseded_by"] != e["id"] {
			t.Errorf("old %v", old)
		}
	})
	t.Run("a bank is created, read and updated in parts, and create on one that exists is 409", func(t *testing.T) {
		p.code("mem.bk.bank", "{}", "404")
		b := p.mustAsk("mem.bk.bank", `{"create":true,"name":"N","mission":"M","disposition":{"skepticism":5,"literalism":1,"empathy":2}}`)
		if b["name"] != "N" || b["op"] == nil || b["write"] == nil {
			t.Errorf("made %v", b)
		}
		p.code("mem.bk.bank", `{"create":true,"name":"O"}`, "409")
		p.mustAsk("mem.bk.bank", `{"background":"B"}`)
		b = p.mustAsk("mem.bk.bank", "")
		if b["name"] != "N" || b["background"] != "B" || b["mission"] != "M" || b["disposition"].(object)["skepticism"] != 5.0 || b["op"] != nil {
			t.Errorf("read %v", b)
		}
		p.code("mem.bk.bank", `{"disposition":{"skepticism":0,"literalism":1,"empathy":2}}`, "400")
		p.code("mem.bk.bank", `{"disposition":{"skepticism":6,"literalism":1,"empathy":2}}`, "400")
		p.mustAsk("mem.bk.recall", `{"query":"anything"}`)
	})
	t.Run("a bank that does not exist is 404 at every endpoint that does not create one", func(t *testing.T) {
		for endpoint, body := range map[string]string{"recall": `{"query":"a"}`, "reflect": `{"query":"a"}`, "observe": `{}`, "consolidate": `{}`,
			"forget": `{"id":"x"}`, "feedback": `{"used":["x"]}`, "edit": `{"id":"x","text":"y"}`, "alias": `{"entity":"x","aliases":["y"]}`, "conflicts": `{}`, "bank": `{}`, "get": `{"id":"x"}`,
			"list": `{}`, "tree": `{}`, "entities": `{}`, "history": `{"id":"x"}`, "changes": `{}`, "status": `{}`} {
			p.code("mem.never."+endpoint, body, "404")
		}
		p.code("mem.admin.erase", `{"bank":"never"}`, "404")
		p.code("mem.never.status", `{}`, "404")
		for _, endpoint := range []string{"recall", "status", "bank", "retain"} {
			if _, err := p.nc.Request("mem.admin."+endpoint, []byte(`{"query":"a"}`), 3e9); err != nil {
				t.Logf("mem.admin.%s: %v", endpoint, err)
			} else {
				p.code("mem.admin."+endpoint, `{"query":"a","facts":[{"text":"x"}]}`, "400")
			}
		}
	})
	t.Run("conflicts open, resolve and dismiss", func(t *testing.T) {
		for i := range 2 {
			bank := fmt.Sprintf("conf%d", i)
			p.publish("mem."+bank+".message.s", `{"id":"a","speaker":"Ann","content":"Dan eats raw fish.","time":"2026-05-02T10:00:00Z"}`)
			p.publish("mem."+bank+".message.t", `{"id":"b","speaker":"Eve","content":"Dan does not eat raw fish.","time":"2026-05-02T10:00:00Z"}`)
			p.publish("mem."+bank+".flush.s", "")
			p.publish("mem."+bank+".flush.t", "")
			p.settle(bank)
			r := p.mustAsk("mem."+bank+".conflicts", `{"state":"open"}`)
			if len(list(r["items"])) == 0 {
				t.Fatalf("no conflict: %v", facts(p, bank))
			}
			c := list(r["items"])[0].(object)
			for _, k := range []string{"id", "a", "b", "reason", "state", "version", "facts"} {
				if _, ok := c[k]; !ok {
					t.Errorf("no %s in %v", k, c)
				}
			}
			id, _ := json.Marshal(c["id"])
			p.code("mem."+bank+".conflicts", fmt.Sprintf(`{"id":%s,"version":999,"dismiss":true}`, id), "409")
			p.code("mem."+bank+".conflicts", fmt.Sprintf(`{"id":%s,"winner":"f_other"}`, id), "400")
			p.code("mem."+bank+".conflicts", `{"id":"x_none","dismiss":true}`, "404")
			decide := fmt.Sprintf(`{"id":%s,"version":%v,"winner":%q}`, id, c["version"], c["a"])
			if i == 1 {
				decide = fmt.Sprintf(`{"id":%s,"version":%v,"dismiss":true}`, id, c["version"])
			}
			d := p.mustAsk("mem."+bank+".conflicts", decide)
			want := []string{"resolved", "dismissed"}[i]
			if d["state"] != want || d["write"] == nil || d["id"] != c["id"] {
				t.Errorf("decided %v", d)
			}
			if n := len(list(p.mustAsk("mem."+bank+".conflicts", `{"state":"open"}`)["items"])); n != 0 {
				t.Errorf("%d open", n)
			}
			if n := len(list(p.mustAsk("mem."+bank+".conflicts", `{"state":"`+want+`"}`)["items"])); n != 1 {
				t.Errorf("%d %s", n, want)
			}
			b, code := p.ask("mem."+bank+".conflicts", fmt.Sprintf(`{"id":%s,"dismiss":true}`, id))
			if code != "409" {
				t.Errorf("deciding again: %s %v", code, b)
			}
			if n := len(facts(p, bank)); n != 2-(1-i) {
				t.Errorf("%s: %d live facts", want, n)
			}
		}
	})
	t.Run("feedback moves ranking and never content", func(t *testing.T) {
		r := p.mustAsk("mem.fb.retain", `{"facts":[{"text":"Fay likes green tea.","said":"2026-01-01T00:00:00Z"},{"text":"Fay likes black tea.","said":"2026-01-01T00:00:00Z"}]}`)
		second := outcome(r, 1)["id"].(string)
		q := `{"query":"Which tea does Fay like?","now":"2026-06-01T00:00:00Z"}`
		before := p.mustAsk("mem.fb.recall", q)
		last := second
		f := p.mustAsk("mem.fb.feedback", `{"op":"f","recall":"`+before["recall"].(string)+`","retrieved":["`+last+`"],"used":["`+last+`"],"outcome":"success","note":"good"}`)
		if f["op"] != "f" || f["write"] == nil {
			t.Errorf("%v", f)
		}
		after := p.mustAsk("mem.fb.recall", fmt.Sprintf(`{"query":"Which tea does Fay like?","now":"2026-06-01T00:00:00Z","after_write":%v}`, f["write"]))
		a, _ := json.Marshal(before["items"])
		b, _ := json.Marshal(after["items"])
		if string(a) == string(b) {
			t.Errorf("feedback changed no score: %s", a)
		}
		if len(ids(before)) != len(ids(after)) || !holds(ids(after), second) {
			t.Errorf("%v, then %v", ids(before), ids(after))
		}
		refused, code := p.ask("mem.fb.feedback", `{"retrieved":["`+last+`"],"used":["`+last+`","no-such-record"]}`)
		if e, _ := refused["error"].(object); code != "404" || e["field"] != "used.1" {
			t.Errorf("feedback for what is not there is answered %s: %v", code, refused)
		}
	})
	t.Run("consolidate waits for three facts and observe adds no duplicate", func(t *testing.T) {
		p.mustAsk("mem.con.retain", `{"facts":[{"text":"Gus likes jazz music.","type":"preference","speaker":"Gus","entities":["person:gus"]}]}`)
		r := p.mustAsk("mem.con.consolidate", `{}`)
		if r["ran"] != false {
			t.Errorf("%v", r)
		}
		r = p.mustAsk("mem.con.consolidate", `{"force":true}`)
		if r["ran"] != true || r["op"] == nil || r["facts"] == nil || r["composites"] == nil || r["observations"] == nil {
			t.Errorf("%v", r)
		}
		p.mustAsk("mem.con.retain", `{"facts":[{"text":"Gus enjoys jazz concerts a lot.","type":"preference","speaker":"Gus","entities":["person:gus"]},{"text":"Gus collects jazz records.","type":"preference","speaker":"Gus","entities":["person:gus"]},{"text":"Gus plays jazz piano.","type":"preference","speaker":"Gus","entities":["person:gus"]}]}`)
		r = p.mustAsk("mem.con.consolidate", `{}`)
		if r["ran"] != true {
			t.Errorf("three waiting: %v", r)
		}
		a := p.mustAsk("mem.con.observe", `{}`)
		b := p.mustAsk("mem.con.observe", `{"types":["preference","pattern"],"min_confidence":0}`)
		n := len(list(p.mustAsk("mem.con.list", `{"record":"observation"}`)["items"]))
		p.mustAsk("mem.con.observe", `{}`)
		if m := len(list(p.mustAsk("mem.con.list", `{"record":"observation"}`)["items"])); m != n {
			t.Errorf("%d observations became %d", n, m)
		}
		if a["observations"] == nil || b["observations"] == nil {
			t.Error("null observations")
		}
		o := p.mustAsk("mem.con.observe", `{"observations":[{"type":"risk","text":"Gus may go deaf.","reasoning":"loud","confidence":0.4}]}`)
		if len(list(o["observations"])) != 1 || list(o["observations"])[0].(object)["type"] != "risk" {
			t.Errorf("%v", o)
		}
		got := p.mustAsk("mem.con.recall", `{"query":"deaf","records":["observation"]}`)
		if !holds(texts(got), "deaf") {
			t.Errorf("%v", got)
		}
		if k := list(p.mustAsk("mem.con.list", `{"record":"observation","kinds":["observation"]}`)["items"]); len(k) == 0 {
			t.Error("no observation of the kind observation")
		}
		for _, f := range []string{`"types":["risk"]`, `"kinds":["observation","world"],"types":["risk","event"]`, `"kinds":["observation"],"as_of":"9000-01-01T00:00:00Z"`} {
			if got := texts(p.mustAsk("mem.con.recall", `{"query":"deaf",`+f+`}`)); !holds(got, "deaf") {
				t.Errorf("recall with %s: %q", f, got)
			}
		}
		for _, f := range []string{`"types":["event"]`, `"kinds":["world"]`, `"speakers":["gus"]`, `"as_of":"2000-01-01T00:00:00Z"`} {
			if got := texts(p.mustAsk("mem.con.recall", `{"query":"deaf",`+f+`}`)); holds(got, "deaf") {
				t.Errorf("recall with %s: %q", f, got)
			}
		}
		if k := list(p.mustAsk("mem.con.list", `{"record":"observation","types":["risk"]}`)["items"]); len(k) != 1 {
			t.Errorf("%d observations of the type risk, want 1", len(k))
		}
	})
	t.Run("a wait that expires is 504 with the op, and repeating it returns the answer", func(t *testing.T) {
		const late = `{"wait":"0s","text":"Hal keeps owls in a barn.","session":"s","time":"2026-02-02T00:00:00Z"}`
		r, code := p.ask("mem.slow.retain", late)
		for i := 0; code == "" && i < 20; i++ { // now and then the outcome is there before it is first looked for
			p.mustAsk("mem.slow.forget", fmt.Sprintf(`{"id":%q}`, r["op"]))
			r, code = p.ask("mem.slow.retain", late)
		}
		if code == "" {
			t.Fatalf("a wait of nothing never passed: %v", r)
		}
		e := r["error"].(object)
		if code != "504" || e["op"] == nil || e["op"] == "" {
			t.Fatalf("%s %v", code, r)
		}
		again := p.mustAsk("mem.slow.retain", fmt.Sprintf(`{"op":%q,"wait":"60s","text":"Hal keeps owls in a barn.","session":"s"}`, e["op"]))
		if len(list(again["results"])) != 1 || outcome(again, 0)["outcome"] != "added" {
			t.Errorf("%v", again)
		}
		m := p.mustAsk("mem.slow.get", fmt.Sprintf(`{"id":%q}`, e["op"]))
		if m["session"] != "s" || m["said"] != "2026-02-02T00:00:00Z" {
			t.Errorf("%v", m)
		}
		r, code = p.ask("mem.slow.retain", `{"wait":"0s","op":"w1","facts":[{"text":"Hal has two barns."}]}`)
		if code != "" && (code != "504" || r["error"].(object)["op"] != "w1") {
			t.Errorf("%s %v", code, r)
		}
	})
	t.Run("a reply or a request that is too large is 413", func(t *testing.T) {
		big := strings.Repeat("lorem ipsum dolor ", 880)
		for i := range 80 { // carried and not extracted
			p.publish("mem.large.message.s", fmt.Sprintf(`{"recalled":true,"content":"Number %d: lorem","metadata":{"note":%q}}`, i, big))
		}
		p.publish("mem.large.flush.s", "")
		p.settle("large")
		r := p.code("mem.large.list", `{"record":"message","limit":1000}`, "413")
		if e, _ := r["error"].(object); !strings.Contains(fmt.Sprint(e["message"]), "limit") {
			t.Errorf("%v", r)
		}
		p.mustAsk("mem.large.list", `{"record":"message","limit":20}`)
		r = p.code("mem.large.recall", `{"query":"lorem","max_facts":1000,"max_tokens":1000000}`, "413")
		if e, _ := r["error"].(object); !strings.Contains(fmt.Sprint(e["message"]), "max_") {
			t.Errorf("%v", r)
		}
	})
}
