package arch_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// conformance says how many behaviours each letter has.
var conformance = map[string]int{"H": 20, "L": 20, "R": 24, "Y": 16, "U": 6}

var (
	conformanceRow  = regexp.MustCompile(`(?m)^\| \*\*([HLRYU]\d+)\*\* \| (.+?) \| (.+?) \|$`)
	conformanceName = regexp.MustCompile(`^((?:[HLRYU]\d{1,2} )+)\S`)
	folder          = regexp.MustCompile("`([a-z0-9/_]+)`")
)

// subtests gives, for each id, the folders that have a subtest named by it.
func subtests(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	goFiles(t, func(rel string) {
		if !strings.HasSuffix(rel, "_test.go") {
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root(t), rel), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(lit.Value)
			if err != nil {
				return true
			}
			if m := conformanceName.FindStringSubmatch(text); m != nil {
				for _, id := range strings.Fields(m[1]) {
					if !slices.Contains(found[id], path.Dir(rel)) {
						found[id] = append(found[id], path.Dir(rel))
					}
				}
			}
			return true
		})
	})
	return found
}

func TestEveryConformanceIsTestedOrExplained(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root(t), "docs/CONFORMANCE.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests := subtests(t)
	listed := map[string]bool{}
	for _, row := range conformanceRow.FindAllStringSubmatch(string(text), -1) {
		id, where := row[1], row[3]
		if listed[id] {
			t.Errorf("%s is listed twice", id)
		}
		listed[id] = true
		tested := strings.HasPrefix(where, "tested in ")
		if !tested {
			if len(tests[id]) > 0 {
				t.Errorf("%s has a test in %v, and docs/CONFORMANCE.md says: %s", id, tests[id], where)
			}
			if len(strings.Fields(where)) < 3 {
				t.Errorf("%s has neither a test nor a reason", id)
			}
			continue
		}
		folders := folder.FindAllStringSubmatch(where, -1)
		if len(folders) == 0 {
			t.Errorf("%s names no folder", id)
		}
		for _, m := range folders {
			if !slices.Contains(tests[id], m[1]) {
				t.Errorf("%s: no test of %s is named %q; there are some in %v", id, m[1], id+" …", tests[id])
			}
		}
	}
	for letter, n := range conformance {
		for i := 1; i <= n; i++ {
			if id := fmt.Sprintf("%s%d", letter, i); !listed[id] {
				t.Errorf("%s is not in docs/CONFORMANCE.md", id)
			}
		}
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	t.Run("R22 every command of the command line is run by a test from end to end", func(t *testing.T) {
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
	})
}
