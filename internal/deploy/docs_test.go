package deploy_test

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/eunoe-memory/eunoe/internal/app/gateway"
	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// documents returns the text of every page, by its path from the root.
func documents(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			rel, err := filepath.Rel(root, f)
			if err != nil {
				t.Fatal(err)
			}
			out[rel] = read(t, rel)
		}
	}
	if len(out) < 8 {
		t.Fatalf("only %d pages were found", len(out))
	}
	return out
}

var fence = regexp.MustCompile("(?s)```.*?```")

// anchors returns the link anchors of a page's headings.
func anchors(text string) map[string]bool {
	out := map[string]bool{}
	for _, line := range strings.Split(fence.ReplaceAllString(text, ""), "\n") {
		if !strings.HasPrefix(line, "#") {
			continue
		}
		var b strings.Builder
		for _, r := range strings.ToLower(strings.TrimSpace(strings.TrimLeft(line, "#"))) {
			switch {
			case r == ' ':
				b.WriteByte('-')
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				b.WriteRune(r)
			}
		}
		out[b.String()] = true
	}
	return out
}

func TestEveryLinkLeadsSomewhere(t *testing.T) {
	t.Parallel()
	pages := documents(t)
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for page, text := range pages {
		for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			target := page
			if file != "" {
				target = filepath.Join(filepath.Dir(page), file)
			}
			if _, err := os.Stat(filepath.Join(root, target)); err != nil {
				t.Errorf("%s: the link %s leads nowhere", page, m[1])
				continue
			}
			if anchor != "" && !anchors(pages[target])[anchor] {
				t.Errorf("%s: %s has no heading %q", page, target, anchor)
			}
		}
	}
}

// sources returns the concatenated Go files of a folder.
func sources(t *testing.T, folder string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	return all.String()
}

func TestEveryCommandInThePagesExists(t *testing.T) {
	t.Parallel()
	makefile := read(t, "Makefile")
	commands := map[string]string{"eunoe": sources(t, "cmd/eunoe"), "eunoe-bench": sources(t, "bench")}
	target := regexp.MustCompile("`make ([a-z-]+)|(?m)^make ([a-z-]+)")
	command := regexp.MustCompile("(?:bin/|`)(eunoe|eunoe-bench) ([a-z][a-z-]*)")
	for page, text := range documents(t) {
		for _, m := range target.FindAllStringSubmatch(text, -1) {
			if name := m[1] + m[2]; !regexp.MustCompile(`(?m)^` + name + `:`).MatchString(makefile) {
				t.Errorf("%s: there is no target %s", page, name)
			}
		}
		for _, m := range command.FindAllStringSubmatch(text, -1) {
			if m[2] != "help" && !regexp.MustCompile(`(?:Use:\s+|loadCommand\()"`+m[2]+`["\s]`).MatchString(commands[m[1]]) {
				t.Errorf("%s: there is no command %s %s", page, m[1], m[2])
			}
		}
	}
}

func TestEverySettingInThePagesExists(t *testing.T) {
	t.Parallel()
	_, settings, err := settings.Load(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	// EUNOE_BANK and EUNOE_TIMEOUT are settings of the command line only.
	known := map[string]bool{"EUNOE_BANK": true, "EUNOE_TIMEOUT": true, "EUNOE_BENCH_DIR": true}
	for _, s := range settings {
		known[s.Name] = true
	}
	for page, text := range documents(t) {
		for _, name := range regexp.MustCompile(`EUNOE_[A-Z_]+`).FindAllString(text, -1) {
			if !known[strings.TrimSuffix(name, "_")] {
				t.Errorf("%s: there is no setting %s", page, name)
			}
		}
	}
}

func TestTheSettingsTableShowsTheDefaults(t *testing.T) {
	t.Parallel()
	_, settings, err := settings.Load(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	text := read(t, "docs/OPERATIONS.md")
	for _, s := range settings {
		row := regexp.MustCompile("(?m)^\\| `" + s.Name + "` \\| (.*?) \\|").FindStringSubmatch(text)
		if row == nil {
			t.Errorf("%s has no row", s.Name)
			continue
		}
		shown := strings.Trim(row[1], "`")
		if shown == "–" {
			shown = ""
		}
		if s.Name != "EUNOE_STORE" && shown != s.Value {
			t.Errorf("%s: the page says %q, the code %q", s.Name, shown, s.Value)
		}
	}
}

func TestEveryMetricInThePagesExists(t *testing.T) {
	t.Parallel()
	l, err := local.Start(t.Context(), quietSettings(t, "EUNOE_MODEL=ollama:none", "EUNOE_HTTP=127.0.0.1:0"), os.Stderr, gateway.Stage())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	// Usage series are labelled by stage and model, so none exist before the first model call.
	usage := []memory.StageUsage{{Stage: memory.StageExtract, Model: "ollama:none", Usage: memory.Usage{Calls: 1, Failed: 1}}}
	if _, err := l.Conn.AppendWrite(t.Context(), memory.Write{Bank: "alice", Kind: memory.WriteUsage, Op: "told", Usage: usage}); err != nil {
		t.Fatal(err)
	}
	var body []byte
	natstest.Eventually(t, "the metrics show the usage", func() bool {
		r, err := http.Get("http://" + l.HTTP + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		if body, err = io.ReadAll(r.Body); err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(body), "\neunoe_usage_calls_total{")
	})
	text := read(t, "docs/OPERATIONS.md")
	metric := regexp.MustCompile(`eunoe_[a-z]+_[a-z_]+`)
	for _, name := range metric.FindAllString(text, -1) {
		if !strings.Contains(string(body), "\n"+name) {
			t.Errorf("there is no metric %s", name)
		}
	}
	for _, line := range strings.Split(string(body), "\n") {
		if name := metric.FindString(line); name != "" && !strings.HasPrefix(line, "#") && !strings.Contains(text, "`"+name) {
			t.Errorf("the metric %s is not documented", name)
		}
	}
}
