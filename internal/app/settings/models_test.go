package settings_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/internal/app/settings"
)

func TestModelSettings(t *testing.T) {
	t.Parallel()
	value := func(t *testing.T, environ []string, name string) (string, string) {
		t.Helper()
		_, list, err := settings.Load(environ, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			if s.Name == name {
				return s.Value, s.Source
			}
		}
		t.Fatalf("there is no setting %s", name)
		return "", ""
	}
	t.Run("a wrong value is an error that names its setting", func(t *testing.T) {
		t.Parallel()
		for _, c := range []struct{ environ, names string }{
			{"EUNOE_MODEL=gpt-4o", "EUNOE_MODEL:"},
			{"EUNOE_MODEL=acme:x", "EUNOE_MODEL:"},
			{"EUNOE_MODEL=openai:", "EUNOE_MODEL:"},
			{"EUNOE_MODEL=openai:x", "EUNOE_MODEL_KEY|OPENAI_API_KEY"},
			{"EUNOE_MODEL=anthropic:x", "EUNOE_MODEL_KEY|ANTHROPIC_API_KEY"},
			{"EUNOE_MODEL=google:x", "EUNOE_MODEL_KEY|GOOGLE_API_KEY|GEMINI_API_KEY"},
			{"EUNOE_MODEL=openai:x EUNOE_MODEL_URL=https://gateway.example.org/v1", "EUNOE_MODEL_KEY"},
			{"EUNOE_MODEL=ollama:x EUNOE_MODEL_URL=127.0.0.1:11434", "EUNOE_MODEL_URL"},
			{"EUNOE_MODEL=ollama:x EUNOE_MODEL_URL=http://me:secret@127.0.0.1/v1", "EUNOE_MODEL_URL"},
			{"EUNOE_MODEL_URL=http://127.0.0.1/v1", "EUNOE_MODEL_URL"},
			{"EUNOE_MODEL=ollama:x EUNOE_MODEL_JUDGE=nobody", "EUNOE_MODEL_JUDGE"},
			{"EUNOE_MODEL=ollama:x EUNOE_MODEL_DECIDE=anthropic:y", "EUNOE_MODEL_KEY|ANTHROPIC_API_KEY"},
			{"EUNOE_EMBED=openai:x", "EUNOE_EMBED_KEY|OPENAI_API_KEY"},
			{"EUNOE_EMBED=anthropic:x ANTHROPIC_API_KEY=k", "EUNOE_EMBED:"},
			{"EUNOE_EMBED=ollama:x EUNOE_EMBED_DIM=-1", "EUNOE_EMBED_DIM"},
			{"EUNOE_EMBED=ollama:x EUNOE_EMBED_URL=ftp://x", "EUNOE_EMBED_URL"},
			{"EUNOE_EMBED_DIM=3", "EUNOE_EMBED_DIM"},
			{"EUNOE_RERANK_URL=nowhere", "EUNOE_RERANK_URL"},
			{"EUNOE_RERANK_MODEL=x", "EUNOE_RERANK_MODEL"},
			{"EUNOE_MODEL_TIMEOUT=0s", "EUNOE_MODEL_TIMEOUT"},
			{"EUNOE_MODEL_CONCURRENCY=0", "EUNOE_MODEL_CONCURRENCY"},
		} {
			_, _, err := settings.Load(strings.Fields(c.environ), nil)
			for _, name := range strings.Split(c.names, "|") {
				if err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "secret") {
					t.Errorf("%s: the error must name %s: %v", c.environ, name, err)
				}
			}
		}
	})
	t.Run("the usual key variable is enough, and a server on this machine needs none", func(t *testing.T) {
		t.Parallel()
		for _, environ := range []string{
			"EUNOE_MODEL=openai:gpt-4o-mini OPENAI_API_KEY=k", "EUNOE_MODEL=anthropic:claude ANTHROPIC_API_KEY=k", "EUNOE_MODEL=google:gemini GEMINI_API_KEY=k",
			"EUNOE_MODEL=google:gemini GOOGLE_API_KEY=k", "EUNOE_MODEL=ollama:llama3.2", "EUNOE_MODEL=openai:x EUNOE_MODEL_URL=http://localhost:8000/v1",
			"EUNOE_MODEL=ollama:x EUNOE_MODEL_URL=http://gpu.lan:11434/v1", "EUNOE_MODEL=openai:x EUNOE_MODEL_URL=https://gateway.example.org/v1 EUNOE_MODEL_KEY=k",
			"EUNOE_EMBED=ollama:nomic-embed-text", "EUNOE_MODEL=anthropic:x EUNOE_EMBED=openai:y OPENAI_API_KEY=a ANTHROPIC_API_KEY=b", "EUNOE_RERANK_URL=http://127.0.0.1:8080",
		} {
			if _, _, err := settings.Load(strings.Fields(environ), nil); err != nil {
				t.Errorf("%s: %v", environ, err)
			}
		}
	})
	t.Run("keys are never printed", func(t *testing.T) {
		t.Parallel()
		environ := []string{"EUNOE_MODEL=openai:x", "EUNOE_MODEL_KEY=sk-hidden", "EUNOE_EMBED=openai:y", "EUNOE_EMBED_KEY=sk-hidden", "EUNOE_RERANK_URL=http://127.0.0.1", "EUNOE_RERANK_KEY=sk-hidden", "OPENAI_API_KEY=sk-hidden"}
		c, list, err := settings.Load(environ, nil)
		if err != nil {
			t.Fatal(err)
		}
		if all := fmt.Sprintf("%v %+v %#v %v", c, c, c, list); strings.Contains(all, "hidden") {
			t.Errorf("a key shows in %s", all)
		}
		if v, from := value(t, environ, "EUNOE_MODEL_KEY"); v != "(set)" || from != "environment" {
			t.Errorf("it shows as %q from %s", v, from)
		}
		if v, _ := value(t, []string{"EUNOE_MODEL=openai:x", "OPENAI_API_KEY=sk-hidden"}, "EUNOE_MODEL_KEY"); v != "(OPENAI_API_KEY)" {
			t.Errorf("a key of the provider's variable shows as %q", v)
		}
	})
	t.Run("with an extraction model windows are larger, unless configured", func(t *testing.T) {
		t.Parallel()
		for _, c := range []struct{ environ, every, tokens string }{
			{"", "2", "512"}, {"EUNOE_MODEL=ollama:x", "0", "2048"}, {"EUNOE_MODEL_EXTRACT=ollama:x", "0", "2048"}, {"EUNOE_MODEL_REFLECT=ollama:x", "2", "512"},
			{"EUNOE_MODEL=ollama:x EUNOE_TRIGGER_EVERY=4", "4", "2048"}, {"EUNOE_MODEL=ollama:x EUNOE_WINDOW_TOKENS=100", "0", "100"},
		} {
			every, _ := value(t, strings.Fields(c.environ), "EUNOE_TRIGGER_EVERY")
			tokens, _ := value(t, strings.Fields(c.environ), "EUNOE_WINDOW_TOKENS")
			if every != c.every || tokens != c.tokens {
				t.Errorf("%q: every %s messages, %s tokens; want %s and %s", c.environ, every, tokens, c.every, c.tokens)
			}
		}
	})
}
