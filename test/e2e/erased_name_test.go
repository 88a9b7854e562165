package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/app/local"
)

// TestABankThatIsMadeAnewKnowsNothingOfTheErasedOne erases a bank, and somebody else makes one of its name: no read tells of
// the records of the first, and a request under an op of the first is refused instead of looking as if it were done.
func TestABankThatIsMadeAnewKnowsNothingOfTheErasedOne(t *testing.T) {
	t.Parallel()
	set := apptest.Settings(t, nil)
	session(t, set, func(p plain, l *local.Local) {
		p.publish("mem.mill.message.ward", `{"id":"visit-0412","speaker":"Tarja","content":"I keep a ferret called Quito."}`)
		p.publish("mem.mill.flush.ward", "")
		p.settle("mill")
		p.mustAsk("mem.mill.retain", `{"op":"sync-1","facts":[{"text":"Tarja owns a boat.","entities":["person:Tarja"]}]}`)
		p.mustAsk("mem.mill.apply", `{"op":"sync-2","changes":[{"op":"remember","text":"Tarja rows at dawn."}]}`)
		p.mustAsk("mem.mill.forget", `{"op":"sync-3","speaker":"nobody"}`)
		first := list(p.mustAsk("mem.mill.changes", `{}`)["items"])
		p.mustAsk("mem.admin.erase", `{"bank":"mill"}`)
		waitApplied(t, l, set.Store)

		p.publish("mem.mill.message.new", `{"id":"n1","speaker":"Bert","content":"I own a kayak."}`)
		p.publish("mem.mill.flush.new", "")
		p.settle("mill")
		waitApplied(t, l, set.Store)
		for _, request := range []string{`{}`, fmt.Sprintf(`{"after":%.0f}`, first[0].(object)["seq"]), `{"limit":3}`, `{"received":"e_none"}`} {
			got := list(p.mustAsk("mem.mill.changes", request)["items"])
			if len(got) < 3 || got[0].(object)["what"] != "bank" || got[0].(object)["op"] != "removed" || got[1].(object)["record"] != "n1" {
				t.Errorf("changes %s: %v", request, got)
			}
			for _, c := range first {
				if id := c.(object)["id"].(string); strings.Contains(fmt.Sprint(got), id) {
					t.Errorf("changes %s: it holds %v of the erased bank", request, c)
				}
			}
		}
		after := fmt.Sprintf(`{"after":%.0f}`, list(p.mustAsk("mem.mill.changes", `{}`)["items"])[1].(object)["seq"])
		if got := list(p.mustAsk("mem.mill.changes", after)["items"]); len(got) == 0 || got[0].(object)["what"] == "bank" {
			t.Errorf("changes %s: %v", after, got)
		}

		for what, body := range map[string]string{
			"retain": `{"op":"sync-1","facts":[{"text":"Bert sings."}]}`, "apply": `{"op":"sync-2","changes":[{"op":"remember","text":"Bert sings."}]}`,
			"forget": `{"op":"sync-3","speaker":"Bert"}`, "undo": `{"op":"sync-1","apply":"x"}`, "edit": `{"op":"sync-2","id":"f_x","text":"y"}`,
			"bank": `{"op":"sync-1","mission":"Sail."}`, "observe": `{"op":"sync-2"}`, "alias": `{"op":"sync-3","entity":"Bert","aliases":["Bertie"]}`,
			"feedback": `{"op":"sync-1","recall":"r","used":["n1"]}`, "consolidate": `{"op":"sync-2"}`,
		} {
			if got := p.code("mem.mill."+what, body, "409"); got["error"].(object)["field"] != "op" {
				t.Errorf("%s under an op of the erased bank: %v", what, got)
			}
		}
		p.code("mem.mill.forget", `{"op":"sync-3"}`, "404")
		if r := p.mustAsk("mem.mill.forget", `{"op":"new-1","speaker":"Bert","wait":"20s"}`); r["messages"] != 1.0 {
			t.Errorf("under a new op: %v", r)
		}
	})
}
