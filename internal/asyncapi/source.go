package asyncapi

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

// Source is what the code says about its types and reflection cannot see.
type Source struct {
	Types  map[string]string   // type name → its doc comment
	Fields map[string]string   // "Type.Field" → its comment
	Enums  map[string][]string // type name → the string constants of that type, as declared
}

// ReadSource reads the Go files of packages' folders, tests aside. Where two
// folders name a type alike the later one is meant.
func ReadSource(dirs ...string) (Source, error) {
	src := Source{Types: map[string]string{}, Fields: map[string]string{}, Enums: map[string][]string{}}
	for _, dir := range dirs {
		if err := src.read(dir); err != nil {
			return Source{}, err
		}
	}
	return src, nil
}

func (s Source) read(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return fmt.Errorf("read %s: %w", dir, err)
	}
	sort.Strings(files)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("read %s: %w", dir, err)
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments)
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				s.declaration(g)
			}
		}
	}
	return nil
}

func (s Source) declaration(g *ast.GenDecl) {
	for _, spec := range g.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			doc := sentence(spec.Doc, spec.Comment)
			if doc == "" && len(g.Specs) == 1 {
				doc = sentence(g.Doc)
			}
			s.Types[spec.Name.Name] = doc
			if st, ok := spec.Type.(*ast.StructType); ok {
				s.fields(spec.Name.Name, st)
			}
		case *ast.ValueSpec:
			s.constants(g.Tok, spec)
		}
	}
}

func (s Source) fields(owner string, st *ast.StructType) {
	for _, f := range st.Fields.List {
		for _, name := range f.Names {
			s.Fields[owner+"."+name.Name] = sentence(f.Doc, f.Comment)
		}
	}
}

func (s Source) constants(tok token.Token, spec *ast.ValueSpec) {
	typ, ok := spec.Type.(*ast.Ident)
	if tok != token.CONST || !ok {
		return
	}
	for _, v := range spec.Values {
		lit, ok := v.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			continue
		}
		if text, err := strconv.Unquote(lit.Value); err == nil {
			s.Enums[typ.Name] = append(s.Enums[typ.Name], text)
		}
	}
}

// sentence gives the first comment that says something, on one line.
func sentence(groups ...*ast.CommentGroup) string {
	for _, g := range groups {
		if text := strings.Join(strings.Fields(g.Text()), " "); text != "" {
			return text
		}
	}
	return ""
}
