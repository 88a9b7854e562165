package settings_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/internal/app/settings"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	t.Run("a flag overrides the environment, the environment the default; an invalid value is named", func(t *testing.T) {
		t.Parallel()
		environ := []string{"EUNOE_WINDOW_TOKENS=300", "EUNOE_EXTRACTORS=5", "HOME=/root"}
		c, list, err := settings.Load(environ, map[string]string{"EXTRACTORS": "6"})
		if err != nil {
			t.Fatal(err)
		}
		if c.WindowTokens != 300 || c.Extractors != 6 || c.TriggerEvery != 2 {
			t.Fatalf("got tokens %d, extractors %d, trigger %d", c.WindowTokens, c.Extractors, c.TriggerEvery)
		}
		want := map[string]string{"EUNOE_WINDOW_TOKENS": "environment", "EUNOE_EXTRACTORS": "flag", "EUNOE_TRIGGER_EVERY": "default"}
		for _, s := range list {
			if from, ok := want[s.Name]; ok && s.Source != from {
				t.Errorf("%s comes from %s, want %s", s.Name, s.Source, from)
			}
		}
		for _, bad := range []string{"WINDOW_TOKENS=0", "EXTRACTORS=x", "PREFIX=a.b", "LOG=loud", "IDLE_AFTER=-1s", "HTTP=nowhere", "ROLE_FILTER=boss", "PORT=70000", "SYNC=perhaps", "REPLICAS=2", "REPLICAS=-1"} {
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

func TestAWithdrawnSettingIsAnErrorThatSaysWhatApplies(t *testing.T) {
	t.Parallel()
	for set, says := range map[string]string{
		"EUNOE_WINDOW_SIZE=6": "windows.window_size", "EUNOE_DEDUP=0.9": "thresholds.dedup", "EUNOE_CLUSTER=0.7": "thresholds.cluster",
		"EUNOE_DIAMETER=0.6": "thresholds.diameter", "EUNOE_MODEL_RETRIES=5": "EUNOE_MODEL_TIMEOUT", "EUNOE_REFLECT_TIMEOUT=20s": "deadline",
		"EUNOE_CHAT_TOKENS=2000": "1000", "EUNOE_RERANK_SHAPE=tei": "EUNOE_RERANK_URL", "EUNOE_TRACE_ENDPOINT=http://localhost:4318": "OTEL_EXPORTER_OTLP_ENDPOINT",
		"EUNOE_GRACE=5s": "10s", "EUNOE_BATCH=10": "200", "EUNOE_SLOTS=8": "requests", "EUNOE_MODEL_PATIENCE=1h": "24h",
		"EUNOE_CONSOLIDATE_BATCH=8": "32", "EUNOE_CONSOLIDATE_AFTER=1m": "5m", "EUNOE_SUMMARISE_MIN=2": "4 facts",
	} {
		name, _, _ := strings.Cut(set, "=")
		_, list, err := settings.Load([]string{set}, nil)
		if err == nil || !strings.Contains(err.Error(), name+" ") || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: the error must name it and %s: %v", set, says, err)
		}
		if slices.ContainsFunc(list, func(s settings.Setting) bool { return s.Name == name }) {
			t.Errorf("%s is among the settings", name)
		}
		if _, _, err := settings.Load([]string{name + "="}, nil); err != nil {
			t.Errorf("%s is set to nothing: %v", name, err)
		}
	}
	if _, _, err := settings.Load([]string{"EUNOE_DEDUP=0.9", "EUNOE_PREFIX=a.b"}, nil); err == nil ||
		!strings.Contains(err.Error(), "EUNOE_DEDUP") || !strings.Contains(err.Error(), "EUNOE_PREFIX") {
		t.Errorf("another wrong setting is hidden: %v", err)
	}
}
