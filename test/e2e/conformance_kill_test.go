package e2e_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/providertest"
)

// kill ends a program without a warning.
func (p *process) kill(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Wait() // it says "killed", which is what was asked for
}

// until waits for a state, up to half a minute.
func until(t *testing.T, what string, cond func() bool) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("not within half a minute: %s", what)
		}
	}
}

// conformKills holds what is promised when processes are killed.
func conformKills(t *testing.T) {
	t.Run("H14 what was stored and not extracted when everything is killed is extracted after the restart, once in effect", func(t *testing.T) {
		t.Parallel()
		script := (&providertest.Script{}).Fault(memory.StageExtract, providertest.Hang, 1)
		model := providertest.Start(t, script)
		url, data := startBroker(t), t.TempDir()
		env := []string{"EUNOE_URL=" + url, "EUNOE_DATA=" + data, "EUNOE_LOG=warn", "EUNOE_IDLE_AFTER=1m", "EUNOE_ACK_WAIT=2s",
			"EUNOE_MODEL=openai:testmodel", "EUNOE_MODEL_URL=" + model.URL}
		names := []string{"ingest", "extractor", "consolidator", "query"}
		run := func() (out []*process) {
			for _, name := range names {
				out = append(out, start(t, env, name))
			}
			return out
		}
		first := run()
		p := dial(t, url)
		waitAnswering(p)
		say := func(bank string) {
			for _, text := range []string{"I live in Lisbon.", "I am allergic to peanuts.", "My sister Nora lives in Bergen."} {
				p.publish("mem."+bank+".message.s1", `{"speaker":"Alice","time":"2026-05-20T09:14:00Z","content":"`+text+`"}`)
			}
			p.publish("mem."+bank+".flush.s1", "{}")
		}
		say("alice")
		until(t, "the model is asked", func() bool { return len(model.Calls(memory.StageExtract)) == 1 })
		for _, stage := range first {
			stage.kill(t)
		}
		run()
		waitAnswering(p)
		st := p.settle("alice")
		if got := st["conservation"].(object)["committed"]; got != 3.0 {
			t.Errorf("after the restart: %v", st)
		}
		if n := len(model.Calls(memory.StageExtract)); n != 2 {
			t.Errorf("the model was asked %d times about one window, once in vain", n)
		}
		say("bob") // to whom nothing happens
		p.settle("bob")
		plain := func(bank string) (out []string) {
			for _, f := range facts(p, bank) {
				_, text, _ := strings.Cut(f, " ")
				text, sources, _ := strings.Cut(text, " <- ")
				if strings.Contains(sources, " ") {
					t.Errorf("%q rests on %s", text, sources)
				}
				out = append(out, text)
			}
			return out
		}
		killed, untouched := plain("alice"), plain("bob")
		slices.Sort(killed)
		slices.Sort(untouched)
		if diff := cmp.Diff(untouched, killed); diff != "" || len(killed) == 0 {
			t.Errorf("%d facts: %s", len(killed), diff)
		}
	})
}
