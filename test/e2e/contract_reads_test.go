package e2e_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
)

// TestListsPageOverEveryRecordInEveryOrder compares paging with small limits to one large page.
func TestListsPageOverEveryRecordInEveryOrder(t *testing.T) {
	t.Parallel()
	p := dial(t, startLocal(t, nil).URL)
	converse(p, "pg", 60)
	p.settle("pg")
	var fs []string
	for i := range 12 { // all said at one time
		fs = append(fs, fmt.Sprintf(`{"text":"Tool number %d stands in rack %c.","said":"2026-01-01T00:00:00Z"}`, i, 'A'+i))
	}
	p.mustAsk("mem.pg.retain", `{"facts":[`+strings.Join(fs, ",")+`]}`)
	p.mustAsk("mem.pg.observe", `{"observations":[{"type":"risk","text":"One."},{"type":"risk","text":"Two."},{"type":"strategy","text":"Three."}]}`)
	all := func(endpoint, fields string, limit int) []string {
		t.Helper()
		var out []string
		cursor := ""
		for range 1000 {
			r := p.mustAsk("mem.pg."+endpoint, fmt.Sprintf(`{%s"limit":%d,"cursor":%q}`, fields, limit, cursor))
			if len(list(r["items"])) > limit || r["items"] == nil {
				t.Errorf("%d items, limit %d", len(list(r["items"])), limit)
			}
			out = append(out, ids(r)...)
			if cursor, _ = r["next"].(string); cursor == "" {
				return out
			}
		}
		t.Fatalf("%s %s does not end", endpoint, fields)
		return nil
	}
	for _, rec := range []string{"fact", "composite", "observation", "message"} {
		var orders [2][]string
		for i, order := range []string{"newest", "oldest"} {
			fields := fmt.Sprintf(`"record":%q,"order":%q,`, rec, order)
			want := all("list", fields, 500)
			if len(want) == 0 {
				t.Errorf("no %s to page over", rec)
			}
			for _, limit := range []int{1, 2, 7, len(want)} {
				if got := all("list", fields, limit); fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%s by %d: %d of %d", fields, limit, len(got), len(want))
				}
			}
			orders[i] = want
		}
		for i, id := range orders[0] {
			if orders[1][len(orders[1])-1-i] != id {
				t.Errorf("%s: oldest is not newest turned around", rec)
				break
			}
		}
		seen := map[string]bool{}
		for _, id := range orders[0] {
			if seen[id] {
				t.Errorf("%s %s twice", rec, id)
			}
			seen[id] = true
			got := p.mustAsk("mem.pg.get", fmt.Sprintf(`{"id":%q}`, id))
			if got["record"] != rec || got["id"] != id || got["text"] == nil {
				t.Errorf("get %s: %v", id, got)
			}
		}
	}
	for _, endpoint := range []string{"entities", "tree"} {
		want := all(endpoint, "", 500)
		if len(want) == 0 {
			t.Errorf("no %s", endpoint)
		}
		for _, limit := range []int{1, 3} {
			if got := all(endpoint, "", limit); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s by %d: %v, want %v", endpoint, limit, got, want)
			}
		}
	}
	// Filtered lists page too, and a cursor is valid for its own list only.
	want := all("list", `"record":"fact","speakers":["alice"],`, 500)
	if got := all("list", `"record":"fact","speakers":["alice"],`, 2); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%d of %d", len(got), len(want))
	}
	r := p.mustAsk("mem.pg.list", `{"record":"fact","limit":1}`)
	p.code("mem.pg.list", fmt.Sprintf(`{"record":"message","limit":1,"cursor":%q}`, r["next"]), "400")
	p.code("mem.pg.entities", fmt.Sprintf(`{"cursor":%q}`, r["next"]), "400")
	p.code("mem.pg.list", `{"limit":1001}`, "400")

	node := list(p.mustAsk("mem.pg.tree", `{"limit":1}`)["items"])[0].(object)
	if node["record"] != "composite" || len(list(node["nodes"])) < 2 || len(list(node["children"])) != len(list(node["nodes"])) {
		t.Errorf("tree %v", node)
	}
	alone := list(p.mustAsk("mem.pg.tree", fmt.Sprintf(`{"root":%q,"depth":1}`, node["id"]))["items"])
	if len(alone) != 1 || len(list(alone[0].(object)["nodes"])) != 0 {
		t.Errorf("depth 1: %v", alone)
	}
	sources := map[string]bool{}
	for _, n := range list(node["nodes"]) {
		for _, s := range list(n.(object)["sources"]) {
			sources[s.(string)] = true
		}
	}
	if node["level"] == 1.0 && len(sources) != len(list(node["sources"])) {
		t.Errorf("a composite's sources %v are not its leaves' %v", node["sources"], sources)
	}
	e := list(p.mustAsk("mem.pg.entities", `{"match":"NOR"}`)["items"])
	if len(e) == 0 {
		t.Error("no entity matches a part of its name")
	}
	for _, v := range e {
		for _, k := range []string{"id", "type", "name", "facts"} {
			if _, ok := v.(object)[k]; !ok {
				t.Errorf("entity without %s: %v", k, v)
			}
		}
	}
}

// TestTheMicroServiceDescribesItself requests the service's info as any NATS tool does.
func TestTheMicroServiceDescribesItself(t *testing.T) {
	t.Parallel()
	p := dial(t, startLocal(t, nil).URL)
	for _, verb := range []string{"PING", "INFO", "STATS"} {
		m, err := p.nc.Request("$SRV."+verb+".eunoe", nil, natstest.Patience)
		if err != nil {
			t.Fatal(err)
		}
		var o object
		if err := json.Unmarshal(m.Data, &o); err != nil || o["name"] != "eunoe" || o["version"] == "" {
			t.Errorf("%s: %s", verb, m.Data)
		}
		if verb != "INFO" {
			continue
		}
		seen := map[string]object{}
		for _, v := range list(o["endpoints"]) {
			e := v.(object)
			seen[e["name"].(string)] = e
		}
		for _, name := range strings.Fields("recall reflect observe consolidate retain forget feedback edit conflicts alias bank get list tree entities history changes status banks dead verify erase") {
			e := seen[name]
			meta, _ := e["metadata"].(object)
			if e == nil || meta["request"] == "" || meta["reply"] == "" || meta["request"] == nil {
				t.Errorf("endpoint %s: %v", name, e)
			}
		}
	}
	p.mustAsk("mem.m.retain", `{"facts":[{"text":"Ann owns a flute."}]}`)
	m, err := p.nc.Request("mem.m.get", []byte(`{"id":"none"}`), natstest.Patience)
	if err != nil {
		t.Fatal(err)
	}
	var o object
	_ = json.Unmarshal(m.Data, &o)
	if m.Header.Get("Nats-Service-Error-Code") != "404" || m.Header.Get("Nats-Service-Error") == "" || o["error"].(object)["code"] != 404.0 {
		t.Errorf("error reply %v %s", m.Header, m.Data)
	}
	// An error's text may contain the caller's input, which must not inject headers.
	m, err = p.nc.Request("mem.m.recall", []byte(`{"query":"x","a\r\nNats-Service-Error-Code: 200":1}`), natstest.Patience)
	if err != nil || m.Header.Get("Nats-Service-Error-Code") != "400" || len(m.Header["Nats-Service-Error-Code"]) != 1 {
		t.Errorf("%v %v", err, m.Header)
	}
}
