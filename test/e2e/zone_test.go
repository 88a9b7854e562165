package e2e_test

import (
	"strings"
	"testing"
)

// TestADayIsThatOfTheBanksZone publishes late in the evening of Los Angeles, which is the next day in UTC.
func TestADayIsThatOfTheBanksZone(t *testing.T) {
	t.Parallel()
	d := openDoors(t, nil)
	d.mustAsk("mem.zoe.bank", `{"zone":"America/Los_Angeles"}`)
	if r := d.mustAsk("mem.zoe.bank", `{}`); r["zone"] != "America/Los_Angeles" {
		t.Errorf("the profile is %v", r)
	}
	if r, code := d.ask("mem.zoe.bank", `{"zone":"Mars/Olympus"}`); code != "400" || r["error"].(object)["field"] != "zone" {
		t.Errorf("a zone that is none: %s %v", code, r)
	}
	for session, at := range map[string]string{"utc": "2026-06-02T06:30:00Z", "offset": "2026-06-02T08:30:00+02:00"} {
		d.publish("mem.zoe.message."+session, `{"speaker":"Zoe","content":"The plumber comes tomorrow to fix the `+session+` boiler.","time":"`+at+`"}`)
		d.publish("mem.zoe.flush."+session, "")
	}
	d.settle("zoe")
	want := map[string]string{"utc": "2026-06-02", "offset": "2026-06-03"}
	found := map[string]string{}
	for _, it := range list(d.mustAsk("mem.zoe.list", `{"record":"fact"}`)["items"]) {
		f := it.(object)
		for session := range want {
			if span, ok := f["occurred"].(object); ok && strings.Contains(f["text"].(string), session) {
				found[session] = strings.Split(span["from"].(string), "T")[0]
			}
		}
	}
	for session, day := range want {
		if found[session] != day {
			t.Errorf("%s: the plumber comes on %q, want %s", session, found[session], day)
		}
	}
}
