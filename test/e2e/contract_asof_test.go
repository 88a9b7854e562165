package e2e_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestAsOfHoldsInEveryRecord queries every kind of record as of a time before a correction.
func TestAsOfHoldsInEveryRecord(t *testing.T) {
	t.Parallel()
	p := dial(t, startLocal(t, nil).URL)
	say := func(id, at, text string) {
		p.publish("mem.ao.message.s", fmt.Sprintf(`{"id":%q,"speaker":"Ann","content":%q,"time":%q}`, id, text, at))
	}
	say("a", "2026-01-01T10:00:00Z", "I like hiking in the Alps.")
	say("b", "2026-01-02T10:00:00Z", "I like hiking in the Alps with Tom.")
	say("c", "2026-01-03T10:00:00Z", "I really like hiking in the Alps in summer.")
	say("d", "2026-01-04T10:00:00Z", "I live in Paris.")
	say("e", "2026-03-04T10:00:00Z", "I moved to London.")
	say("f", "2026-03-05T10:00:00Z", "I enjoy hiking in the Alps in winter.")
	say("g", "2026-01-02T11:00:00Z", "On Sundays I mend old wooden clocks behind the stone house near the river bank.")
	say("h", "2026-03-06T10:00:00Z", "On Sundays I mend old wooden clocks behind the small stone house near the river bank.")
	p.publish("mem.ao.flush.s", "")
	p.settle("ao")
	p.mustAsk("mem.ao.observe", `{}`)
	if n := len(list(p.mustAsk("mem.ao.list", `{"record":"composite"}`)["items"])); n == 0 {
		t.Error("no composite to test with")
	}
	for _, rec := range []string{`["fact"]`, `["composite"]`, `["observation"]`, `["message"]`, `["fact","composite","observation","message"]`} {
		for _, c := range []struct {
			at         string
			have, lack []string
		}{
			{"2025-12-31T00:00:00Z", nil, []string{"hiking", "Paris", "London"}},
			{"2026-01-01T12:00:00Z", nil, []string{"Tom", "summer", "winter", "Paris", "London"}},
			{"2026-02-01T00:00:00+05:00", []string{"Paris", "behind the stone house"}, []string{"London", "winter", "small stone"}},
			{"2026-04-01T00:00:00Z", []string{"London", "small stone house"}, []string{"I live in Paris|Ann lives in Paris"}},
		} {
			r := p.mustAsk("mem.ao.recall", fmt.Sprintf(`{"query":"hiking Alps Tom summer winter Paris London live moved stone house","max_facts":50,"records":%s,"as_of":%q}`, rec, c.at))
			raw, _ := json.Marshal(texts(r))
			for _, w := range c.lack {
				for _, w := range strings.Split(w, "|") {
					if strings.Contains(string(raw), w) && !(rec != `["fact"]` && strings.Contains(w, "Paris") && c.at > "2026-03") {
						t.Errorf("%s as of %s holds %q: %s", rec, c.at, w, raw)
					}
				}
			}
			for _, w := range c.have {
				if strings.Contains(rec, "fact") && !strings.Contains(string(raw), w) {
					t.Errorf("%s as of %s lacks %q: %s", rec, c.at, w, raw)
				}
			}
		}
	}
	now := p.mustAsk("mem.ao.recall", `{"query":"Where does Ann live?","records":["fact"]}`)
	if got := texts(now); holds(got, "Paris") || !holds(got, "London") {
		t.Errorf("now %q", got)
	}
	// A composite lists existing children and sources only.
	for _, v := range list(p.mustAsk("mem.ao.list", `{"record":"composite"}`)["items"]) {
		c := v.(object)
		sources := map[string]bool{}
		for _, id := range list(c["children"]) {
			f := p.mustAsk("mem.ao.get", fmt.Sprintf(`{"id":%q}`, id))
			for _, s := range list(f["sources"]) {
				sources[s.(string)] = true
			}
		}
		if len(sources) != len(list(c["sources"])) {
			t.Errorf("composite sources %v, leaves' %v", c["sources"], sources)
		}
	}
	// Equal content is returned once.
	seen := map[string]bool{}
	for _, v := range list(p.mustAsk("mem.ao.recall", `{"query":"Does Ann live in London?","records":["fact","message"]}`)["items"]) {
		for _, s := range list(v.(object)["sources"]) {
			if seen[s.(string)] {
				t.Errorf("message %s stands behind two items", s)
			}
			seen[s.(string)] = true
		}
	}
}

// TestABanksSettingsTakeEffect sets the window size and the quotas of a bank.
func TestABanksSettingsTakeEffect(t *testing.T) {
	t.Parallel()
	p := dial(t, startLocal(t, nil).URL)
	p.mustAsk("mem.q.bank", `{"quotas":{"facts":2}}`)
	r := p.mustAsk("mem.q.retain", `{"facts":[{"key":"1","text":"Ann owns a harp."},{"key":"2","text":"Ben owns a drum."},{"key":"3","text":"Cy owns a horn."}]}`)
	got := []string{}
	for i := range 3 {
		got = append(got, fmt.Sprint(outcome(r, i)["outcome"]))
	}
	if strings.Join(got, " ") != "added added refused" || outcome(r, 2)["reason"] == "" {
		t.Errorf("%v", r)
	}
	b := p.mustAsk("mem.q.bank", `{"windows":{"role_filter":["assistant"],"trigger_every":1}}`)
	seq := p.publish("mem.q.message.s", `{"id":"u","speaker":"Ann","content":"I own a yacht called Sloop."}`)
	p.mustAsk("mem.q.recall", fmt.Sprintf(`{"query":"x","after":%d,"after_write":%v}`, seq, b["write"]))
	p.publish("mem.q.flush.s", "")
	c := counts(p.settle("q"))
	t.Logf("after a role filter: %v", c)
	p.mustAsk("mem.q.bank", `{"windows":{"role_filter":[]}}`)
	p.code("mem.q.bank", `{"windows":{"role_filter":["boss"]}}`, "400")
	p.code("mem.q.bank", `{"windows":{"trigger":1}}`, "400")
	p.code("mem.q.bank", `{"quotas":{"facts":-1}}`, "400")
	p.code("mem.q.bank", `{"thresholds":{"dedup":1.5}}`, "400")
}
