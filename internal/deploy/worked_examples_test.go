package deploy_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// workedExample is a code block of a document with the declaration that it is copied from.
var workedExample = regexp.MustCompile("(?s)<!-- from ([^ ]+): (\\w+) -->\n```go\n(.*?)```\n")

// TestWorkedExamplesAreCompiled compares the code of CONTRIBUTING with declarations in test files, which are compiled
// and run. EUNOE_UPDATE_EXAMPLES=1 writes the declarations into the document.
func TestWorkedExamplesAreCompiled(t *testing.T) {
	t.Parallel()
	const document = "../../CONTRIBUTING.md"
	b, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	written := workedExample.ReplaceAllStringFunc(string(b), func(block string) string {
		m := workedExample.FindStringSubmatch(block)
		found[m[2]] = true
		source := declaration(t, filepath.Join("../..", m[1]), m[2])
		if os.Getenv("EUNOE_UPDATE_EXAMPLES") == "" && m[3] != source {
			t.Errorf("CONTRIBUTING.md: the code of %s differs from %s; EUNOE_UPDATE_EXAMPLES=1 go test ./internal/deploy -run WorkedExamples writes it anew", m[2], m[1])
		}
		return strings.Replace(block, "```go\n"+m[3]+"```", "```go\n"+source+"```", 1)
	})
	if len(found) < 7 {
		t.Errorf("CONTRIBUTING.md has %d worked examples; expected 7: an endpoint, a ranking signal, a record kind and a store", len(found))
	}
	if os.Getenv("EUNOE_UPDATE_EXAMPLES") != "" {
		if err := os.WriteFile(document, []byte(written), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// declaration returns the source of a top-level declaration of a file, without its comment.
func declaration(t *testing.T, path, name string) string {
	t.Helper()
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, path, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	text := func(n ast.Node) string {
		return string(source[files.Position(n.Pos()).Offset:files.Position(n.End()).Offset]) + "\n"
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.Name == name {
				d.Doc = nil
				return text(d)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.ValueSpec:
					if spec.Names[0].Name == name {
						d.Doc = nil
						return text(d)
					}
				case *ast.TypeSpec:
					if spec.Name.Name == name {
						d.Doc = nil
						return text(d)
					}
				}
			}
		}
	}
	t.Fatalf("%s declares no %s", path, name)
	return ""
}
