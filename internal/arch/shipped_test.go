package arch_test

import (
	"os/exec"
	"path"
	"strings"
	"testing"
)

// TestShippedProgramsLinkNoTestSupport checks that the programs under cmd link neither the benchmark nor the scripted
// model nor any other test support.
func TestShippedProgramsLinkNoTestSupport(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "./cmd/...")
	cmd.Dir = root(t)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	seen := map[string]bool{}
	for _, pkg := range strings.Fields(string(out)) {
		rel, own := strings.CutPrefix(pkg, module)
		if !own {
			continue
		}
		seen[rel] = true
		if first, _, _ := strings.Cut(rel, "/"); first == "bench" || first == "test" || strings.HasSuffix(path.Base(rel), "test") {
			t.Errorf("a program under cmd links %s", rel)
		}
	}
	for _, pkg := range []string{"cmd/eunoe", "cmd/extractor", "pkg/memory", "pkg/consolidate"} {
		if !seen[pkg] {
			t.Errorf("%s is not among what the programs link: does this test still see them?", pkg)
		}
	}
}
