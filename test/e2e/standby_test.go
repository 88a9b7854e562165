package e2e_test

import (
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/test/programs"
)

func TestAStandbyConsolidatorTakesOverFromOneThatIsKilled(t *testing.T) {
	t.Parallel()
	const messages = 60
	url := startBroker(t)
	env := []string{"EUNOE_URL=" + url, "EUNOE_DATA=" + t.TempDir(), "EUNOE_LOG=warn", "EUNOE_IDLE_AFTER=1m", "EUNOE_ACK_WAIT=2s"}
	ingests := []*programs.Process{programs.Start(t, env, "ingest"), programs.Start(t, env, "ingest")}
	programs.Start(t, env, "extractor")
	active := programs.Start(t, env, "consolidator")
	programs.Start(t, env, "query")
	p := dial(t, url)
	waitAnswering(p)
	converse(p, "before", messages)
	p.settle("before")

	standby := programs.Start(t, env, "consolidator")
	for _, dead := range []*programs.Process{active, ingests[0]} {
		dead.Kill(t)
	}
	killed := time.Now()
	converse(p, "after", messages)
	conserved(t, p.settle("after"), messages)
	t.Logf("settled %s after the kill", time.Since(killed).Round(time.Millisecond))
	if !standby.Running() {
		t.Error("the standby is gone")
	}
}
