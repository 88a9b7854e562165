package e2e_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
)

func counts(s object) object { c, _ := s["conservation"].(object); return c }

// TestEveryMessageIsCountedOnce checks that unusual messages are each counted exactly once.
func TestEveryMessageIsCountedOnce(t *testing.T) {
	t.Parallel()
	l := startLocal(t, map[string]string{"ROLE_FILTER": "user"})
	p := dial(t, l.URL)

	t.Run("recalled, filtered, dead, duplicate, foreign and empty ones", func(t *testing.T) {
		say := func(body string) { p.publish("mem.c.message.s", body) }
		say(`{"id":"a","speaker":"Ann","content":"I live in Oslo."}`)
		say(`{"id":"a","content":"again"}`)
		say(`{"id":"r","recalled":true,"speaker":"Ann","content":"Ann owns seventeen walruses."}`)
		say(`{"id":"x","role":"assistant","content":"The capital of Norway is Oslo and I know it."}`)
		say(`{"content":1}`)
		say(`{"stream":"MEM_MESSAGES","seq":1}`)
		say(`{"stream":"MEM_MESSAGES","seq":1,"domain":"d","duplicate":true}`)
		p.publish("mem.c.flush.s", "")
		say(`{"id":"e","content":"Hello!"}`)
		p.publish("mem.c.flush.s", "")
		s := p.settle("c")
		want := object{"published": 6.0, "forgotten": 0.0, "dead": 1.0, "duplicate": 1.0, "throttled": 0.0, "skipped": 2.0, "committed": 1.0, "empty": 1.0, "pending": 0.0}
		if a, b := fmt.Sprint(counts(s)), fmt.Sprint(want); a != b {
			t.Errorf("conservation %s, want %s", a, b)
		}
		for _, k := range []string{"messages", "windows", "writes", "decisions", "dead", "facts", "composites", "observations", "entities", "settled", "lag", "waiting", "conservation"} {
			if _, ok := s[k]; !ok {
				t.Errorf("status has no %s", k)
			}
		}
		if s["dead"] != 1.0 || s["lag"] != "0s" || s["waiting"] == nil || s["facts"] != 1.0 {
			t.Errorf("status %v", s)
		}
		got := texts(p.mustAsk("mem.c.recall", `{"query":"walruses"}`))
		if !holds(got, "walruses") {
			t.Errorf("a message marked recalled is kept and found: %q", got)
		}
		p.mustAsk("mem.c.forget", `{"id":"r"}`)
		p.mustAsk("mem.c.forget", `{"id":"a"}`)
		s = p.settle("c")
		want = object{"published": 6.0, "forgotten": 3.0, "dead": 1.0, "duplicate": 0.0, "throttled": 0.0, "skipped": 1.0, "committed": 0.0, "empty": 1.0, "pending": 0.0}
		if a, b := fmt.Sprint(counts(s)), fmt.Sprint(want); a != b {
			t.Errorf("after forgetting %s, want %s", a, b)
		}
	})
	t.Run("a bank that only was flushed, or only had foreign or dead events", func(t *testing.T) {
		p.publish("mem.fl.flush.s", "")
		p.publish("mem.fo.message.s", `{"stream":"MEM_MESSAGES","seq":1}`)
		p.publish("mem.de.message.s", `{"content":1}`)
		p.publish("mem.z.message.s", `{"content":"marker"}`)
		p.publish("mem.z.flush.s", ``)
		p.settle("z")
		for _, bank := range []string{"fl", "fo", "de"} {
			s, code := p.ask("mem."+bank+".status", "")
			t.Logf("%s: %s %v", bank, code, s)
			if code == "" && (s["settled"] != true || s["waiting"] == nil) {
				t.Errorf("%s: %v", bank, s)
			}
			if bank == "de" && (code != "" || counts(s)["dead"] != 1.0) {
				t.Errorf("%s: %s %v", bank, code, s)
			}
		}
	})
	t.Run("pending messages are reported until they are flushed, and settled is false meanwhile", func(t *testing.T) {
		seq := p.publish("mem.w.message.s1", `{"id":"one","speaker":"Ann","content":"I keep a parrot named Rio."}`)
		p.mustAsk("mem.w.recall", fmt.Sprintf(`{"query":"parrot","after":%d}`, seq))
		s := p.mustAsk("mem.w.status", "")
		w := list(s["waiting"])
		if s["settled"] != false || len(w) != 1 || w[0].(object)["session"] != "s1" || w[0].(object)["messages"] != 1.0 || w[0].(object)["until"] == "" {
			t.Errorf("status %v", s)
		}
		if c := counts(s); c["pending"] != 1.0 || s["messages"].(object)["last"] != float64(seq) {
			t.Errorf("status %v", s)
		}
		p.publish("mem.w.flush.s1", fmt.Sprintf(`{"upto":%d}`, seq-1))
		p.publish("mem.w.flush.other", "")
		if s := p.mustAsk("mem.w.status", ""); s["settled"] != false {
			t.Errorf("a void flush settled: %v", s)
		}
		p.publish("mem.w.flush.s1", fmt.Sprintf(`{"upto":%d}`, seq))
		p.settle("w")
	})
	t.Run("a throttled message is kept and counted", func(t *testing.T) {
		p.mustAsk("mem.th.bank", `{"quotas":{"messages_per_second":1}}`)
		var s object
		deadline := time.Now().Add(time.Minute)
		for i := 0; time.Now().Before(deadline); i++ { // the quota is in effect once ingest has learnt of it
			p.publish("mem.th.message.s", fmt.Sprintf(`{"id":"t%d","speaker":"Ann","content":"I own boat number %d called Nautilus%d."}`, i, i, i))
			p.publish("mem.th.flush.s", "")
			s = p.settle("th")
			if counts(s)["throttled"] != 0.0 && i >= 5 {
				break
			}
		}
		if c := counts(s); c["throttled"] == 0.0 || s["messages"].(object)["throttled"] != c["throttled"] || c["pending"] != 0.0 {
			t.Errorf("%v", s)
		}
		if got := texts(p.mustAsk("mem.th.recall", `{"query":"Nautilus5"}`)); !holds(got, "Nautilus5") {
			t.Errorf("a throttled message is searchable: %q", got)
		}
	})
}

// TestSettledIsNeverTrueTooEarly publishes, requests the status at once and, whenever it reports settled, counts the
// records that must exist.
func TestSettledIsNeverTrueTooEarly(t *testing.T) {
	t.Parallel()
	l := startLocal(t, nil)
	dial(t, l.URL)
	var wg sync.WaitGroup
	for b := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			nc, err := nats.Connect(l.URL)
			if err != nil {
				t.Error(err)
				return
			}
			defer nc.Close()
			p := plain{t, nc}
			bank := fmt.Sprintf("race%d", b)
			for i := range 25 {
				if _, err := nc.Request("mem."+bank+".message.s", []byte(fmt.Sprintf(`{"id":"m%d","speaker":"Ann","content":"I own vessel number %d called Q%dX."}`, i, i, i)), natstest.Patience); err != nil {
					t.Error(err)
					return
				}
				if i%3 != 1 {
					if _, err := nc.Request("mem."+bank+".flush.s", nil, natstest.Patience); err != nil {
						t.Error(err)
						return
					}
				} else if i%2 == 0 {
					continue
				}
				deadline := time.Now().Add(time.Minute)
				for settled := false; !settled && i%3 != 1; {
					s, code := p.ask("mem."+bank+".status", "")
					settled = code == "" && s["settled"] == true
					if !settled {
						if time.Now().After(deadline) {
							t.Errorf("%s did not settle at %d: %v", bank, i, s)
							return
						}
						continue
					}
					c := counts(s)
					if c["published"] != float64(i+1) || c["pending"] != 0.0 || c["committed"] != float64(i+1) {
						t.Errorf("settled after %d messages: %v", i+1, s)
					}
					r, _ := p.ask("mem."+bank+".recall", fmt.Sprintf(`{"query":"Q%dX","records":["fact"]}`, i))
					if !holds(texts(r), fmt.Sprintf("Q%dX", i)) {
						t.Errorf("settled, and message %d has no fact: %q", i, texts(r))
					}
				}
			}
		}()
	}
	wg.Wait()
}

// TestChangeEventsReportEveryOutcome checks the form of change events, and that the changes endpoint returns the same.
func TestChangeEventsReportEveryOutcome(t *testing.T) {
	t.Parallel()
	p := dial(t, startLocal(t, nil).URL)
	sub, err := p.nc.SubscribeSync("mem.ch.change.>")
	if err != nil {
		t.Fatal(err)
	}
	other, err := p.nc.SubscribeSync("mem.other.change.>")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.nc.Flush(); err != nil {
		t.Fatal(err)
	}
	said := p.publish("mem.ch.message.s", `{"id":"m1","speaker":"Xerxes","content":"I live in Persepolis with my brother Darius."}`)
	p.publish("mem.ch.flush.s", "")
	p.settle("ch")
	r := p.mustAsk("mem.ch.retain", `{"facts":[{"key":"k","text":"Xerxes owns a zither."},{"text":"Xerxes plays the zither daily."}]}`)
	p.mustAsk("mem.ch.retain", `{"facts":[{"key":"k","text":"Xerxes owns a lyre."}]}`)
	p.mustAsk("mem.ch.bank", `{"name":"Persia"}`)
	p.mustAsk("mem.ch.feedback", `{"used":["`+outcome(r, 0)["id"].(string)+`"],"outcome":"success"}`)
	p.mustAsk("mem.ch.observe", `{"observations":[{"type":"risk","text":"Xerxes may lose his ships."}]}`)
	f := p.mustAsk("mem.ch.forget", `{"id":"m1"}`)
	whats := map[string]int{}
	byID := map[string]object{}
	last := time.Now().Add(time.Minute)
	for whats["forget"] == 0 && time.Now().Before(last) {
		m, err := sub.NextMsg(natstest.Patience)
		if err != nil {
			break
		}
		what := m.Subject[strings.LastIndex(m.Subject, ".")+1:]
		whats[what]++
		for _, word := range []string{"Xerxes", "xerxes", "zither", "Persia", "persepolis", "Darius", "darius"} {
			if strings.Contains(string(m.Data), word) {
				t.Errorf("%s carries text: %s", m.Subject, m.Data)
			}
		}
		var c object
		if err := json.Unmarshal(m.Data, &c); err != nil {
			t.Fatal(err)
		}
		for _, k := range []string{"id", "op", "record", "time"} {
			if c[k] == nil || c[k] == "" {
				t.Errorf("%s has no %s: %s", m.Subject, k, m.Data)
			}
		}
		if !strings.Contains("added merged superseded updated removed", c["op"].(string)) {
			t.Errorf("op %v", c["op"])
		}
		if c["write"] == nil && c["message"] == nil {
			t.Errorf("neither write nor message: %s", m.Data)
		}
		if what == "message" && c["op"] == "added" && (c["record"] != "m1" || c["message"] != float64(said)) {
			t.Errorf("message change %s", m.Data)
		}
		if _, twice := byID[c["id"].(string)]; twice {
			t.Errorf("an id comes twice: %s", m.Data)
		}
		byID[c["id"].(string)] = c
	}
	for _, what := range []string{"message", "fact", "observation", "entity", "bank", "usage", "forget"} {
		if whats[what] == 0 {
			t.Errorf("no change.%s: %v", what, whats)
		}
	}
	seen, after := 0, 0.0
	for {
		page := p.mustAsk("mem.ch.changes", fmt.Sprintf(`{"after":%v,"limit":3}`, after))
		for _, v := range list(page["items"]) {
			c := v.(object)
			seq, _ := c["seq"].(float64)
			if seq <= after {
				t.Errorf("seq %v after %v", seq, after)
			}
			after = seq
			live := byID[c["id"].(string)]
			delete(c, "seq")
			a, _ := json.Marshal(c)
			b, _ := json.Marshal(live)
			if live != nil && string(a) != string(b) {
				t.Errorf("changes returns %s, the event was %s", a, b)
			}
			if live != nil {
				seen++
			}
		}
		if page["next"] == "" {
			break
		}
	}
	if seen != len(byID) {
		t.Errorf("changes returns %d of %d", seen, len(byID))
	}
	if f["upto"] == nil || f["messages"] != 1.0 {
		t.Errorf("receipt %v", f)
	}
	if m, err := other.NextMsg(50 * time.Millisecond); err == nil {
		t.Errorf("another bank's change: %s", m.Data)
	}
}

// TestChangesHoldsWhatSubscribersReceived asks for changes as soon as the first event of a large batch arrives, which is
// before the stream has stored the batch.
func TestChangesHoldsWhatSubscribersReceived(t *testing.T) {
	t.Parallel()
	p := dial(t, startLocal(t, nil).URL)
	sub, err := p.nc.SubscribeSync("mem.early.change.fact")
	if err != nil {
		t.Fatal(err)
	}
	var facts []string
	for i := range 200 {
		facts = append(facts, fmt.Sprintf(`{"text":"Locker %d belongs to Member%d."}`, i, i))
	}
	if err := p.nc.PublishRequest("mem.early.retain", p.nc.NewRespInbox(), []byte(`{"facts":[`+strings.Join(facts, ",")+`]}`)); err != nil {
		t.Fatal(err)
	}
	m, err := sub.NextMsg(natstest.Patience)
	if err != nil {
		t.Fatal(err)
	}
	var first object
	if err := json.Unmarshal(m.Data, &first); err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{fmt.Sprintf(`{"limit":1000,"received":%q}`, first["id"]), `{"limit":1000}`} {
		items := list(p.mustAsk("mem.early.changes", body)["items"])
		if !slices.ContainsFunc(items, func(v any) bool { return v.(object)["id"] == first["id"] }) {
			t.Errorf("the reply to changes %s lacks %s, which was received before: %d items", body, m.Data, len(items))
		}
	}
	if out, code := p.ask("mem.early.changes", `{"received":"a\u0000b"}`); code != "400" {
		t.Errorf("an id that is none: %v %s", out, code)
	}
}
