package main_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/test/scriptedmodel"
)

// TestTheModelsPage follows the models page as a new user does: it sets the variables that the page exports and runs
// doctor against the scripted model.
func TestTheModelsPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/MODELS.md")
	if err != nil {
		t.Fatal(err)
	}
	url := scriptedmodel.Start(t, nil).URL
	setting := regexp.MustCompile(`([A-Z_]+)=('[^']*'|\S+)`)
	tried := 0
	for _, line := range regexp.MustCompile(`(?m)^export .*$`).FindAllString(string(page), -1) {
		line, _, _ = strings.Cut(line, " #")
		environ := []string{"EUNOE_URL=nats://127.0.0.1:1", "EUNOE_TIMEOUT=20s"}
		speaks := true // OpenAI's protocol, or that of a reranker
		at := map[string]string{}
		for _, m := range setting.FindAllStringSubmatch(line, -1) {
			name, value := m[1], strings.Trim(m[2], "'")
			speaks = speaks && !strings.HasPrefix(value, "anthropic:") && !strings.HasPrefix(value, "google:")
			switch name {
			case "EUNOE_MODEL":
				at["EUNOE_MODEL_URL"] = url
			case "EUNOE_EMBED":
				at["EUNOE_EMBED_URL"] = url
			case "EUNOE_RERANK_URL": // its host says its shape, which has a path
				if value != "http://127.0.0.1:8080" && value != "http://127.0.0.1:8099" {
					value = url
				} else {
					value = strings.TrimSuffix(url, "/v1")
				}
			case "EUNOE_MODEL_URL", "EUNOE_EMBED_URL":
				value = url
			}
			environ = append(environ, name+"="+value)
		}
		for name, value := range at {
			environ = append(environ, name+"="+value)
		}
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			if r := run(t, t.Context(), environ, "", "config"); r.code != 0 {
				t.Fatalf("%+v", r)
			}
			if !speaks {
				return
			}
			out := run(t, t.Context(), environ, "", "doctor").out
			for part, check := range map[string]string{"EUNOE_MODEL=": "ok   model ", "EUNOE_EMBED=": "ok   embedder ", "EUNOE_RERANK_URL=": "ok   reranker "} {
				if strings.Contains(line, part) && !strings.Contains(out, check) {
					t.Errorf("%q is not in\n%s", check, out)
				}
			}
		})
		tried++
	}
	if tried < 14 {
		t.Errorf("only %d settings are shown", tried)
	}
}
