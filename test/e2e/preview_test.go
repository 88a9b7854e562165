package e2e_test

import (
	"fmt"
	"slices"
	"testing"
)

// TestAForgetIsPreviewed compares what previews announce with the receipts of the forgets that follow.
func TestAForgetIsPreviewed(t *testing.T) {
	t.Parallel()
	d := openDoors(t, nil)
	say := func(session, id, speaker, text string) {
		d.publish("mem.ines.message."+session, fmt.Sprintf(`{"id":%q,"speaker":%q,"content":%q}`, id, speaker, text))
	}
	say("one", "a", "Ines", "I adopted a cat called Quixote. I live in Turku.")
	say("one", "b", "Ines", "I play the oboe.")
	say("two", "c", "Otto", "I collect stamps from Zanzibar.")
	say("two", "e", "Ines", "I play the oboe.")
	d.publish("mem.ines.flush.one", "")
	d.publish("mem.ines.flush.two", "")
	d.settle("ines")
	d.mustAsk("mem.ines.retain", `{"facts":[{"key":"city","text":"Ines rents a room in Paris."}]}`)
	vaduz := outcome(d.mustAsk("mem.ines.retain", `{"facts":[{"key":"city","text":"Ines rents a room in Vaduz."}]}`), 0)["id"].(string)
	cat := ids(d.mustAsk("mem.ines.recall", `{"query":"Quixote","records":["fact"]}`))[0]
	before := facts(d.plain, "ines")

	announced := func(body string) object {
		t.Helper()
		r := d.read("ines", "forget", body)
		p, _ := r["preview"].(object)
		if p == nil || p["fresh"] != true || r["op"] != "" || r["write"] != 0.0 || r["events"] != 0.0 {
			t.Fatalf("%s: %v", body, r)
		}
		for _, k := range []string{"facts", "messages", "composites", "observations", "changed", "sessions"} {
			if _, ok := p[k].([]any); !ok {
				t.Errorf("%s: %s is %v", body, k, p[k])
			}
		}
		return r
	}
	var previews []object
	bodies := []string{`{"id":"` + cat + `"`, `{"session":"two"`, `{"speaker":"ines"`}
	for _, body := range bodies {
		previews = append(previews, announced(body+`,"preview":true}`))
	}
	if p := previews[0]["preview"].(object); previews[0]["facts"] != 2.0 || fmt.Sprint(p["messages"]) != "[a]" || fmt.Sprint(p["sessions"]) != "[map[messages:1 session:one]]" {
		t.Errorf("of the cat: %v", previews[0])
	}
	if p := previews[1]["preview"].(object); len(list(p["changed"])) != 1 { // the oboe was said in session one too
		t.Errorf("of the session: %v", previews[1])
	}
	if p := announced(`{"id":"` + vaduz + `","preview":true}`)["preview"].(object); len(list(p["changed"])) != 1 { // Paris holds again
		t.Errorf("of what superseded another: %v", p)
	}
	if kept := announced(`{"id":"` + cat + `","keep_messages":true,"preview":true}`); kept["messages"] != 0.0 || kept["facts"] != 1.0 {
		t.Errorf("with its message kept: %v", kept)
	}
	d.refused("ines", "forget", `{"id":"f_none","preview":true}`, "404", "id")
	d.refused("ines", "forget", `{"preview":true}`, "400", "id")
	d.refused("nobody", "forget", `{"session":"one","preview":true}`, "404", "")
	whole := d.mustAsk("mem.admin.erase", `{"bank":"ines","preview":true}`)
	if whole["messages"] != 4.0 || whole["facts"].(float64) < float64(len(before)) {
		t.Errorf("of the bank: %v, it has %d facts", whole, len(before))
	}
	d.code("mem.admin.erase", `{"bank":"nobody","preview":true}`, "404")
	if after := facts(d.plain, "ines"); !slices.Equal(before, after) {
		t.Errorf("the previews changed %q to %q", before, after)
	}
	receipt := d.mustPost("ines", "forget", bodies[0]+`}`)
	for _, k := range []string{"messages", "facts", "composites", "observations", "upto"} {
		if receipt[k] != previews[0][k] {
			t.Errorf("%s: announced %v, erased %v", k, previews[0][k], receipt[k])
		}
	}
}
