package e2e_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/test/programs"
	"github.com/eunoe-memory/eunoe/test/scriptedmodel"
)

// conformKills checks the promises about killed processes.
func conformKills(t *testing.T) {
	t.Run("stored messages that were not extracted when everything was killed are extracted after the restart, once in effect", func(t *testing.T) {
		t.Parallel()
		script := (&scriptedmodel.Script{}).Fault(memory.StageExtract, scriptedmodel.Hang, 1)
		model := scriptedmodel.Start(t, script)
		url, data := startBroker(t), t.TempDir()
		env := []string{"EUNOE_URL=" + url, "EUNOE_DATA=" + data, "EUNOE_LOG=warn", "EUNOE_IDLE_AFTER=1m", "EUNOE_ACK_WAIT=2s",
			"EUNOE_MODEL=openai:testmodel", "EUNOE_MODEL_URL=" + model.URL}
		names := []string{"ingest", "extractor", "consolidator", "query"}
		run := func() (out []*programs.Process) {
			for _, name := range names {
				out = append(out, programs.Start(t, env, name))
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
		natstest.Eventually(t, "the model is asked", func() bool { return len(model.Calls(memory.StageExtract)) == 1 })
		for _, stage := range first {
			stage.Kill(t)
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
