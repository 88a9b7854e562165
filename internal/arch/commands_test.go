package arch_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestEveryCommandIsRunByATest(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(root(t), "cmd/eunoe/*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var program, tests strings.Builder
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(f, "_test.go") {
			tests.Write(b)
		} else {
			program.Write(b)
		}
	}
	commands := regexp.MustCompile(`Use:\s+"([a-z-]+)`).FindAllStringSubmatch(program.String(), -1)
	if len(commands) < 20 {
		t.Fatalf("only %d commands were found", len(commands))
	}
	for _, c := range commands {
		if c[1] != "eunoe" && !strings.Contains(tests.String(), `"`+c[1]+`"`) {
			t.Errorf("no test runs eunoe %s", c[1])
		}
	}
}
