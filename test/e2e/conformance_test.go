package e2e_test

import (
	"strings"
	"testing"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	conformKills(t)
	p := dial(t, startLocal(t, nil).URL)

	t.Run("a mixed batch reports what was retained, merged and refused exactly", func(t *testing.T) {
		t.Parallel()
		r := p.mustAsk("mem.h12.retain", `{"facts":[
			{"key":"a","text":"Ada owns a sailing boat."},
			{"key":"b","text":""},
			{"key":"c","text":"Ada owns a sailing boat!"},
			{"key":"d","text":"Ada fears storms.","kind":"rumour"},
			{"key":"e","text":"Ada sails from Ghent.","sources":["no such message"]},
			{"key":"f","text":"Ada learnt to sail in 2009.","type":"event"}]}`)
		got := map[string]string{}
		for _, v := range list(r["results"]) {
			res := v.(object)
			got[res["key"].(string)] = res["outcome"].(string)
			if res["outcome"] == "refused" && res["reason"] == "" {
				t.Errorf("refused without a reason: %v", res)
			}
		}
		want := map[string]string{"a": "added", "b": "refused", "c": "merged", "d": "refused", "e": "refused", "f": "added"}
		if len(got) != len(want) {
			t.Errorf("results %v", r["results"])
		}
		for k, outcome := range want {
			if got[k] != outcome {
				t.Errorf("fact %s: %s, want %s", k, got[k], outcome)
			}
		}
		facts := list(p.mustAsk("mem.h12.list", `{"record":"fact"}`)["items"])
		if len(facts) != 2 {
			t.Errorf("%d facts, want 2: %v", len(facts), facts)
		}
		for _, v := range facts {
			f := v.(object)
			if f["kind"] != "world" {
				t.Errorf("a fact without a kind is %v, want world", f["kind"])
			}
		}
	})
	t.Run("a retained text without an op is given one and found in its own bank only", func(t *testing.T) {
		t.Parallel()
		r := p.mustAsk("mem.h3.retain", `{"text":"Ivo keeps bees on the roof of the library."}`)
		op, _ := r["op"].(string)
		if op == "" || len(list(r["results"])) == 0 {
			t.Fatalf("retain: %v", r)
		}
		again := p.mustAsk("mem.h3.retain", `{"op":"`+op+`","text":"Ivo keeps bees on the roof of the library."}`)
		if again["op"] != op || len(list(p.mustAsk("mem.h3.list", `{"record":"message"}`)["items"])) != 1 {
			t.Errorf("repeating an op: %v", again)
		}
		other := p.mustAsk("mem.h3b.retain", `{"op":"`+op+`","text":"Ivo keeps goats."}`)
		if len(list(other["results"])) == 0 {
			t.Errorf("the same op in another bank: %v", other)
		}
		for _, v := range list(p.mustAsk("mem.h3b.recall", `{"query":"what does Ivo keep"}`)["items"]) {
			if text, _ := v.(object)["text"].(string); strings.Contains(text, "bees") {
				t.Errorf("another bank's memory: %s", text)
			}
		}
	})
}
