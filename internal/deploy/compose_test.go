package deploy_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/nats-io/nats-server/v2/server"

	"github.com/eunoe-memory/eunoe/internal/app/settings"
)

const root = "../.."

// stages are the services that run a program of this module.
var stages = []string{"ingest", "extractor", "consolidator", "query", "gateway"}

func project(t *testing.T) *types.Project {
	t.Helper()
	return load(t, "compose.yaml")
}

func load(t *testing.T, name string) *types.Project {
	t.Helper()
	options, err := cli.NewProjectOptions([]string{filepath.Join(root, name)}, cli.WithResolvedPaths(true), cli.WithProfiles([]string{"*"}))
	if err != nil {
		t.Fatal(err)
	}
	p, err := options.LoadProject(context.Background())
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return p
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestComposeRunsTheFourStagesAndABroker(t *testing.T) {
	t.Parallel()
	p := project(t)
	names := p.ServiceNames()
	slices.Sort(names)
	if want := []string{"consolidator", "extractor", "gateway", "ingest", "nats", "query"}; !slices.Equal(names, want) {
		t.Fatalf("services are %v, want %v", names, want)
	}
	for name, s := range p.Services {
		if s.Restart != types.RestartPolicyUnlessStopped {
			t.Errorf("%s is not restarted: %q", name, s.Restart)
		}
		if s.HealthCheck == nil || s.HealthCheck.Disable || len(s.HealthCheck.Test) == 0 {
			t.Errorf("%s has no health check", name)
		}
		if host, _, found := strings.Cut(s.Image, "/"); found && strings.ContainsAny(host, ".:") {
			t.Errorf("%s names a registry host: %s", name, s.Image)
		}
		if s.ContainerName != "" {
			t.Errorf("%s has a fixed container name and cannot be scaled", name)
		}
		for _, port := range s.Ports {
			if port.HostIP != "127.0.0.1" {
				t.Errorf("%s publishes port %s to %q; only the loopback is safe without users", name, port.Published, port.HostIP)
			}
		}
	}
}

func TestEveryStageIsAProgramOfTheImage(t *testing.T) {
	t.Parallel()
	p, dockerfile := project(t), read(t, "Dockerfile")
	for _, name := range stages {
		s := p.Services[name]
		if !slices.Equal(s.Command, types.ShellCommand{name}) {
			t.Errorf("%s runs %v", name, s.Command)
		}
		if s.Build == nil || s.Image != "eunoe" {
			t.Errorf("%s does not run the image this repository builds: %q", name, s.Image)
		}
		if !strings.Contains(dockerfile, "/src/bin/"+name+" ") {
			t.Errorf("the Dockerfile does not carry %s", name)
		}
		if _, err := os.Stat(filepath.Join(root, "cmd", name, "main.go")); err != nil {
			t.Errorf("%s has no program: %v", name, err)
		}
		if s.DependsOn["nats"].Condition != types.ServiceConditionHealthy {
			t.Errorf("%s does not wait for a healthy broker", name)
		}
		if len(s.Ports) > 0 && name != "gateway" { // which a proxy on the host has to find
			t.Errorf("%s publishes a fixed port and cannot be scaled", name)
		}
	}
}

func TestTheExtractorCanBeScaled(t *testing.T) {
	t.Parallel()
	p := project(t)
	s := p.Services["extractor"]
	s.SetScale(4)
	if s.GetScale() != 4 {
		t.Fatalf("scale is %d", s.GetScale())
	}
	if len(s.Volumes) > 0 {
		t.Errorf("an extractor keeps state: %v", s.Volumes)
	}
}

func TestConsolidatorAndQueryShareTheStore(t *testing.T) {
	t.Parallel()
	p := project(t)
	store := func(name string) (volume, file string) {
		s := p.Services[name]
		if len(s.Volumes) != 1 {
			t.Fatalf("%s has %d volumes", name, len(s.Volumes))
		}
		v := s.Volumes[0]
		f := s.Environment["EUNOE_STORE"]
		if f == nil || !strings.HasPrefix(*f, v.Target+"/") {
			t.Fatalf("%s does not keep its store in the volume at %s", name, v.Target)
		}
		return v.Source, *f
	}
	v1, f1 := store("consolidator")
	v2, f2 := store("query")
	if v1 != v2 || f1 != f2 {
		t.Errorf("consolidator uses %s on %s, query %s on %s", f1, v1, f2, v2)
	}
	for _, name := range []string{v1, p.Services["nats"].Volumes[0].Source} {
		if _, ok := p.Volumes[name]; !ok {
			t.Errorf("the volume %s is not declared", name)
		}
	}
}

func TestTheSettingsOfEveryServiceAreValid(t *testing.T) {
	t.Parallel()
	p := project(t)
	_, known, err := settings.Load(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range stages {
		var environ []string
		for key, value := range p.Services[name].Environment {
			if value == nil {
				t.Errorf("%s: %s has no value", name, key)
				continue
			}
			environ = append(environ, key+"="+*value)
			if !slices.ContainsFunc(known, func(s settings.Setting) bool { return s.Name == key }) {
				t.Errorf("%s: there is no setting %s", name, key)
			}
		}
		if _, _, err := settings.Load(environ, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheHealthChecksAskThePortTheProgramsOpen(t *testing.T) {
	t.Parallel()
	p := project(t)
	for _, name := range stages {
		s := p.Services[name]
		_, port, _ := strings.Cut(*s.Environment["EUNOE_HEALTH"], ":")
		if url := s.HealthCheck.Test[len(s.HealthCheck.Test)-1]; url != "http://127.0.0.1:"+port+"/readyz" {
			t.Errorf("%s is asked at %s but listens on port %s", name, url, port)
		}
	}
}

func TestTheBrokerKeepsWhatItAcknowledges(t *testing.T) {
	t.Parallel()
	p := project(t)
	s := p.Services["nats"]
	file := filepath.Join(t.TempDir(), "nats.conf")
	if err := os.WriteFile(file, []byte(p.Configs[s.Configs[0].Source].Content), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := server.ProcessConfigFile(file)
	if err != nil {
		t.Fatalf("the broker would not start: %v", err)
	}
	if !o.JetStream || !o.SyncAlways || o.StoreDir != s.Volumes[0].Target {
		t.Errorf("JetStream %v, sync always %v, streams in %s on the volume at %s", o.JetStream, o.SyncAlways, o.StoreDir, s.Volumes[0].Target)
	}
	if !slices.Equal(s.Command, types.ShellCommand{"-c", s.Configs[0].Target}) {
		t.Errorf("the broker runs %v and its settings are at %s", s.Command, s.Configs[0].Target)
	}
	version := regexp.MustCompile(`^(\d+\.\d+)\.`).FindStringSubmatch(server.VERSION)[1]
	if s.Image != "nats:"+version+"-alpine" {
		t.Errorf("the broker is %s; the one the tests run with is %s", s.Image, server.VERSION)
	}
}

func TestTheImageRunsWithoutRoot(t *testing.T) {
	t.Parallel()
	dockerfile := read(t, "Dockerfile")
	_, runtime, found := strings.Cut(dockerfile, "\nFROM debian:")
	if !found || !strings.Contains(runtime, "\nUSER eunoe\n") {
		t.Error("the last stage has no USER")
	}
	if version := regexp.MustCompile(`golang:(\d+\.\d+)-`).FindStringSubmatch(dockerfile); version == nil || !strings.Contains(read(t, "go.mod"), "\ngo "+version[1]+".") {
		t.Errorf("the Dockerfile builds with another Go than go.mod asks for: %v", version)
	}
}
