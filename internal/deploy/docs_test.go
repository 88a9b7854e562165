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

	"github.com/eunoe-memory/eunoe/internal/app"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// documents gives the text of every page, by its path from the root.
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

// anchors gives the headings of a page as links name them.
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

func TestEveryCommandInThePagesExists(t *testing.T) {
	t.Parallel()
	makefile := read(t, "Makefile")
	sources, err := filepath.Glob(filepath.Join(root, "cmd/eunoe/*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var program strings.Builder
	for _, f := range sources {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		program.Write(b)
	}
	target := regexp.MustCompile("`make ([a-z]+)|(?m)^make ([a-z]+)")
	command := regexp.MustCompile("(?:bin/|`)eunoe ([a-z][a-z-]*)")
	for page, text := range documents(t) {
		for _, m := range target.FindAllStringSubmatch(text, -1) {
			if name := m[1] + m[2]; !regexp.MustCompile(`(?m)^` + name + `:`).MatchString(makefile) {
				t.Errorf("%s: there is no target %s", page, name)
			}
		}
		for _, m := range command.FindAllStringSubmatch(text, -1) {
			if m[1] != "help" && !regexp.MustCompile(`Use:\s+"`+m[1]+`["\s]`).MatchString(program.String()) {
				t.Errorf("%s: there is no command eunoe %s", page, m[1])
			}
		}
	}
}

func TestEverySettingInThePagesExists(t *testing.T) {
	t.Parallel()
	_, settings, err := app.LoadConfig(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	// EUNOE_BANK and EUNOE_TIMEOUT are the command line's alone.
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
	_, settings, err := app.LoadConfig(nil, nil)
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
	l, err := app.StartLocal(t.Context(), settings(t, "EUNOE_MODEL=ollama:none"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	// Usage has series by stage and model, and so none before a model was called.
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
