// Package arch holds the house to its floors: a package imports lower floors
// only, files stay short, and what must build without cgo does.
package arch_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/eunoe-memory/eunoe/"

// floors gives every package its floor. A package that is not here fails the
// test: say where it lives before it is built.
var floors = map[string]int{
	"internal/access":                 2,
	"internal/natsd":                  0,
	"internal/sqlitebuild":            0,
	"internal/telemetry":              0,
	"pkg/memory":                      0,
	"pkg/analysis":                    1,
	"pkg/events":                      1,
	"pkg/secret":                      1,
	"pkg/query/rank":                  1,
	"pkg/query/answer":                1,
	"pkg/store/sketch":                1,
	"pkg/provider":                    1,
	"pkg/provider/reply":              1,
	"pkg/provider/hashed":             2,
	"pkg/provider/providertest":       2,
	"pkg/client":                      2,
	"pkg/consolidate":                 2,
	"pkg/events/natstest":             2,
	"pkg/extract":                     2,
	"pkg/ingest":                      2,
	"pkg/query":                       2,
	"pkg/consolidate/consolidatetest": 3,
	"pkg/consolidate/llm":             3,
	"pkg/extract/llm":                 3,
	"pkg/extract/rules":               3,
	"pkg/store/sqlite":                3,
	"pkg/store":                       4,
	"pkg/store/storetest":             5,
	"internal/app":                    6,
	"internal/arch":                   6,
	"internal/asyncapi":               6,
	"test/access":                     7,
	"test/conformance":                7,
	"test/e2e":                        7,
	"test/trace":                      7,
	"test/faults":                     7,
	"test/llm":                        7,
	"internal/asyncapi/cmd":           7,
	"internal/deploy":                 7,
	"cmd/ingest":                      7,
	"cmd/extractor":                   7,
	"cmd/consolidator":                7,
	"cmd/query":                       7,
	"cmd/eunoe":                       7,
	"examples/chatbot":                7,
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// goFiles calls fn with each Go file of the module, path relative to its root.
func goFiles(t *testing.T, fn func(rel string)) {
	t.Helper()
	base := root(t)
	err := filepath.WalkDir(base, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(base, p)
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && rel != "." || d.Name() == "bin" || rel == "tools" || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if strings.HasSuffix(p, ".go") {
			fn(filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func imports(t *testing.T, rel string) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root(t), rel), nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, spec := range f.Imports {
		p, _ := strconv.Unquote(spec.Path.Value)
		out = append(out, p)
	}
	return out
}

func TestAPackageImportsLowerFloorsOnly(t *testing.T) {
	t.Parallel()
	goFiles(t, func(rel string) {
		pkg := path.Dir(rel)
		floor, known := floors[pkg]
		if !known {
			t.Errorf("%s: the package %s has no floor; give it one in this test", rel, pkg)
			return
		}
		if strings.HasSuffix(rel, "_test.go") {
			return // tests go through the public door with the real neighbours
		}
		for _, imp := range imports(t, rel) {
			name, own := strings.CutPrefix(imp, module)
			if !own {
				continue
			}
			if below, ok := floors[name]; !ok || below >= floor {
				t.Errorf("%s (floor %d) imports %s (floor %d)", rel, floor, name, below)
			}
		}
	})
}

func TestOnlyTheProviderKnowsLangchaingo(t *testing.T) {
	t.Parallel()
	goFiles(t, func(rel string) {
		for _, imp := range imports(t, rel) {
			if strings.HasPrefix(imp, "github.com/tmc/langchaingo") && !strings.HasPrefix(rel, "pkg/provider/") {
				t.Errorf("%s imports %s; only pkg/provider may", rel, imp)
			}
		}
	})
}

func TestTheWordsNeedTheStandardLibraryAlone(t *testing.T) {
	t.Parallel()
	goFiles(t, func(rel string) {
		if path.Dir(rel) != "pkg/memory" || strings.HasSuffix(rel, "_test.go") {
			return
		}
		for _, imp := range imports(t, rel) {
			if strings.Contains(strings.Split(imp, "/")[0], ".") && !strings.HasPrefix(imp, "golang.org/x/text/") {
				t.Errorf("%s imports %s", rel, imp)
			}
		}
	})
}

func TestFilesStayShort(t *testing.T) {
	t.Parallel()
	goFiles(t, func(rel string) {
		if strings.HasSuffix(rel, "_test.go") {
			return
		}
		b, err := os.ReadFile(filepath.Join(root(t), rel))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(b), "\n"); n > 300 {
			t.Errorf("%s has %d lines; split it by noun at 300", rel, n)
		}
	})
}

func TestNoPackageIsADrawer(t *testing.T) {
	t.Parallel()
	for pkg := range floors {
		switch path.Base(pkg) {
		case "util", "utils", "common", "helpers", "types", "models", "manager", "misc":
			t.Errorf("%s says nothing about what is in it", pkg)
		}
	}
}

func TestBotsNeedNoCompiler(t *testing.T) {
	t.Parallel()
	for _, pkg := range []string{"./pkg/memory", "./pkg/events", "./pkg/client"} {
		cmd := exec.Command("go", "build", pkg)
		cmd.Dir = root(t)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s does not build with CGO_ENABLED=0: %v\n%s", pkg, err, out)
		}
	}
}
