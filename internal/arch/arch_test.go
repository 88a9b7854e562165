// Package arch checks the architecture: a package imports lower floors only, and packages that must
// build without cgo do.
package arch_test

import (
	"go/ast"
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

// floors maps every package to its floor. A package that is missing here fails the test.
var floors = map[string]float64{
	"docs":                               0,
	"test/freeport":                      0,
	"internal/access":                    2,
	"internal/certificate":               0,
	"internal/longwork":                  0,
	"internal/natsd":                     .1,
	"internal/sqlitebuild":               0,
	"internal/telemetry":                 0,
	"pkg/memory":                         0,
	"pkg/text":                           1,
	"pkg/text/date":                      1.1,
	"pkg/text/pattern":                   .9,
	"pkg/text/state":                     1.1,
	"pkg/text/class":                     1.1,
	"pkg/text/class/generate":            1.2,
	"pkg/text/thesaurus":                 1.2,
	"pkg/text/spelling":                  1.3,
	"pkg/text/spelling/generate":         1.4,
	"pkg/text/worth":                     1.2,
	"pkg/text/worth/generate":            1.3,
	"pkg/events":                         1,
	"pkg/events/internal/pull":           1.1,
	"pkg/events/ordered":                 1.2,
	"pkg/events/kv":                      1.3,
	"pkg/events/snapshot":                1.1,
	"pkg/events/deadletter":              1.3,
	"pkg/events/lease":                   1.4,
	"pkg/events/work":                    1.4,
	"pkg/text/secret":                    1.1,
	"pkg/wire":                           1,
	"pkg/query/recall/rank":              2,
	"pkg/query/request":                  1,
	"pkg/query/admission":                .5,
	"pkg/query/write":                    3,
	"pkg/query/verify":                   3,
	"pkg/query/recall":                   3,
	"pkg/query/prompt":                   2,
	"pkg/query/reflect":                  4,
	"pkg/store/sketch":                   1,
	"pkg/provider":                       3,
	"pkg/provider/call":                  1,
	"pkg/provider/openai":                2,
	"pkg/provider/anthropic":             2,
	"pkg/provider/google":                2,
	"pkg/provider/rerank":                2,
	"pkg/provider/reply":                 1,
	"pkg/provider/hashed":                2,
	"test/scriptedmodel":                 2,
	"pkg/client":                         2,
	"pkg/gateway":                        4,
	"pkg/chatproxy":                      3,
	"pkg/langchain":                      3,
	"pkg/mcp":                            3,
	"pkg/consolidate/plan/statement":     2,
	"pkg/consolidate/plan/timeline":      2,
	"pkg/consolidate/plan/cluster":       2.5,
	"pkg/consolidate/plan":               3,
	"pkg/consolidate/retry":              2,
	"pkg/consolidate/outbox":             4,
	"pkg/consolidate/erasure":            4,
	"pkg/consolidate/backfill":           4,
	"pkg/consolidate":                    5,
	"pkg/consolidate/rebuild":            6,
	"pkg/events/natstest":                2,
	"pkg/extract":                        2,
	"pkg/chatexport":                     1,
	"pkg/ingest":                         2,
	"pkg/query":                          5,
	"pkg/consolidate/consolidatetest":    7,
	"pkg/consolidate/llm":                6,
	"pkg/extract/llm":                    6,
	"pkg/extract/rules":                  6,
	"pkg/store/internal/engine":          2,
	"pkg/store/internal/schema":          3,
	"pkg/store/internal/cache":           3,
	"pkg/store/internal/search":          6,
	"pkg/store/internal/verify":          6,
	"pkg/store/internal/projection":      6.5,
	"pkg/store/internal/tokens":          1,
	"pkg/store/postgres/internal/server": 3,
	"pkg/store/postgres":                 7,
	"pkg/store/postgres/postgrestest":    2,
	"pkg/store/sqlite/internal/file":     3,
	"pkg/store/sqlite":                   7,
	"pkg/store":                          8,
	"pkg/store/storetest":                9,
	"internal/app":                       9,
	"internal/app/settings":              8,
	"internal/app/process":               9,
	"internal/app/storage":               10,
	"internal/app/ingest":                11,
	"internal/app/gateway":               11,
	"internal/app/extractor":             11,
	"internal/app/consolidator":          11,
	"internal/app/query":                 11,
	"internal/app/local":                 12,
	"internal/app/apptest":               13,
	"internal/app/offline":               13,
	"internal/arch":                      9,
	"internal/asyncapi":                  9,
	"test/access":                        14,
	"test/clients":                       14,
	"test/conformance":                   14,
	"test/e2e":                           14,
	"test/trace":                         14,
	"test/faults":                        14,
	"test/llm":                           14,
	"test/programs":                      9,
	"internal/asyncapi/cmd":              14,
	"internal/deploy":                    14,
	"cmd/ingest":                         14,
	"cmd/gateway":                        14,
	"cmd/extractor":                      14,
	"cmd/consolidator":                   14,
	"cmd/query":                          14,
	"internal/console":                   13,
	"internal/hook":                      13,
	"internal/transfer":                  13.5,
	"cmd/eunoe":                          14,
	"bench":                              14,
	"bench/bm25":                         2,
	"bench/changes":                      2,
	"bench/dataset":                      2,
	"bench/delayed":                      2,
	"bench/doors":                        10,
	"bench/fit":                          2,
	"bench/score":                        9,
	"bench/synthetic":                    9,
	"test/scriptedmodel/cmd":             14,
	"examples/chatbot":                   14,
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
			return // tests go through the public API with the real dependencies
		}
		for _, imp := range imports(t, rel) {
			name, own := strings.CutPrefix(imp, module)
			if !own {
				continue
			}
			if below, ok := floors[name]; !ok || below >= floor {
				t.Errorf("%s (floor %v) imports %s (floor %v)", rel, floor, name, below)
			}
		}
	})
}

func TestOnlyTheProviderAndItsMemoryKnowLangchaingo(t *testing.T) {
	t.Parallel()
	goFiles(t, func(rel string) {
		for _, imp := range imports(t, rel) {
			if strings.HasPrefix(imp, "github.com/tmc/langchaingo") && !strings.HasPrefix(rel, "pkg/provider/") && !strings.HasPrefix(rel, "pkg/langchain/") {
				t.Errorf("%s imports %s; only pkg/provider and pkg/langchain may", rel, imp)
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

func TestExportedNamesAreDocumented(t *testing.T) {
	t.Parallel()
	goFiles(t, func(rel string) {
		if strings.HasSuffix(rel, "_test.go") {
			return
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, filepath.Join(root(t), rel), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		missing := func(name *ast.Ident, docs ...*ast.CommentGroup) {
			for _, d := range docs {
				if d != nil {
					return
				}
			}
			if name.IsExported() {
				t.Errorf("%s:%d: %s has no doc comment", rel, files.Position(name.Pos()).Line, name.Name)
			}
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil || receiver(d).IsExported() {
					missing(d.Name, d.Doc)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						missing(s.Name, d.Doc, s.Doc, s.Comment)
					case *ast.ValueSpec:
						for _, name := range s.Names {
							missing(name, d.Doc, s.Doc, s.Comment)
						}
					}
				}
			}
		}
	})
}

// receiver returns the name of a method's type.
func receiver(d *ast.FuncDecl) *ast.Ident {
	e := d.Recv.List[0].Type
	for {
		switch t := e.(type) {
		case *ast.StarExpr:
			e = t.X
		case *ast.IndexExpr:
			e = t.X
		case *ast.IndexListExpr:
			e = t.X
		case *ast.Ident:
			return t
		default:
			return ast.NewIdent("_")
		}
	}
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
