package arch_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// starts reports whether a file starts goroutines: by a go statement, or by the Go method of a group.
func starts(t *testing.T, rel string) bool {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root(t), rel), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := false
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = true
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Go" {
				found = true
			}
		}
		return !found
	})
	return found
}

func TestWhatStartsGoroutinesIsTestedForLeaks(t *testing.T) {
	t.Parallel()
	starting, watched := map[string]bool{}, map[string]bool{}
	goFiles(t, func(rel string) {
		pkg := path.Dir(rel)
		if !strings.HasPrefix(pkg, "pkg/") && !strings.HasPrefix(pkg, "internal/") {
			return // programs and their tests end with their processes
		}
		if !strings.HasSuffix(rel, "_test.go") {
			starting[pkg] = starting[pkg] || starts(t, rel)
			return
		}
		b, err := os.ReadFile(filepath.Join(root(t), rel))
		if err != nil {
			t.Fatal(err)
		}
		watched[pkg] = watched[pkg] || strings.Contains(string(b), "goleak.VerifyTestMain(")
	})
	found := 0
	for pkg, does := range starting {
		if !does {
			continue
		}
		found++
		if !watched[pkg] {
			t.Errorf("%s starts goroutines, and no TestMain of it calls goleak.VerifyTestMain", pkg)
		}
	}
	if found < 8 {
		t.Errorf("only %d packages start goroutines: does this test still see them?", found)
	}
}
