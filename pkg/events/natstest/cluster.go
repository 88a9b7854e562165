package natstest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/test/freeport"
)

// Cluster is three NATS servers with JetStream in this process. They end with the test.
type Cluster struct {
	options [3]server.Options
	servers [3]*server.Server
}

// StartCluster runs a cluster on free ports of 127.0.0.1 and returns when it has a leader. change, if given, is called with
// the options of each server.
func StartCluster(t testing.TB, change ...func(*server.Options)) *Cluster {
	t.Helper()
	ports, err := freeport.Take(t.Context(), 6)
	if err != nil {
		t.Fatal(err)
	}
	routes := ""
	for _, p := range ports[3:] {
		routes += fmt.Sprintf(",nats://127.0.0.1:%d", p)
	}
	c := &Cluster{}
	for i := range c.servers {
		c.options[i] = server.Options{ServerName: fmt.Sprintf("n%d", i), Host: "127.0.0.1", Port: ports[i], JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true,
			Cluster: server.ClusterOpts{Name: "c", Host: "127.0.0.1", Port: ports[3+i]}, Routes: server.RoutesFromStr(routes[1:])}
		for _, f := range change {
			f(&c.options[i])
		}
		c.Restart(t, i)
	}
	t.Cleanup(func() {
		for i := range c.servers {
			c.Stop(i)
		}
	})
	Eventually(t, "a leader of the cluster", func() bool {
		for _, s := range c.servers {
			if s.JetStreamIsLeader() && len(s.JetStreamClusterPeers()) == len(c.servers) {
				return true
			}
		}
		return false
	})
	return c
}

// Stop ends a server, which hands its leaderships over, and returns when it has ended.
func (c *Cluster) Stop(i int) {
	c.servers[i].Shutdown()
	c.servers[i].WaitForShutdown()
}

// Restart starts a server, again after Stop, and returns when it takes connections.
func (c *Cluster) Restart(t testing.TB, i int) {
	t.Helper()
	o := c.options[i]
	s, err := server.NewServer(&o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	c.servers[i] = s
	if !s.ReadyForConnections(20 * time.Second) {
		t.Fatal("a server of the cluster is not ready")
	}
}

// URL returns the addresses of all servers, that of server first in front.
func (c *Cluster) URL(first int) string {
	var list []string
	for i := range c.servers {
		list = append(list, fmt.Sprintf("nats://127.0.0.1:%d", c.options[(first+i)%len(c.servers)].Port))
	}
	return strings.Join(list, ",")
}

// Monitors returns the addresses of the servers' monitoring, where an option opened it.
func (c *Cluster) Monitors() []string {
	var list []string
	for _, s := range c.servers {
		if a := s.MonitorAddr(); a != nil {
			list = append(list, "http://"+a.String())
		}
	}
	return list
}

// Connect returns a connection to the cluster, which is closed with the test.
func (c *Cluster) Connect(t testing.TB) *events.Conn {
	t.Helper()
	conn, err := events.Connect(context.Background(), events.ConnConfig{URL: c.URL(0), Name: t.Name(), Wait: 10 * time.Second, Log: zerolog.Nop()})
	if err != nil {
		t.Fatalf("connect to the cluster: %v", err)
	}
	t.Cleanup(conn.Close)
	return conn
}
