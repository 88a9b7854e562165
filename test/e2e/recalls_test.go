package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/events/kv"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func TestRecallsAreKept(t *testing.T) {
	t.Parallel()
	d := openDoors(t, nil)
	keep := func(bank, text string) string {
		return outcome(d.mustAsk("mem."+bank+".retain", fmt.Sprintf(`{"facts":[{"text":%q}]}`, text)), 0)["id"].(string)
	}
	kept := func(bank string) []any { return list(d.mustAsk("mem."+bank+".recalls", `{}`)["items"]) }
	// record is all that the broker has of the recalls of a bank.
	record := func(bank string) string {
		raw, err := kv.OpenRecalls(d.Local.Conn).List(t.Context(), memory.BankID(bank))
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%s", raw)
	}
	boat := keep("k1", "Otto owns a rowing boat.")
	keep("k2", "Ines owns a kite.")

	d.mustAsk("mem.k1.recall", `{"query":"What does Otto own?"}`)
	if off := d.read("k1", "recalls", `{}`); off["on"] != false || len(list(off["items"])) != 0 {
		t.Errorf("kept without being asked: %v", off)
	}
	if b := d.mustPost("k1", "bank", `{"keep_recalls":true}`); b["keep_recalls"] != true {
		t.Errorf("profile %v", b)
	}
	natstest.Eventually(t, "a recall is kept", func() bool {
		d.mustAsk("mem.k1.recall", `{"query":"What does Otto own?","speakers":["Otto"],"records":["fact"]}`)
		return len(kept("k1")) > 0
	})
	plain := d.mustAsk("mem.k1.recall", `{"query":"Who owns the rowing boat?","max_facts":3}`)
	d.mustAsk("mem.k1.reflect", `{"query":"Who rows?","style":"context"}`)
	d.mustAsk("mem.k2.recall", `{"query":"Who owns a kite?"}`)
	last := kept("k1")
	answer, asked := last[0].(object), last[1].(object)
	if answer["endpoint"] != "reflect" || !strings.Contains(answer["response"].(string), "rowing boat") || len(list(answer["items"])) == 0 {
		t.Errorf("a reflect: %v", answer)
	}
	item := list(asked["items"])[0].(object)
	if asked["recall"] != plain["recall"] || asked["request"].(object)["query"] != "Who owns the rowing boat?" || item["id"] != boat || len(item["explain"].(object)) == 0 {
		t.Errorf("a recall: %v", asked)
	}
	if got := list(plain["items"])[0].(object); got["explain"] != nil {
		t.Errorf("the reply explains what nobody asked for: %v", got)
	}
	if n := len(list(d.mustAsk("mem.k1.recalls", `{"limit":1}`)["items"])); n != 1 {
		t.Errorf("%d of at most one", n)
	}
	d.refused("k1", "recalls", `{"limit":51}`, "400", "limit")
	d.refused("nobody", "recalls", `{}`, "404", "")
	if len(kept("k2")) != 0 {
		t.Error("a bank that did not ask for it keeps recalls")
	}
	for i := range kv.MaxRecalls + 3 {
		d.mustAsk("mem.k1.recall", fmt.Sprintf(`{"query":"rowing boat %d"}`, i))
	}
	if n := len(kept("k1")); n != kv.MaxRecalls {
		t.Errorf("%d are kept", n)
	}

	d.mustAsk("mem.k1.forget", fmt.Sprintf(`{"id":%q}`, boat))
	natstest.Eventually(t, "what was forgotten is gone from the recalls", func() bool { return !strings.Contains(record("k1"), "rowing") })
	natstest.Eventually(t, "recalls are kept again", func() bool {
		d.mustAsk("mem.k1.recall", `{"query":"Who sails?"}`)
		return len(kept("k1")) > 0
	})
	d.mustAsk("mem.k1.bank", `{"keep_recalls":false}`)
	if off := d.mustAsk("mem.k1.recalls", `{}`); off["on"] != false || len(list(off["items"])) != 0 {
		t.Errorf("switched off: %v", off)
	}
	natstest.Eventually(t, "nothing is left of them", func() bool { return !strings.Contains(record("k1"), "sails") })
}
