package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
)

// token encodes a name as a subject token, as specified by the contract.
func token(name string) string {
	var b strings.Builder
	for _, c := range []byte(name) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

// TestNamesOfEveryFormWorkEndToEnd sends odd bank and session names through every stage.
func TestNamesOfEveryFormWorkEndToEnd(t *testing.T) {
	t.Parallel()
	p := dial(t, startLocal(t, nil).URL)
	names := []string{"!room:server.org", "日本", "alice@example.org", "a b", "*", ">", "$JS", "%41", "..", "_INBOX", "Admin", "admin2", "-", "é", "e\u0301",
		strings.Repeat("x", 128), strings.Repeat("日", 42), "a/b\\c", "'; DROP TABLE facts; --", `"q"`}
	for i, name := range names {
		bank := token(name)
		p.publish("mem."+bank+".message."+bank, fmt.Sprintf(`{"id":"m","speaker":"Ann","content":"I own instrument number %d called Zeta%d."}`, i, i))
		p.publish("mem."+bank+".flush."+bank, "")
	}
	for i, name := range names {
		bank := token(name)
		s := p.settle(bank)
		if s["facts"] != 1.0 {
			t.Errorf("%q: %v", name, s)
		}
		body, _ := json.Marshal(object{"query": "Which instrument does Ann own?", "session": name})
		r := p.mustAsk("mem."+bank+".recall", string(body))
		for _, text := range texts(r) {
			if !strings.Contains(text, fmt.Sprintf("Zeta%d.", i)) {
				t.Errorf("%q holds %q", name, text)
			}
		}
		if len(list(r["items"])) != 1 || list(r["items"])[0].(object)["session"] != name {
			t.Errorf("%q: %v", name, r)
		}
		if _, err := url.PathUnescape(bank); err != nil {
			t.Error(err)
		}
	}
	listed := map[string]bool{}
	cursor := ""
	for {
		page := p.mustAsk("mem.admin.banks", `{"limit":3,"cursor":"`+cursor+`"}`)
		for _, v := range list(page["items"]) {
			b := v.(object)
			id, _ := b["bank"].(string)
			if id == "" {
				id, _ = b["id"].(string)
			}
			listed[id] = true
		}
		if cursor, _ = page["next"].(string); cursor == "" {
			break
		}
	}
	for _, name := range names {
		if !listed[name] {
			t.Errorf("%q is not listed", name)
		}
	}
	for _, name := range []string{strings.Repeat("x", 129), "admin", "a\x00b", "\xff"} {
		if _, code := p.ask("mem."+strings.ReplaceAll(token(name), "admin", "%61dmin")+".recall", `{"query":"a"}`); code != "400" {
			t.Errorf("bank %.20q: %q", name, code)
		}
	}
	for _, name := range names {
		body, _ := json.Marshal(object{"session": name})
		f := p.mustAsk("mem."+token(name)+".forget", string(body))
		if f["messages"] != 1.0 || f["facts"] != 1.0 {
			t.Errorf("forget session %q: %v", name, f)
		}
	}
}

// TestForgettingKeepsItsPromises checks every target that a forget request may name.
func TestForgettingKeepsItsPromises(t *testing.T) {
	t.Parallel()
	l := startLocal(t, nil)
	p := dial(t, l.URL)
	say := func(bank, session, id, speaker, text string) uint64 {
		body, _ := json.Marshal(object{"id": id, "speaker": speaker, "content": text})
		return p.publish("mem."+bank+".message."+session, string(body))
	}
	flush := func(bank string, sessions ...string) {
		for _, s := range sessions {
			p.publish("mem."+bank+".flush."+s, "")
		}
		p.settle(bank)
	}
	gone := func(t *testing.T, bank, word string) {
		t.Helper()
		for _, rec := range []string{"fact", "message", "composite", "observation"} {
			raw, _ := json.Marshal(p.mustAsk("mem."+bank+".list", `{"record":"`+rec+`","limit":500}`))
			if strings.Contains(string(raw), word) {
				t.Errorf("%s still lists %q: %s", rec, word, raw)
			}
		}
		for _, q := range []string{"recall", "reflect"} {
			r := p.mustAsk("mem."+bank+"."+q, `{"query":"`+word+`"}`)
			raw, _ := json.Marshal(r)
			if strings.Contains(string(raw), word) {
				t.Errorf("%s still holds %q: %s", q, word, raw)
			}
		}
		raw, _ := json.Marshal(p.mustAsk("mem."+bank+".entities", `{"limit":500}`))
		if strings.Contains(strings.ToLower(string(raw)), strings.ToLower(word)) {
			t.Errorf("entities still hold %q: %s", word, raw)
		}
	}
	t.Run("forgetting a fact also forgets its source messages, and whatever rests on those alone", func(t *testing.T) {
		say("f1", "s", "a", "Ann", "I adopted a cat called Quixote. I live in Turku.")
		say("f1", "s", "b", "Ann", "I play the oboe.")
		flush("f1", "s")
		r := p.mustAsk("mem.f1.recall", `{"query":"Quixote","records":["fact"]}`)
		f := p.mustAsk("mem.f1.forget", `{"id":"`+ids(r)[0]+`"}`)
		for _, k := range []string{"op", "write", "upto", "messages", "facts", "composites", "observations", "events", "rewritten"} {
			if _, ok := f[k]; !ok {
				t.Errorf("the receipt has no %s: %v", k, f)
			}
		}
		if f["messages"] != 1.0 || f["facts"] != 2.0 || f["events"].(float64) < 2 {
			t.Errorf("receipt %v", f)
		}
		gone(t, "f1", "Quixote")
		gone(t, "f1", "Turku")
		if got := facts(p, "f1"); len(got) != 1 || !holds(got, "oboe") {
			t.Errorf("%q", got)
		}
		p.code("mem.f1.get", `{"id":"a"}`, "404")
		again := p.mustAsk("mem.f1.forget", `{"op":"`+f["op"].(string)+`","id":"`+ids(r)[0]+`"}`)
		if again["messages"] != f["messages"] || again["write"] != f["write"] {
			t.Errorf("%v, repeated %v", f, again)
		}
		p.code("mem.f1.forget", `{"id":"`+ids(r)[0]+`"}`, "404")
		waitErased(t, l, "Quixote")
		say("f1", "s", "c", "Ann", "I adopted a cat called Quixote.")
		flush("f1", "s")
		if got := facts(p, "f1"); len(got) != 2 || !holds(got, "Quixote") || !holds(got, "<- c") {
			t.Errorf("said again: %q", got)
		}
		p.publish("mem.f1.message.s", `{"id":"a","speaker":"Ann","content":"A forgotten id used again, Bartleby."}`)
		flush("f1", "s")
		if got := fmt.Sprint(counts(p.settle("f1"))); !strings.Contains(got, "pending:0") {
			t.Errorf("%s", got)
		}
	})
	t.Run("keep_messages erases the fact and leaves the message", func(t *testing.T) {
		say("f2", "s", "a", "Ann", "I collect stamps from Zanzibar.")
		say("f2", "s", "b", "Ben", "I play the oboe.")
		flush("f2", "s")
		r := p.mustAsk("mem.f2.recall", `{"query":"Zanzibar stamps","records":["fact"]}`)
		f := p.mustAsk("mem.f2.forget", `{"id":"`+ids(r)[0]+`","keep_messages":true}`)
		if f["messages"] != 0.0 || f["facts"] != 1.0 {
			t.Errorf("receipt %v", f)
		}
		if got := facts(p, "f2"); len(got) != 1 {
			t.Errorf("%q", got)
		}
		if got := texts(p.mustAsk("mem.f2.recall", `{"query":"Zanzibar stamps"}`)); !holds(got, "Zanzibar") {
			t.Errorf("the message went: %q", got)
		}
		p.code("mem.f2.forget", `{"session":"s","keep_messages":true}`, "400")
	})
	t.Run("a session and a speaker are forgotten completely, in flight or not", func(t *testing.T) {
		say("f3", "one", "a", "Ann", "I collect stamps from Zanzibar.")
		say("f3", "two", "b", "ann", "I keep a ferret called Mazarin.")
		say("f3", "two", "c", "Ben", "I play the oboe.")
		say("f3", "three", "d", "Ben", "I climbed mount Kebnekaise.")
		f := p.mustAsk("mem.f3.forget", `{"session":"three","wait":"60s"}`)
		if f["messages"] != 1.0 {
			t.Errorf("in flight: %v", f)
		}
		flush("f3", "one", "two", "three")
		gone(t, "f3", "Kebnekaise")
		f = p.mustAsk("mem.f3.forget", `{"speaker":"Ann"}`)
		if f["messages"] != 2.0 {
			t.Errorf("speaker, both spellings: %v", f)
		}
		gone(t, "f3", "Zanzibar")
		if got := facts(p, "f3"); len(got) > 2 || !holds(got, "oboe") {
			t.Errorf("%q", got)
		}
		f = p.mustAsk("mem.f3.forget", `{"session":"nowhere"}`)
		if f["messages"] != 0.0 || f["facts"] != 0.0 {
			t.Errorf("an unknown session: %v", f)
		}
	})
	t.Run("a fact that the forgotten one had superseded is valid again", func(t *testing.T) {
		p.mustAsk("mem.f4.retain", `{"facts":[{"key":"city","text":"Alice lives in Paris.","said":"2026-01-01T00:00:00Z"}]}`)
		r := p.mustAsk("mem.f4.retain", `{"facts":[{"key":"city","text":"Alice lives in Vaduz.","said":"2026-02-01T00:00:00Z"}]}`)
		p.mustAsk("mem.f4.forget", `{"id":"`+outcome(r, 0)["id"].(string)+`"}`)
		got := texts(p.mustAsk("mem.f4.recall", `{"query":"Where does Alice live?"}`))
		if !holds(got, "Paris") {
			t.Errorf("%q", got)
		}
		gone(t, "f4", "Vaduz")
		waitErased(t, l, "Vaduz")
		b := p.mustAsk("mem.f4.retain", `{"facts":[{"key":"city","text":"Alice lives in Vaduz.","said":"2026-03-01T00:00:00Z"}]}`)
		if o := outcome(b, 0)["outcome"]; o != "superseded" {
			t.Errorf("retained again: %v", b)
		}
	})
	t.Run("a message that replaces another ends it, and as_of before finds it", func(t *testing.T) {
		p.publish("mem.rep.message.s", `{"id":"a","speaker":"Ann","content":"I parked the truck in Malmo.","time":"2026-01-01T00:00:00Z"}`)
		p.publish("mem.rep.flush.s", "")
		p.publish("mem.rep.message.s", `{"id":"b","speaker":"Ann","content":"I parked the truck in Lund.","replaces":"a","time":"2026-02-01T00:00:00Z"}`)
		p.publish("mem.rep.message.s", `{"id":"c","speaker":"Ann","content":"I own a lathe.","replaces":"unknown","time":"2026-02-01T00:00:00Z"}`)
		p.publish("mem.rep.flush.s", "")
		p.settle("rep")
		now := texts(p.mustAsk("mem.rep.recall", `{"query":"Where is the truck parked?"}`))
		if holds(now, "Malmo") || !holds(now, "Lund") {
			t.Errorf("now %q", now)
		}
		for at, want := range map[string]string{"2026-01-15T00:00:00Z": "Malmo", "2026-02-01T00:00:00Z": "Lund", "2026-01-31T23:59:59Z": "Malmo"} {
			r := p.mustAsk("mem.rep.recall", `{"query":"Where is the truck parked?","as_of":"`+at+`"}`)
			raw, _ := json.Marshal(r["items"])
			for _, town := range []string{"Malmo", "Lund"} {
				if strings.Contains(string(raw), town) != (town == want) {
					t.Errorf("as of %s: %s", at, raw)
				}
			}
		}
	})
	t.Run("an operator erases a bank", func(t *testing.T) {
		say("f5", "s", "a", "Ann", "I collect stamps from Samarkand.")
		flush("f5", "s")
		p.mustAsk("mem.f5.retain", `{"facts":[{"text":"Ann once saw Samarkand by night."}]}`)
		p.code("mem.f5.forget", `{"bank":true}`, "400")
		f := p.mustAsk("mem.admin.erase", `{"bank":"f5"}`)
		if f["messages"] != 1.0 || f["facts"].(float64) < 2 {
			t.Errorf("receipt %v", f)
		}
		waitErased(t, l, "Samarkand")
		p.code("mem.f5.recall", `{"query":"Samarkand"}`, "404")
		p.code("mem.f5.status", ``, "404")
		p.code("mem.admin.erase", `{"bank":"f5"}`, "404")
		say("f5", "s", "a", "Ann", "I now collect coins.")
		flush("f5", "s")
		if got := facts(p, "f5"); len(got) != 1 {
			t.Errorf("the bank made anew: %q", got)
		}
	})
}

// TestRecallsDuringIngestSeeTheirOwnBank runs concurrent recalls while messages are ingested.
func TestRecallsDuringIngestSeeTheirOwnBank(t *testing.T) {
	t.Parallel()
	l := startLocal(t, nil)
	p := dial(t, l.URL)
	for b := range 2 {
		p.publish(fmt.Sprintf("mem.par%d.message.s", b), fmt.Sprintf(`{"speaker":"Ann","content":"The first word of realm%d."}`, b))
	}
	stop := make(chan struct{})
	var wg, pub sync.WaitGroup
	pub.Add(1)
	go func() {
		defer pub.Done()
		for i := range 1000 {
			select {
			case <-stop:
				return
			default:
			}
			b := i % 2
			if _, err := p.nc.Request(fmt.Sprintf("mem.par%d.message.s%d", b, i%3), []byte(fmt.Sprintf(`{"speaker":"Ann","content":"I own ship number %d of realm%d."}`, i, b)), natstest.Patience); err != nil {
				t.Error(err)
			}
		}
	}()
	for w := range 50 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			nc, err := nats.Connect(l.URL)
			if err != nil {
				t.Error(err)
				return
			}
			defer nc.Close()
			q := plain{t, nc}
			b := w % 2
			for i := range 6 {
				m, err := nc.Request(fmt.Sprintf("mem.par%d.message.w%d", b, w), []byte(fmt.Sprintf(`{"speaker":"W%d","content":"Own word k%dx%d of realm%d."}`, w, w, i, b)), natstest.Patience)
				if err != nil {
					t.Error(err)
					return
				}
				var ack struct{ Seq uint64 }
				_ = json.Unmarshal(m.Data, &ack)
				r, code := q.ask(fmt.Sprintf("mem.par%d.recall", b), fmt.Sprintf(`{"query":"Own word k%dx%d","after":%d,"wait":"60s"}`, w, i, ack.Seq))
				raw, _ := json.Marshal(r["items"])
				if code != "" || r["fresh"] != true || r["seen"].(float64) < float64(ack.Seq) || !strings.Contains(string(raw), fmt.Sprintf("k%dx%d", w, i)) {
					t.Errorf("recall %d-%d: %s %.300v", w, i, code, r)
				}
				if strings.Contains(string(raw), fmt.Sprintf("realm%d", 1-b)) {
					t.Errorf("bank %d sees the other: %s", b, raw)
				}
			}
		}()
	}
	wg.Wait()
	close(stop)
	pub.Wait()
}
