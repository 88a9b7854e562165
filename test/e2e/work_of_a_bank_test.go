package e2e_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/test/scriptedmodel"
)

func TestSessionsOfABank(t *testing.T) {
	t.Parallel()
	d := openDoors(t, nil)
	say := func(bank, session, id, at, text string) {
		d.publish("mem."+bank+".message."+session, fmt.Sprintf(`{"id":%q,"speaker":"Ines","content":%q,"time":%q}`, id, text, at))
	}
	say("ines", "work", "w1", "2026-03-02T10:00:00Z", "The kiln is at nine hundred degrees.")
	say("ines", "home", "h1", "2026-03-01T10:00:00Z", "I keep bees on the roof.")
	say("ines", "work", "w2", "2026-02-01T08:00:00Z", "My glazes come from Porto.")
	say("otto", "secret", "o1", "2026-03-01T10:00:00Z", "Otto hides the key.")
	d.publish("mem.ines.flush.work", "")
	natstest.Eventually(t, "the window of work ends", func() bool {
		out, _ := d.ask("mem.ines.sessions", `{}`) // 404 until the first message is applied
		for _, i := range list(out["items"]) {
			if i.(object)["session"] == "work" {
				return i.(object)["pending"] == nil
			}
		}
		return false
	})
	items := list(d.read("ines", "sessions", `{}`)["items"])
	if len(items) != 2 {
		t.Fatalf("sessions %v", items)
	}
	work, home := items[0].(object), items[1].(object)
	if work["session"] != "work" || work["messages"] != 2.0 || work["first"] != "2026-02-01T08:00:00Z" || work["last"] != "2026-03-02T10:00:00Z" ||
		work["seq"] != 3.0 || work["until"] != nil {
		t.Errorf("work is %v", work)
	}
	if home["session"] != "home" || home["pending"] != 1.0 || home["until"] == nil {
		t.Errorf("home, whose window is open, is %v", home)
	}
	first := d.read("ines", "sessions", `{"order":"oldest","limit":1}`)
	second := d.read("ines", "sessions", fmt.Sprintf(`{"order":"oldest","limit":1,"cursor":%q}`, first["next"]))
	if list(first["items"])[0].(object)["session"] != "home" || list(second["items"])[0].(object)["session"] != "work" || second["next"] != "" {
		t.Errorf("by one, oldest first: %v, %v", first, second)
	}
	d.refused("ines", "sessions", fmt.Sprintf(`{"cursor":%q}`, first["next"]), "400", "cursor")
	d.refused("ines", "sessions", `{"order":"loudest"}`, "400", "order")
	d.refused("ines", "sessions", `{"limit":1001}`, "400", "limit")
	d.refused("nobody", "sessions", `{}`, "404", "")
	d.mustAsk("mem.ines.forget", `{"session":"work"}`)
	if left := list(d.read("ines", "sessions", `{}`)["items"]); len(left) != 1 {
		t.Errorf("after the session is forgotten: %v", left)
	}
}

func TestWindowsAndDeadLettersOfABank(t *testing.T) {
	t.Parallel()
	script := new(scriptedmodel.Script).Answer("extract", "certainly!").Answer("extract", "with pleasure!")
	srv := scriptedmodel.Start(t, script)
	d := openDoors(t, map[string]string{"MODEL": "openai:testmodel", "MODEL_URL": srv.URL, "MODEL_KEY": "none", "MAX_ATTEMPTS": "1"})
	d.publish("mem.ines.message.s", `{"id":"m1","speaker":"Ines","content":"I keep walruses in the bath."}`)
	d.publish("mem.ines.flush.s", "")
	var letters []any
	natstest.Eventually(t, "a dead letter", func() bool {
		out, code := d.ask("mem.ines.dead_letters", `{}`)
		letters = list(out["items"])
		return code == "" && len(letters) == 1
	})
	letter := letters[0].(object)
	if letter["stage"] != "extract" || letter["session"] != "s" || letter["payload"] != nil || letter["output"] != nil {
		t.Errorf("a letter of a list is %v", letter)
	}
	whole := list(d.read("ines", "dead_letters", fmt.Sprintf(`{"id":%v}`, letter["id"]))["items"])[0].(object)
	if whole["payload"] == nil || whole["output"] == nil {
		t.Errorf("the letter is %v", whole)
	}
	d.mustAsk("mem.otto.bank", `{"create":true}`)
	if others := list(d.read("otto", "dead_letters", `{}`)["items"]); len(others) != 0 {
		t.Errorf("another bank lists %v", others)
	}
	d.refused("otto", "dead_letters", fmt.Sprintf(`{"id":%v}`, letter["id"]), "404", "")
	d.refused("ines", "dead_letters", `{"id":99999}`, "404", "")
	d.refused("ines", "dead_letters", fmt.Sprintf(`{"id":%v,"stage":"extract"}`, letter["id"]), "400", "id")

	natstest.Eventually(t, "the window has ended dead", func() bool {
		ended := list(d.mustAsk("mem.ines.windows", `{"state":"ended"}`)["items"])
		return len(ended) == 1 && ended[0].(object)["outcome"] == "dead" && ended[0].(object)["reason"] != nil
	})
	if pending := list(d.read("ines", "windows", `{}`)["items"]); len(pending) != 0 {
		t.Errorf("still pending: %v", pending)
	}
	d.refused("ines", "windows", `{"state":"lost"}`, "400", "state")
	d.refused("nobody", "windows", `{}`, "404", "")
}

func TestPendingWindowsAreListed(t *testing.T) {
	t.Parallel()
	srv := scriptedmodel.Start(t, new(scriptedmodel.Script))
	d := openDoors(t, map[string]string{"MODEL": "openai:testmodel", "MODEL_URL": srv.URL, "MODEL_KEY": "none"})
	d.mustAsk("mem.ines.bank", `{"quotas":{"tokens_per_day":1}}`)
	say := func(session, id string) {
		d.publish("mem.ines.message."+session, fmt.Sprintf(`{"id":%q,"speaker":"Ines","content":"I live in Lisbon and I keep bees on the roof."}`, id))
		d.publish("mem.ines.flush."+session, "")
	}
	say("first", "m0")
	d.settle("ines") // it took the tokens of the day
	for i := range 3 {
		say([]string{"a", "b", "a"}[i], fmt.Sprint("m", i+1))
	}
	natstest.Eventually(t, "three parked windows", func() bool {
		items := list(d.mustAsk("mem.ines.windows", `{"state":"pending"}`)["items"])
		return len(items) == 3 && !slices.ContainsFunc(items, func(i any) bool { return i.(object)["state"] != "parked" })
	})
	all := ids(d.read("ines", "windows", `{}`))
	var paged []string
	for cursor := ""; ; {
		p := d.read("ines", "windows", fmt.Sprintf(`{"limit":1,"cursor":%q}`, cursor))
		paged = append(paged, ids(p)...)
		if cursor, _ = p["next"].(string); cursor == "" {
			break
		}
	}
	if !slices.Equal(all, paged) {
		t.Errorf("by one %v, at once %v", paged, all)
	}
	if of := list(d.read("ines", "windows", `{"session":"a"}`)["items"]); len(of) != 2 || of[0].(object)["stored"] == nil {
		t.Errorf("of session a: %v", of)
	}
	if ended := list(d.read("ines", "windows", `{"state":"ended","session":"first"}`)["items"]); len(ended) != 1 {
		t.Errorf("ended: %v", ended)
	}
}
