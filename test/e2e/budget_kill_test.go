package e2e_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/test/programs"
	"github.com/eunoe-memory/eunoe/test/scriptedmodel"
)

// goods are things of which each is bought in a session of its own.
var goods = strings.Fields(`accordion anvil barometer bathtub binoculars birdcage blowtorch bookcase candelabra canoe caravan cello chandelier
	chainsaw chessboard compass crossbow cuckoo-clock didgeridoo drone easel fountain freezer gazebo globe gramophone greenhouse guillotine
	hammock harmonium hourglass iceboat jukebox kettle kiln lantern lawnmower loom marimba metronome`)

// TestExtractorsThatAreKilledAtABudget uses up the tokens of a bank with most of its windows waiting, and kills extractors
// within calls of the model: before the budget is reached, after that, and while the windows come back because the budget
// was raised by a restart. Each thing is one fact.
func TestExtractorsThatAreKilledAtABudget(t *testing.T) {
	t.Parallel()
	model := scriptedmodel.Start(t, &scriptedmodel.Script{Latency: 100 * time.Millisecond})
	calls := func() int { return model.Stats().Stages[memory.StageExtract].Calls }
	url := startBroker(t)
	env := []string{
		"EUNOE_URL=" + url, "EUNOE_DATA=" + t.TempDir(), "EUNOE_LOG=warn", "EUNOE_IDLE_AFTER=1m", "EUNOE_ACK_WAIT=2s",
		"EUNOE_MODEL=openai:scripted", "EUNOE_MODEL_URL=" + model.URL, "EUNOE_MODEL_KEY=none",
	}
	for _, stage := range []string{"ingest", "consolidator", "query"} {
		programs.Start(t, env, stage)
	}
	extractor := func(budget int) *programs.Process {
		return programs.Start(t, append(slices.Clone(env), fmt.Sprintf("EUNOE_TOKEN_BUDGET=%d", budget)), "extractor")
	}
	// killed kills one of two extractors within a call, so many times, and starts another in its place.
	killed := func(two []*programs.Process, times, budget int) {
		t.Helper()
		for i := range times {
			began := calls()
			natstest.Eventually(t, "the model is asked again", func() bool { return calls() > began })
			two[i%2].Kill(t)
			two[i%2] = extractor(budget)
		}
	}
	p := dial(t, url)
	waitAnswering(p)
	windows := func() (parked, pending float64, settled bool) {
		s := p.mustAsk("mem.shop.status", "")
		w := s["windows"].(object)
		parked, _ = w["parked"].(float64)
		return parked, w["pending"].(float64), s["settled"] == true
	}
	const budget = 12_000
	two := []*programs.Process{extractor(budget), extractor(budget)}
	for i, g := range goods {
		session := fmt.Sprintf("s%d", i)
		body, _ := json.Marshal(object{"id": "m-" + g, "speaker": "Ida", "content": "I bought a " + g + "."}) //nolint:errcheck // strings
		p.publish("mem.shop.message."+session, string(body))
		p.publish("mem.shop.flush."+session, "")
	}
	killed(two, 3, budget)
	natstest.Eventually(t, "all that is left waits for the budget", func() bool {
		parked, pending, _ := windows()
		return parked > 0 && parked == pending
	})
	parked, _, settled := windows()
	spent := calls()
	if parked < float64(len(goods))/4 || parked == float64(len(goods)) || settled {
		t.Errorf("%v of %d windows wait after %d calls; settled: %v", parked, len(goods), spent, settled)
	}
	two[0].Kill(t) // what is parked is nobody's
	two[0] = extractor(budget)
	body := `{"speaker":"Bo","content":"I sold a nutcracker."}`
	p.publish("mem.stall.message.s", body) // another bank waits for none of it
	p.publish("mem.stall.flush.s", "")
	p.settle("stall")
	if now, _, _ := windows(); now != parked || calls() != spent+1 {
		t.Errorf("%v windows wait, %v before; %d calls, %d before", now, parked, calls(), spent)
	}

	for _, e := range two {
		e.Kill(t)
	}
	const raised = 10_000_000
	two = []*programs.Process{extractor(raised), extractor(raised)}
	killed(two, 4, raised)
	s := p.settle("shop")
	conserved(t, s, len(goods))
	if s["dead"] != 0.0 || s["windows"].(object)["parked"] != nil {
		t.Errorf("the status is %v", s)
	}
	found := facts(p, "shop")
	for _, g := range goods {
		of := slices.DeleteFunc(slices.Clone(found), func(f string) bool { return !strings.HasSuffix(f, "<- m-"+g) })
		if len(of) != 1 {
			t.Errorf("%d facts of the %s: %q", len(of), g, of)
		}
	}
	if len(found) != len(goods) {
		t.Errorf("%d facts of %d things", len(found), len(goods))
	}
	if v := p.mustAsk("mem.admin.verify", `{"full":true}`); v["ok"] != true {
		t.Errorf("verify says %v", v["problems"])
	}
}
