package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
)

func TestCurationByApply(t *testing.T) {
	t.Parallel()
	d := openDoors(t, nil)
	keep := func(bank, text string) string {
		return outcome(d.mustAsk("mem."+bank+".retain", fmt.Sprintf(`{"facts":[{"text":%q}]}`, text)), 0)["id"].(string)
	}
	t.Run("a dry run gives the answer of the apply and writes nothing; the apply is one write", func(t *testing.T) {
		bees, boat := keep("a1", "Ines keeps bees on the roof."), keep("a1", "Ines owns a boat with a red sail.")
		changes := fmt.Sprintf(`"changes":[{"op":"remember","as":"$moved","text":"Ines moved her beehives to Tavira.","entities":["person:Ines"]},
			{"op":"supersede","id":%q,"by":"$moved"},{"op":"topic","ids":["$moved",%q],"topic":"possessions"},{"op":"link","from":"$moved","to":%q,"relation":"related_to"}]`, bees, boat, boat)
		before := d.mustAsk("mem.a1.status", `{}`)
		dry := d.read("a1", "apply", `{`+changes+`,"dry_run":true}`)
		if after := d.mustAsk("mem.a1.status", `{}`); fmt.Sprint(before) != fmt.Sprint(after) {
			t.Errorf("the dry run changed the status from %v to %v", before, after)
		}
		real := d.mustPost("a1", "apply", `{`+changes+`,"op":"tidy-1"}`)
		if fmt.Sprint(dry["results"]) != fmt.Sprint(real["results"]) || dry["op"] != "" || real["op"] != "tidy-1" {
			t.Errorf("dry %v\nreal %v", dry, real)
		}
		if again := d.mustAsk("mem.a1.apply", `{`+changes+`,"op":"tidy-1"}`); fmt.Sprint(again) != fmt.Sprint(real) {
			t.Errorf("repeated: %v", again)
		}
		moved := outcome(real, 0)["id"].(string)
		if old := d.mustAsk("mem.a1.get", fmt.Sprintf(`{"id":%q}`, bees)); old["superseded_by"] != moved {
			t.Errorf("the old fact: %v", old)
		}
		if by := ids(d.mustAsk("mem.a1.list", `{"topics":["possessions"]}`)); !slices.Contains(by, moved) || !slices.Contains(by, boat) {
			t.Errorf("of the topic: %v", by)
		}
	})
	t.Run("one change that cannot be made undoes the others, and the field says which", func(t *testing.T) {
		bees := keep("a2", "Ines keeps bees on the roof.")
		version := d.mustAsk("mem.a2.get", fmt.Sprintf(`{"id":%q}`, bees))["version"]
		for body, want := range map[string][2]string{
			`{"op":"supersede","id":"f_none","by":"$x"}`:                                      {"404", "changes.1.id"},
			fmt.Sprintf(`{"op":"edit","id":%q,"version":1,"text":"Ines keeps wasps."}`, bees): {"409", "changes.1.version"},
			`{"op":"sing"}`:                                          {"400", "changes.1.op"},
			`{"op":"forget","id":"f_1"}`:                             {"400", "changes.1.op"},
			`{"op":"remember"}`:                                      {"400", "changes.1.text"},
			`{"op":"remember","text":"x","kind":"rumour"}`:           {"400", "changes.1.kind"},
			`{"op":"resolve","id":"x_1","winner":"f_1","text":"no"}`: {"400", "changes.1.text"},
			`{"op":"remember","text":"y","sources":["nobody"]}`:      {"400", "changes"},
			`{"op":"remember","text":"y","as":"x"}`:                  {"400", "changes.1.as"},
		} {
			if version == 1.0 && strings.Contains(body, `"version":1`) {
				continue
			}
			d.refused("a2", "apply", `{"changes":[{"op":"remember","as":"$x","text":"Ines hums."},`+body+`]}`, want[0], want[1])
		}
		d.refused("a2", "apply", `{"changes":[]}`, "400", "changes")
		if got := facts(d.plain, "a2"); len(got) != 1 {
			t.Errorf("facts %q", got)
		}
	})
	t.Run("what it held is forgotten, from the log too, and a rest keeps the other changes", func(t *testing.T) {
		bees := keep("a3", "Ines keeps bees on the roof.")
		real := d.mustAsk("mem.a3.apply", fmt.Sprintf(`{"changes":[{"op":"remember","text":"Ines hides her Ozymandias stamps."},{"op":"edit","id":%q,"text":"Ines keeps bees in the garden."}]}`, bees))
		d.mustAsk("mem.a3.forget", fmt.Sprintf(`{"id":%q}`, outcome(real, 0)["id"]))
		waitErased(t, d.Local, "Ozymandias")
		natstest.Eventually(t, "the garden stays", func() bool { return holds(facts(d.plain, "a3"), "garden") })
	})
	t.Run("names are joined in an apply, and go from the log with the last fact about their entity", func(t *testing.T) {
		r := d.mustPost("a5", "apply", `{"changes":[{"op":"remember","as":"$a","text":"Ozyma keeps newts.","entities":["person:Ozyma"]},
			{"op":"alias","entity":"Ozyma","aliases":["Zymandra"]},{"op":"remember","text":"Ines mends nets.","entities":["person:Ines"]}]}`)
		named := list(d.mustAsk("mem.a5.entities", `{"match":"zymandra"}`)["items"])
		if len(named) != 1 || named[0].(object)["id"] != "person:ozyma" {
			t.Fatalf("entities %v", named)
		}
		d.mustAsk("mem.a5.forget", fmt.Sprintf(`{"id":%q}`, outcome(r, 0)["id"]))
		waitErased(t, d.Local, "Zymandra")
		if got := facts(d.plain, "a5"); len(got) != 1 || !holds(got, "nets") {
			t.Errorf("facts %q", got)
		}
		d.refused("a5", "apply", `{"changes":[{"op":"alias","entity":"Ines","aliases":[]}]}`, "400", "changes.0.aliases")
		d.refused("a5", "apply", `{"changes":[{"op":"merge_entities","ids":["person:ines","person:nobody"]}]}`, "404", "changes.0.ids.1")
	})
	t.Run("an apply is taken back by its op, once, and nothing changes where something has changed since", func(t *testing.T) {
		bees, moths := keep("a6", "Ines keeps bees on the roof."), keep("a6", "Ines collects moths.")
		before := facts(d.plain, "a6")
		real := d.mustPost("a6", "apply", fmt.Sprintf(`{"op":"tidy-6","changes":[{"op":"remember","as":"$m","text":"Ines moved her beehives to Olhão."},
			{"op":"supersede","id":%q,"by":"$m"},{"op":"pin","id":%q,"pin":true}]}`, bees, moths))
		moved := outcome(real, 0)["id"]
		dry := d.read("a6", "undo", `{"apply":"tidy-6","dry_run":true}`)
		if now := facts(d.plain, "a6"); !holds(now, "Olhão") || dry["op"] != "" {
			t.Errorf("after the dry run %v: %q", dry, now)
		}
		undone := d.mustPost("a6", "undo", `{"apply":"tidy-6","op":"back-6"}`)
		if fmt.Sprint(dry["results"]) != fmt.Sprint(undone["results"]) || len(list(undone["results"])) != 3 {
			t.Errorf("dry %v\nreal %v", dry, undone)
		}
		if again := d.mustPost("a6", "undo", `{"apply":"tidy-6","op":"back-6"}`); fmt.Sprint(again) != fmt.Sprint(undone) {
			t.Errorf("repeated: %v", again)
		}
		slices.Sort(before)
		if now := facts(d.plain, "a6"); !slices.Equal(slices.Sorted(slices.Values(now)), before) {
			t.Errorf("before %q, after %q", before, now)
		}
		found := d.mustAsk("mem.a6.recall", `{"query":"Where are the beehives of Ines?","as_of":"2999-01-01T00:00:00Z"}`)
		if holds(texts(found), "Olhão") {
			t.Errorf("what was taken back is found: %v", found)
		}
		if item := d.mustAsk("mem.a6.get", fmt.Sprintf(`{"id":%q}`, moved)); len(list(item["valid"])) > 0 {
			t.Errorf("what was taken back holds: %v", item)
		}
		d.refused("a6", "undo", `{"apply":"tidy-6"}`, "409", "apply")
		d.refused("a6", "undo", `{"apply":"nobody"}`, "404", "apply")
		d.refused("a6", "undo", `{}`, "400", "apply")
		d.refused("a6", "undo", `{"apply":"tidy-6","write":5}`, "400", "write")

		d.mustAsk("mem.a6.apply", fmt.Sprintf(`{"op":"merge-6","changes":[{"op":"merge","ids":[%q,%q]}]}`, bees, moths))
		d.mustAsk("mem.a6.edit", fmt.Sprintf(`{"id":%q,"tags":["insects"]}`, bees))
		d.refused("a6", "undo", `{"apply":"merge-6"}`, "409", "apply")
		d.mustAsk("mem.a6.forget", fmt.Sprintf(`{"id":%q}`, moved))
		waitErased(t, d.Local, "Olhão")
	})
	t.Run("a forget leaves nothing of what an undo would bring back", func(t *testing.T) {
		bees, moths := keep("a7", "Ines keeps Ozymand bees on the roof."), keep("a7", "Ines collects moths.")
		d.mustAsk("mem.a7.apply", fmt.Sprintf(`{"op":"tidy-7","changes":[{"op":"merge","ids":[%q,%q]}]}`, moths, bees))
		d.mustAsk("mem.a7.forget", fmt.Sprintf(`{"id":%q}`, bees))
		waitErased(t, d.Local, "Ozymand")
		d.refused("a7", "undo", `{"apply":"tidy-7"}`, "409", "apply")
	})
	t.Run("retain tells what it collides with and what would settle it", func(t *testing.T) {
		say := func(text string) object {
			return outcome(d.mustPost("a4", "retain", fmt.Sprintf(`{"facts":[{"text":%q,"speaker":"Ines","entities":["person:Ines"]}]}`, text)), 0)
		}
		fish := say("Ines loves opera music.")["id"]
		r := say("Ines hates opera music.")
		hits := list(r["collides"])
		if len(hits) == 0 {
			t.Fatalf("result %v", r)
		}
		hit := hits[0].(object)
		if hit["id"] != fish || hit["conflict"] == nil || hit["text"] != "Ines loves opera music." || len(list(hit["settle"])) != 3 {
			t.Errorf("collides with %v", hit)
		}
		body := fmt.Sprintf(`{"changes":[{"op":"resolve","id":%q,"winner":%q}]}`, hit["conflict"], r["id"])
		d.mustPost("a4", "apply", body)
		if got := facts(d.plain, "a4"); len(got) != 1 || !holds(got, "hates") {
			t.Errorf("after it is settled: %q", got)
		}
	})
	if v := d.mustAsk("mem.admin.verify", `{"full":true}`); v["ok"] != true {
		t.Errorf("verify: %v", v)
	}
}
