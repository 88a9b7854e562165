package asyncapi

import (
	"encoding/json"
	"fmt"
	"reflect"
	"sort"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// schemas derives JSON schemas from Go types; each named struct becomes a component of its own.
type schemas struct {
	src    Source
	types  map[string]reflect.Type // component name → type
	closed map[string]bool         // components that refuse unknown fields
	err    error
}

func newSchemas(src Source) *schemas {
	return &schemas{src: src, types: map[string]reflect.Type{}, closed: map[string]bool{}}
}

var (
	timeType     = reflect.TypeFor[time.Time]()
	durationType = reflect.TypeFor[memory.Duration]()
	vectorType   = reflect.TypeFor[memory.Vector]()
	rawType      = reflect.TypeFor[json.RawMessage]()
	factTypeType = reflect.TypeFor[memory.Type]()
	judgeType    = reflect.TypeFor[wire.Judge]()
)

// refer returns a reference to the component of a struct and registers the type.
func (s *schemas) refer(t reflect.Type) *yaml.Node {
	name := componentName(t)
	if known, ok := s.types[name]; ok && known != t {
		s.err = fmt.Errorf("two types would be the schema %s: %s and %s", name, known, t)
	}
	if _, ok := s.types[name]; !ok {
		s.types[name] = t
		s.object(t) // finds the types below
	}
	return ref("components/schemas/" + name)
}

// componentName returns the type's own name; that of Page[Item] is ItemPage.
func componentName(t reflect.Type) string {
	outer, inner, generic := strings.Cut(t.Name(), "[")
	if !generic {
		return outer
	}
	inner = strings.TrimSuffix(inner, "]")
	return inner[strings.LastIndex(inner, ".")+1:] + outer
}

// of returns the schema of a value of the type.
func (s *schemas) of(t reflect.Type) *yaml.Node {
	switch t {
	case timeType:
		return object("type", "string", "format", "date-time")
	case durationType:
		return object("type", "string", "description", "A Go duration string.", "examples", []string{"300ms", "2s"})
	case vectorType:
		return object("description", s.src.Types["Vector"], "oneOf", array(
			object("type", "array", "items", object("type", "number")), object("type", "string", "contentEncoding", "base64")))
	case rawType:
		return object("description", "Any JSON value.")
	case judgeType:
		return object("description", s.src.Types["Judge"], "oneOf", array(object("type", "boolean"), object("type", "object",
			"properties", object("threshold", object("type", "number", "minimum", 0, "maximum", 1)), "additionalProperties", false)))
	case factTypeType:
		return object("type", "string", "pattern", "^[a-z0-9_]{1,64}$", "examples", s.src.Enums["Type"])
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem())
	case reflect.Struct:
		return s.refer(t)
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return object("type", "string", "contentEncoding", "base64")
		}
		return object("type", "array", "items", s.of(t.Elem()))
	case reflect.Map:
		if t.Elem().Kind() == reflect.Interface {
			return object("type", "object")
		}
		return object("type", "object", "additionalProperties", s.of(t.Elem()))
	case reflect.String:
		n := object("type", "string")
		if values := s.src.Enums[t.Name()]; len(values) > 0 && t.PkgPath() != "" {
			put(n, "enum", values)
		}
		return n
	case reflect.Bool:
		return object("type", "boolean")
	case reflect.Float32, reflect.Float64:
		return object("type", "number")
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return object("type", "integer", "minimum", 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return object("type", "integer")
	case reflect.Interface:
		return object("description", "Any JSON value.")
	}
	s.err = fmt.Errorf("no schema for %s", t)
	return object()
}

// object returns the schema of a struct, embedded structs flattened as encoding/json does.
func (s *schemas) object(t reflect.Type) *yaml.Node {
	properties := &yaml.Node{Kind: yaml.MappingNode}
	var required []string
	for _, f := range fieldsOf(t) {
		p := s.of(f.Type)
		if f.nullable {
			p = object("oneOf", array(p, object("type", "null")))
		}
		if doc := s.src.Fields[f.owner+"."+f.Name]; doc != "" {
			p = described(p, doc)
		}
		put(properties, f.name, p)
		if f.required {
			required = append(required, f.name)
		}
	}
	n := object("type", "object", "description", s.src.Types[strings.Split(t.Name(), "[")[0]], "properties", properties)
	if len(required) > 0 {
		put(n, "required", required)
	}
	if s.closed[componentName(t)] {
		put(n, "additionalProperties", false)
	}
	return n
}

// described adds a description. A reference needs a wrapper, because it hides its siblings.
func described(n *yaml.Node, doc string) *yaml.Node {
	if len(n.Content) > 0 && n.Content[0].Value == "$ref" {
		return object("description", doc, "allOf", array(n))
	}
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == "description" {
			n.Content[i+1] = scalar(doc)
			return n
		}
	}
	put(n, "description", doc)
	return n
}

// components returns every schema, by name.
func (s *schemas) components() *yaml.Node {
	names := make([]string, 0, len(s.types))
	for name := range s.types {
		names = append(names, name)
	}
	sort.Strings(names)
	out := &yaml.Node{Kind: yaml.MappingNode}
	for _, name := range names {
		put(out, name, s.object(s.types[name]))
	}
	return out
}
