package e2e_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/internal/app/offline"
)

func TestContractAlias(t *testing.T) {
	t.Parallel()
	c := apptest.Settings(t, nil)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	l, err := local.Start(ctx, c, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	p := dial(t, l.URL)
	p.publish("mem.al.message.s", `{"id":"m1","speaker":"美咲","content":"I am allergic to buckwheat.","time":"2026-05-02T10:00:00Z"}`)
	p.publish("mem.al.message.s", `{"id":"m2","speaker":"Misaki","content":"I moved to Nagoya last year.","time":"2026-05-03T10:00:00Z"}`)
	p.publish("mem.al.message.s", `{"id":"m3","speaker":"Jan","content":"I collect stamps.","time":"2026-05-03T10:00:00Z"}`)
	p.publish("mem.al.flush.s", "")
	p.settle("al")
	first := func(query string) string {
		items := list(p.mustAsk("mem.al.recall", fmt.Sprintf(`{"query":%q}`, query))["items"])
		if len(items) == 0 {
			return ""
		}
		return fmt.Sprint(items[0].(object)["text"])
	}

	r := p.mustAsk("mem.al.alias", `{"op":"join","entity":"Misaki","aliases":["美咲","Mi-chan"]}`)
	if r["entity"] != "person:misaki" || fmt.Sprint(r["aliases"]) != "[Mi-chan 美咲]" || r["write"] == nil || r["op"] != "join" {
		t.Errorf("the reply is %v", r)
	}
	again := p.mustAsk("mem.al.alias", `{"op":"join","entity":"Jan","aliases":["other"]}`)
	if again["write"] != r["write"] || again["entity"] != r["entity"] {
		t.Errorf("the op again: %v", again)
	}
	for query, want := range map[string]string{"What is Misaki allergic to?": "buckwheat", "Where does Mi-chan live?": "Nagoya", "What is 美咲 allergic to?": "buckwheat"} {
		if got := first(query); !strings.Contains(got, want) {
			t.Errorf("%s is answered by %q", query, got)
		}
	}
	for body, want := range map[string]string{`{"entity":"Misaki"}`: "400 aliases", `{"aliases":["x"]}`: "400 entity", `{"entity":"Misaki","aliases":[" "]}`: "400 aliases.0",
		`{"entity":"Misaki","aliases":["misaki"]}`: "400 aliases.0", `{"entity":"Misaki","aliases":["Jan"],"remove":true}`: "404 aliases.0"} {
		refused, code := p.ask("mem.al.alias", body)
		if got := code + " " + fmt.Sprint(refused["error"].(object)["field"]); got != want {
			t.Errorf("%s is refused with %s: %v", body, got, refused)
		}
	}
	p.code("mem.al.forget", `{"id":"person:nobody"}`, "404")
	p.mustAsk("mem.al.forget", `{"id":"person:美咲"}`)
	if got := first("What is Misaki allergic to?"); strings.Contains(got, "buckwheat") {
		t.Errorf("parted, and still answered by %q", got)
	}
	p.mustAsk("mem.al.alias", `{"entity":"Jan","aliases":["Quillfeather"]}`)
	p.mustAsk("mem.al.forget", `{"speaker":"Jan"}`)
	waitErased(t, l, "Quillfeather")
	waitApplied(t, l, c.Store)
	p.nc.Close()
	if err := l.Close(ctx); err != nil {
		t.Fatal(err)
	}
	live := dump(t, c.Store)
	if strings.Contains(strings.ToLower(live), "quillfeather") {
		t.Error("the alias of a person of whom nothing is left is still there")
	}
	if err := offline.Rebuild(ctx, c, nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(lines(live), lines(dump(t, c.Store))); diff != "" {
		t.Errorf("the rebuild differs (-live +rebuilt):\n%s", diff[max(0, len(diff)-4000):])
	}
}
