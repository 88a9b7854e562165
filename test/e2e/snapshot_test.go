package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSnapshot(t *testing.T) {
	t.Parallel()
	d := openDoors(t, nil)
	d.mustAsk("mem.n1.retain", `{"facts":[{"text":"Ines loves opera music.","speaker":"Ines","entities":["person:Ines"]},
		{"text":"Ines keeps two parrots.","entities":["person:Ines"],"said":"2019-02-03T10:00:00Z"},{"text":"The kiosk belongs to Inez Duarte.","entities":["organization:Kiosk 12","person:Inez"]},
		{"text":"Otto mends the kiosk roof.","entities":["person:Otto","organization:Kiosk 13","organization:KIOSK-12"]}]}`)
	d.mustAsk("mem.n1.retain", `{"facts":[{"text":"Ines hates opera music.","speaker":"Ines","entities":["person:Ines"]}]}`)
	d.mustAsk("mem.n1.apply", `{"changes":[{"op":"remember","as":"$a","text":"Otto whistles."},{"op":"topic","ids":["$a"],"topic":"habits"}]}`)
	parts := func(r object) map[string]object {
		out := map[string]object{}
		for _, p := range list(r["parts"]) {
			out[p.(object)["scope"].(string)] = p.(object)
		}
		return out
	}
	count := func(p object, name string) any { return p["counts"].(object)[name] }

	whole := d.read("n1", "snapshot", `{}`)
	by := parts(whole)
	if len(by) != 5 || whole["tokens"].(float64) == 0 {
		t.Fatalf("%v", whole)
	}
	if n := len(list(by["recent:20"]["items"])); n != 6 || count(by["stats"], "facts") != 6.0 || count(by["pending"], "decisions") != 0.0 {
		t.Errorf("recent %d, stats %v", n, by["stats"])
	}
	health := by["health"]
	if count(health, "conflicts") != 1.0 || count(health, "without_sources") != 6.0 || count(health, "stale") != 1.0 || count(health, "without_wording") != 0.0 {
		t.Errorf("health %v", health)
	}
	alike := fmt.Sprint(health["alike"])
	if !strings.Contains(alike, "organization:kiosk-12 organization:kiosk 12") && !strings.Contains(alike, "organization:kiosk 12 organization:kiosk-12") || strings.Contains(alike, "13") {
		t.Errorf("alike %v", alike)
	}
	conflict := list(by["conflicts"]["conflicts"])[0].(object)
	settle := list(list(by["conflicts"]["settle"])[0])
	if len(list(conflict["facts"])) != 2 || len(settle) != 3 || settle[2].(object)["op"] != "dismiss" {
		t.Errorf("conflicts %v", by["conflicts"])
	}

	by = parts(d.read("n1", "snapshot", `{"scopes":["entity:ines","entity:person:otto","entity:nobody","topic:habits","recent:1"]}`))
	if p := by["entity:ines"]; len(list(p["entities"])) != 1 || len(list(p["items"])) != 3 {
		t.Errorf("entity %v", p)
	}
	if p := by["entity:person:otto"]; len(list(p["items"])) != 1 {
		t.Errorf("entity %v", p)
	}
	if p := by["entity:nobody"]; p["items"] != nil || p["entities"] != nil {
		t.Errorf("an entity that is none: %v", p)
	}
	if p := by["topic:habits"]; !strings.Contains(fmt.Sprint(p["items"]), "whistles") || len(list(p["items"])) != 1 || len(list(by["recent:1"]["items"])) != 1 {
		t.Errorf("topic %v", p)
	}
	by = parts(d.mustAsk("mem.n1.snapshot", `{"scopes":["query:Which pets does Ines keep?"]}`))
	if p := by["query:Which pets does Ines keep?"]; !strings.Contains(fmt.Sprint(p["items"]), "parrots") {
		t.Errorf("query %v", p)
	}
	if r := d.read("n1", "snapshot", `{"scopes":["recent:20","conflicts"],"max_tokens":9}`); r["tokens"].(float64) > 9 || parts(r)["recent:20"]["cut"] != true || parts(r)["conflicts"]["cut"] != true {
		t.Errorf("within nine tokens: %v", r)
	}
	var queries []string
	for i := range 32 {
		queries = append(queries, fmt.Sprintf("%q", fmt.Sprintf("query:Who loves opera music %d", i%31)))
	}
	if got := list(d.mustAsk("mem.n1.snapshot", `{"scopes":[`+strings.Join(queries, ",")+`],"max_tokens":100000}`)["parts"]); len(got) != 32 ||
		len(list(got[0].(object)["items"])) == 0 || !cmp.Equal(got[31].(object)["items"], got[0].(object)["items"]) {
		t.Errorf("31 queries, one of them twice: %v", got)
	}
	for body, field := range map[string]string{`{"scopes":["all"]}`: "scopes.0", `{"scopes":["stats","recent:none"]}`: "scopes.1", `{"scopes":["entity:"]}`: "scopes.0",
		`{"max_tokens":0}`: "max_tokens", `{"scope":"stats"}`: "scope"} {
		d.refused("n1", "snapshot", body, "400", field)
	}
	d.refused("n0", "snapshot", `{}`, "404", "")
}
