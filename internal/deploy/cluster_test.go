package deploy_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/types"
	"github.com/nats-io/nats-server/v2/server"

	"github.com/eunoe-memory/eunoe/internal/app/settings"
)

var brokers = []string{"nats1", "nats2", "nats3"}

func TestTheClusterRunsThreeBrokersPostgreSQLAndTwoOfEachStage(t *testing.T) {
	t.Parallel()
	p := load(t, "compose.cluster.yaml")
	names := p.ServiceNames()
	slices.Sort(names)
	if want := []string{"consolidator", "extractor", "ingest", "nats1", "nats2", "nats3", "postgres", "query"}; !slices.Equal(names, want) {
		t.Fatalf("services are %v, want %v", names, want)
	}
	single := project(t)
	for name, s := range p.Services {
		if s.Restart != types.RestartPolicyUnlessStopped || s.HealthCheck == nil || len(s.HealthCheck.Test) == 0 {
			t.Errorf("%s is not restarted (%q), or has no health check", name, s.Restart)
		}
		for _, port := range s.Ports {
			if port.HostIP != "127.0.0.1" {
				t.Errorf("%s publishes port %s to %q; only the loopback is safe without users", name, port.Published, port.HostIP)
			}
		}
		if slices.Contains(brokers, name) {
			if s.Image != single.Services["nats"].Image {
				t.Errorf("%s runs %s, the single broker %s", name, s.Image, single.Services["nats"].Image)
			}
			continue
		}
		if name == "postgres" {
			continue
		}
		if s.GetScale() != 2 || s.ContainerName != "" {
			t.Errorf("there are %d of %s", s.GetScale(), name)
		}
		if !slices.Equal(s.Command, types.ShellCommand{name}) || s.Image != "eunoe" {
			t.Errorf("%s runs %v of the image %s", name, s.Command, s.Image)
		}
		for _, b := range brokers {
			if s.DependsOn[b].Condition != types.ServiceConditionHealthy {
				t.Errorf("%s does not wait for %s", name, b)
			}
		}
		var environ []string
		for key, value := range s.Environment {
			environ = append(environ, key+"="+*value)
		}
		c, _, err := settings.Load(environ, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if c.Replicas != len(brokers) || strings.Count(c.URL, "nats://") != len(brokers) {
			t.Errorf("%s connects to %s for %d replicas", name, c.URL, c.Replicas)
		}
	}
	for name, s := range p.Services {
		if name != "consolidator" && name != "query" {
			if s.Environment["EUNOE_STORE"] != nil {
				t.Errorf("%s has a store", name)
			}
			continue
		}
		if *s.Environment["EUNOE_STORE"] != "postgres://eunoe@postgres/eunoe" || *s.Environment["EUNOE_SHARDS"] != "4" {
			t.Errorf("the stores of %s are %v", name, s.Environment)
		}
		if s.DependsOn["postgres"].Condition != types.ServiceConditionHealthy || *s.Environment["PGPASSWORD"] != *p.Services["postgres"].Environment["POSTGRES_PASSWORD"] {
			t.Errorf("%s does not wait for the server, or has another password", name)
		}
	}
	if pg := p.Services["postgres"]; len(pg.Ports) > 0 || len(pg.Volumes) != 1 || pg.Volumes[0].Source != "postgres" {
		t.Errorf("the server is published, or keeps nothing: %v, %v", pg.Ports, pg.Volumes)
	}
}

func TestTheServersOfTheClusterFindEachOtherAndKeepWhatTheyAcknowledge(t *testing.T) {
	t.Parallel()
	p := load(t, "compose.cluster.yaml")
	volumes := map[string]bool{}
	for _, name := range brokers {
		s := p.Services[name]
		file := filepath.Join(t.TempDir(), "nats.conf")
		if err := os.WriteFile(file, []byte(p.Configs[s.Configs[0].Source].Content), 0o600); err != nil {
			t.Fatal(err)
		}
		o, err := server.ProcessConfigFile(file)
		if err != nil {
			t.Fatalf("%s would not start: %v", name, err)
		}
		if !o.JetStream || !o.SyncAlways || o.StoreDir != s.Volumes[0].Target {
			t.Errorf("%s: JetStream %v, sync always %v, streams in %s on the volume at %s", name, o.JetStream, o.SyncAlways, o.StoreDir, s.Volumes[0].Target)
		}
		volumes[s.Volumes[0].Source] = true
		if want := (types.ShellCommand{"-c", s.Configs[0].Target, "--name", name}); !slices.Equal(s.Command, want) {
			t.Errorf("%s runs %v, want %v: JetStream needs names that differ", name, s.Command, want)
		}
		var routes []string
		for _, r := range o.Routes {
			routes = append(routes, r.Hostname())
			if r.Port() != "6222" || o.Cluster.Port != 6222 {
				t.Errorf("%s: the route %s does not lead to the port of the cluster, %d", name, r, o.Cluster.Port)
			}
		}
		if !slices.Equal(routes, brokers) {
			t.Errorf("%s has routes to %v", name, routes)
		}
	}
	if len(volumes) != len(brokers) {
		t.Errorf("the servers share volumes: %v", volumes)
	}
}
