package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/app/offline"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/test/programs"
)

// TestAForgetThatIsKilled kills `eunoe up` again and again while a forget erases: in the end no file holds what was
// forgotten, everything else is there, and the store is that of a rebuild.
func TestAForgetThatIsKilled(t *testing.T) {
	t.Parallel()
	const messages, kills = 90, 5
	c := apptest.Settings(t, nil)
	port := freePort(t)
	url := fmt.Sprintf("nats://127.0.0.1:%d", port)
	up := func() (*programs.Process, plain) {
		run := programs.Start(t, []string{"EUNOE_HTTP=off", "EUNOE_LOG=error", fmt.Sprint("EUNOE_PORT=", port), "EUNOE_STORE=" + c.Store}, "eunoe", "up", "--data", c.Data)
		natstest.Eventually(t, "it answers", func() bool {
			nc, err := nats.Connect(url)
			if err != nil {
				return false
			}
			defer nc.Close()
			_, err = nc.Request("mem.sveit.status", nil, natstest.Patience)
			return err == nil
		})
		return run, dial(t, url)
	}
	run, p := up()
	for i := range messages {
		who, what := "Björg", "qwordlæk"
		if i%3 == 0 {
			who, what = "Einar", "brú"
		}
		p.publish(fmt.Sprintf("mem.sveit.message.s%d", i%3), fmt.Sprintf(`{"id":"m%d","speaker":%q,"content":"I painted the %s number %d."}`, i, who, what, i))
	}
	for s := range 3 {
		p.publish(fmt.Sprintf("mem.sveit.flush.s%d", s), "")
	}
	p.settle("sveit")
	events := func(stream string) (n uint64) {
		js, err := jetstream.New(p.nc)
		if err != nil {
			t.Fatal(err)
		}
		natstest.Eventually(t, "the stream answers", func() bool {
			s, err := js.Stream(t.Context(), stream)
			if err == nil {
				n = s.CachedInfo().State.Msgs
			}
			return err == nil
		})
		return n
	}
	had := events("MEM_MESSAGES")
	p.mustAsk("mem.sveit.forget", `{"speaker":"Björg","op":"gleym"}`)
	for n := range uint64(kills) { // the last ones while the writes are erased
		upto := had - min(n*20+rand.Uint64N(20), 2*messages/3)
		natstest.Eventually(t, "a part is erased", func() bool { return events("MEM_MESSAGES") <= upto })
		p.nc.Close()
		run.Kill(t)
		run, p = up()
	}
	p.settle("sveit")
	natstest.Eventually(t, "everything is erased", func() bool {
		v, code := p.ask("mem.admin.verify", `{"full":true}`)
		return code == "" && v["ok"] == true && len(filesHolding(t, c.Data, "qword")) == 0
	})
	if s := p.mustAsk("mem.sveit.status", "")["conservation"].(object); s["published"] != float64(messages) || s["forgotten"] != float64(2*messages/3) || s["pending"] != 0.0 {
		t.Errorf("the status is %v", s)
	}
	want := facts(p, "sveit")
	if len(want) != messages/3 {
		t.Errorf("%d facts are left of %d messages", len(want), messages/3)
	}
	p.nc.Close()
	run.Stop(t)
	if held := filesHolding(t, c.Data, "qword"); len(held) > 0 {
		t.Errorf("a forgotten word stands in %v", held)
	}
	if v, err := offline.Verify(t.Context(), c, true, false); err != nil || !v.OK {
		t.Errorf("verify: %q, %v", v.Problems, err)
	}
	if err := offline.Rebuild(t.Context(), c, nil); err != nil {
		t.Fatal(err)
	}
	_, p = up()
	p.settle("sveit")
	if rebuilt := facts(p, "sveit"); fmt.Sprint(rebuilt) != fmt.Sprint(want) {
		t.Errorf("the rebuilt store has other facts:\n%q\n%q", rebuilt, want)
	}
}
