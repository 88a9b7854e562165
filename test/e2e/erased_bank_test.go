package e2e_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/internal/app/offline"
)

// TestAWindowOverTheErasureOfItsBank erases a bank within a conversation: one window has messages of before and of after,
// another one of before alone, which ends late. The bank that is made anew has none of the earlier words, and the store holds
// every rule, live and rebuilt, and is the same byte by byte.
func TestAWindowOverTheErasureOfItsBank(t *testing.T) {
	t.Parallel()
	set := apptest.Settings(t, nil)
	session(t, set, func(p plain, l *local.Local) {
		p.publish("mem.quay.message.both", `{"id":"a","speaker":"Oddny","content":"I keep a parrot called Zorro."}`)
		p.publish("mem.quay.message.early", `{"id":"b","speaker":"Oddny","content":"My brother builds zithers."}`)
		p.mustAsk("mem.admin.erase", `{"bank":"quay"}`)
		p.publish("mem.quay.message.both", `{"id":"c","speaker":"Oddny","content":"I own a kayak."}`)
		p.publish("mem.quay.flush.both", "")
		p.publish("mem.quay.flush.early", "")
		p.settle("quay")
		waitApplied(t, l, set.Store)
		if v := p.mustAsk("mem.admin.verify", `{"full":true}`); v["ok"] != true {
			t.Errorf("live: %v", v["problems"])
		}
		if r := p.mustAsk("mem.quay.recall", `{"query":"kayak"}`); len(list(r["items"])) == 0 {
			t.Error("what was said after the erasure is not found")
		}
	})
	forgotten := func(when string) {
		t.Helper()
		for _, word := range []string{"Zorro", "zither"} {
			if strings.Contains(dump(t, set.Store), word) {
				t.Errorf("%s the store has %q", when, word)
			}
		}
	}
	forgotten("live")
	live := dump(t, set.Store)
	if err := offline.Rebuild(t.Context(), set, nil); err != nil {
		t.Fatal(err)
	}
	forgotten("rebuilt")
	if d := cmp.Diff(strings.Split(live, "\n"), strings.Split(dump(t, set.Store), "\n")); d != "" {
		t.Errorf("-live +rebuilt:\n%s", d)
	}
	if v, err := offline.Verify(t.Context(), set, true, false); err != nil || !v.OK {
		t.Errorf("rebuilt: %v, %v", v.Problems, err)
	}
}
