package work_test

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/work"
)

// cluster runs a cluster of three servers with JetStream and returns the URL of one.
func cluster(t *testing.T) string {
	t.Helper()
	var ports []int
	routes := ""
	for i := range 3 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
		if i > 0 {
			routes += ","
		}
		routes += fmt.Sprintf("nats://127.0.0.1:%d", ports[i])
		_ = l.Close()
	}
	var servers []*server.Server
	for i := range 3 {
		s, err := server.NewServer(&server.Options{ServerName: fmt.Sprintf("n%d", i), Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true,
			Cluster: server.ClusterOpts{Name: "c", Host: "127.0.0.1", Port: ports[i]}, Routes: server.RoutesFromStr(routes)})
		if err != nil {
			t.Fatal(err)
		}
		go s.Start()
		servers = append(servers, s)
	}
	for _, s := range servers {
		if !s.ReadyForConnections(20 * time.Second) {
			t.Fatal("not ready")
		}
	}
	t.Cleanup(func() {
		for _, s := range servers {
			s.Shutdown()
			s.WaitForShutdown()
		}
	})
	natstest.Eventually(t, "a leader of the cluster", func() bool {
		for _, s := range servers {
			if s.JetStreamIsLeader() {
				return s.JetStreamClusterPeers() != nil && len(s.JetStreamClusterPeers()) == 3
			}
		}
		return false
	})
	return servers[0].ClientURL()
}

func TestWorkGoesOnWhenTheLeaderOfItsConsumerMoves(t *testing.T) {
	t.Parallel()
	c, err := events.Connect(t.Context(), events.ConnConfig{URL: cluster(t), Wait: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	options := events.DefaultStreamOptions()
	options.Replicas = 3
	if err := c.Reconcile(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	var handled atomic.Int64
	goWork(t, c, work.Config{}, func(context.Context, events.Event) error { handled.Add(1); return nil })
	natstest.PublishWindow(t, c, 1)
	natstest.Eventually(t, "the first window", func() bool { return handled.Load() == 1 })
	leader := func() string {
		cons, err := c.JS.Consumer(t.Context(), c.Naming.Windows(), "extract")
		if err != nil || cons.CachedInfo().Cluster == nil {
			return ""
		}
		return cons.CachedInfo().Cluster.Leader
	}
	before := leader()
	if _, err := c.NC.Request("$JS.API.CONSUMER.LEADER.STEPDOWN."+c.Naming.Windows()+".extract", nil, 5*time.Second); err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, "another leader", func() bool { now := leader(); return now != "" && now != before })
	natstest.PublishWindow(t, c, 2)
	natstest.Eventually(t, "the window after it", func() bool { return handled.Load() == 2 })
}
