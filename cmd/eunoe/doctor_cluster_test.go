package main_test

import (
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
)

func TestDoctorLooksAtACluster(t *testing.T) {
	t.Parallel()
	cluster := natstest.StartCluster(t, func(o *server.Options) {
		o.HTTPHost, o.HTTPPort, o.SyncAlways = "127.0.0.1", -1, o.ServerName != "n1"
	})
	conn := cluster.Connect(t)
	options := events.DefaultStreamOptions()
	options.Replicas = 3
	if err := conn.Reconcile(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	lines := func(args ...string) string {
		r := run(t, t.Context(), []string{"EUNOE_URL=" + cluster.URL(0), "EUNOE_TIMEOUT=20s"}, "", append([]string{"doctor"}, args...)...)
		return r.out
	}
	natstest.Eventually(t, "all replicas are current", func() bool {
		return strings.Contains(lines(), "ok   replicas     3 of every event, all of them current")
	})
	if out := lines(); !strings.Contains(out, "ok   sync         not checked: whether n0, n1, n2 sync") {
		t.Errorf("without addresses of the monitoring:\n%s", out)
	}
	out := lines("--monitor", strings.Join(cluster.Monitors(), ","))
	if !strings.Contains(out, "BAD  sync         n1 syncs every 2m0s: it acknowledges what is not on its disk") || !strings.Contains(out, "→ set `sync_interval: always`") {
		t.Errorf("one server syncs late:\n%s", out)
	}
	cluster.Stop(1)
	natstest.Eventually(t, "a replica is missed", func() bool {
		out := lines("--monitor", strings.Join(cluster.Monitors(), ","))
		return strings.Contains(out, "BAD  replicas") && strings.Contains(out, " on n1 is ")
	})
}
