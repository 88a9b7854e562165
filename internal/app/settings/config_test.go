package settings_test

import (
	"os"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/internal/app/settings"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	t.Run("a flag overrides the environment, the environment the default; an invalid value is named", func(t *testing.T) {
		t.Parallel()
		environ := []string{"EUNOE_WINDOW_SIZE=4", "EUNOE_EXTRACTORS=5", "HOME=/root"}
		c, list, err := settings.Load(environ, map[string]string{"EXTRACTORS": "6"})
		if err != nil {
			t.Fatal(err)
		}
		if c.WindowSize != 4 || c.Extractors != 6 || c.TriggerEvery != 2 {
			t.Fatalf("got size %d, extractors %d, trigger %d", c.WindowSize, c.Extractors, c.TriggerEvery)
		}
		want := map[string]string{"EUNOE_WINDOW_SIZE": "environment", "EUNOE_EXTRACTORS": "flag", "EUNOE_TRIGGER_EVERY": "default"}
		for _, s := range list {
			if from, ok := want[s.Name]; ok && s.Source != from {
				t.Errorf("%s comes from %s, want %s", s.Name, s.Source, from)
			}
		}
		for _, bad := range []string{"WINDOW_SIZE=0", "EXTRACTORS=x", "PREFIX=a.b", "LOG=loud", "IDLE_AFTER=-1s", "HTTP=nowhere", "ROLE_FILTER=boss", "CLUSTER=2", "PORT=70000", "SYNC=perhaps", "REPLICAS=2", "REPLICAS=-1"} {
			name, _, _ := strings.Cut(bad, "=")
			_, _, err := settings.Load([]string{"EUNOE_" + bad}, nil)
			if err == nil || !strings.Contains(err.Error(), "EUNOE_"+name) {
				t.Errorf("EUNOE_%s: the error must name it: %v", bad, err)
			}
		}
	})
}

func TestEverySettingIsDocumented(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../../docs/OPERATIONS.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, err := settings.Load(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		if !strings.Contains(string(b), "`"+s.Name+"`") {
			t.Errorf("%s is not in docs/OPERATIONS.md", s.Name)
		}
		if s.Doc == "" {
			t.Errorf("%s has no sentence of its own", s.Name)
		}
	}
}
