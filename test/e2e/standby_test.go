package e2e_test

import (
	"testing"
	"time"
)

func TestAStandbyConsolidatorTakesOverFromOneThatIsKilled(t *testing.T) {
	t.Parallel()
	const messages = 60
	url := startBroker(t)
	env := []string{"EUNOE_URL=" + url, "EUNOE_DATA=" + t.TempDir(), "EUNOE_LOG=warn", "EUNOE_IDLE_AFTER=1m", "EUNOE_ACK_WAIT=2s"}
	ingests := []*process{start(t, env, "ingest"), start(t, env, "ingest")}
	start(t, env, "extractor")
	active := start(t, env, "consolidator")
	start(t, env, "query")
	p := dial(t, url)
	waitAnswering(p)
	converse(p, "before", messages)
	p.settle("before")

	standby := start(t, env, "consolidator")
	for _, dead := range []*process{active, ingests[0]} {
		if err := dead.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = dead.cmd.Wait()
	}
	killed := time.Now()
	converse(p, "after", messages)
	conserved(t, p.settle("after"), messages)
	t.Logf("settled %s after the kill", time.Since(killed).Round(time.Millisecond))
	if standby.cmd.ProcessState != nil {
		t.Error("the standby is gone")
	}
}
