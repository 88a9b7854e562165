package asyncapi

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// Source is what the source code says about types and reflection cannot see.
type Source struct {
	Types  map[string]string   // type name → its doc comment
	Fields map[string]string   // "Type.Field" → its comment
	Enums  map[string][]string // type name → the string constants of that type, as declared
}

// ReadSource reads the Go files of package directories, without tests. If two directories declare a type of one name,
// the later one counts.
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

// sentence returns the first comment that is not empty, on one line.
func sentence(groups ...*ast.CommentGroup) string {
	for _, g := range groups {
		if text := strings.Join(strings.Fields(g.Text()), " "); text != "" {
			return text
		}
	}
	return ""
}

func of[T any](name string) wire.Body { return wire.Body{Name: name, Type: reflect.TypeFor[T]()} }

// Event is one subject that is published to a stream.
type Event struct {
	wire.Body
	Subject  string
	Summary  string
	Sends    bool // Eunoe publishes it
	Receives bool // Eunoe reads it
	Public   bool // false: between workers
	Acked    bool // a publisher may ask for the broker's acknowledgement
}

// Events lists every subject that is published to a stream.
func Events() []Event {
	return []Event{
		{of[memory.Message]("message"), "mem.{bank}.message.{session}", "One thing said.", false, true, true, true},
		{of[memory.Flush]("flush"), "mem.{bank}.flush.{session}", "The conversation paused or ended: extract what is left.", false, true, true, true},
		{of[memory.Change]("change"), "mem.{bank}.change.{what}", "What became of something, after its commit.", true, false, true, false},
		{of[memory.Window]("window"), "mem.{bank}.window.{session}", "Workers only: messages to extract together.", true, true, false, false},
		{of[memory.Window]("parked"), "mem.{bank}.parked.{session}", "Workers only: a window that waits for the bank's token budget.", true, true, false, false},
		{of[memory.Write]("write"), "mem.{bank}.write.{kind}", "Workers only: what changes the store.", true, true, false, false},
		{of[memory.DeadLetter]("dead"), "mem.{bank}.dead.{stage}", "Workers only: what failed, with its reason.", true, false, false, false},
	}
}

// object returns a mapping of name, value pairs in the given order. A value is a node, a string, a bool, an int, a
// []string or nil (null). A pair whose value is an empty string is left out.
func object(pairs ...any) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for i := 0; i+1 < len(pairs); i += 2 {
		if s, ok := pairs[i+1].(string); ok && s == "" {
			continue
		}
		put(n, pairs[i].(string), pairs[i+1])
	}
	return n
}

// put adds one pair to a mapping.
func put(n *yaml.Node, name string, value any) {
	n.Content = append(n.Content, scalar(name), node(value))
}

func array(values ...any) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode}
	for _, v := range values {
		n.Content = append(n.Content, node(v))
	}
	return n
}

func ref(path string) *yaml.Node { return object("$ref", "#/"+path) }

func scalar(s string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(s)
	return n
}

func node(value any) *yaml.Node {
	switch v := value.(type) {
	case *yaml.Node:
		return v
	case string:
		return scalar(v)
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: fmt.Sprint(v)}
	case int:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: fmt.Sprint(v)}
	case []string:
		n := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, s := range v {
			n.Content = append(n.Content, scalar(s))
		}
		return n
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
}
