package app_test

import (
	"os"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/internal/app"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	t.Run("R24 a flag overrides the environment, the environment the default; an invalid value is named", func(t *testing.T) {
		t.Parallel()
		environ := []string{"EUNOE_WINDOW_SIZE=4", "EUNOE_BATCH=50", "HOME=/root"}
		c, settings, err := app.LoadConfig(environ, map[string]string{"BATCH": "60"})
		if err != nil {
			t.Fatal(err)
		}
		if c.WindowSize != 4 || c.Batch != 60 || c.TriggerEvery != 2 {
			t.Fatalf("got size %d, batch %d, trigger %d", c.WindowSize, c.Batch, c.TriggerEvery)
		}
		want := map[string]string{"EUNOE_WINDOW_SIZE": "environment", "EUNOE_BATCH": "flag", "EUNOE_TRIGGER_EVERY": "default"}
		for _, s := range settings {
			if from, ok := want[s.Name]; ok && s.Source != from {
				t.Errorf("%s comes from %s, want %s", s.Name, s.Source, from)
			}
		}
		for _, bad := range []string{"WINDOW_SIZE=0", "BATCH=x", "PREFIX=a.b", "LOG=loud", "GRACE=-1s", "HTTP=nowhere", "ROLE_FILTER=boss", "CLUSTER=2", "PORT=70000", "SYNC=perhaps"} {
			name, _, _ := strings.Cut(bad, "=")
			_, _, err := app.LoadConfig([]string{"EUNOE_" + bad}, nil)
			if err == nil || !strings.Contains(err.Error(), "EUNOE_"+name) {
				t.Errorf("EUNOE_%s: the error must name it: %v", bad, err)
			}
		}
	})
}

func TestEverySettingIsDocumented(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../docs/OPERATIONS.md")
	if err != nil {
		t.Fatal(err)
	}
	_, settings, err := app.LoadConfig(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range settings {
		if !strings.Contains(string(b), "`"+s.Name+"`") {
			t.Errorf("%s is not in docs/OPERATIONS.md", s.Name)
		}
		if s.Doc == "" {
			t.Errorf("%s has no sentence of its own", s.Name)
		}
	}
}
