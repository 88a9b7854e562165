package providertest

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// shape is a JSON schema, read as far as it takes to make an instance of it.
type shape struct {
	root  object
	node  object
	depth int
}

// maxDepth ends schemas that contain themselves.
const maxDepth = 24

// shapeOf reads the schema an answer is to meet: of the request, or written out
// in its system prompt, or the one the stage is known by.
func shapeOf(req *Request, stage string) shape {
	if s, ok := readShape(string(req.Schema)); ok {
		return s
	}
	for text := req.System; ; {
		at := strings.IndexByte(text, '{')
		if at < 0 {
			break
		}
		text = text[at:]
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		if v, err := parseValue(d); err == nil {
			if o, ok := v.(object); ok && o.get("properties") != nil {
				return shape{root: o, node: o}
			}
		}
		text = text[1:]
	}
	s, _ := readShape(known[stage])
	return s
}

func readShape(text string) (shape, bool) {
	v, ok := parse(text)
	o, isObject := v.(object)
	return shape{root: o, node: o}, ok && isObject
}

func (s shape) at(v any) shape {
	o, _ := v.(object) //nolint:errcheck // nothing is a schema that allows everything
	if s.depth > maxDepth {
		return shape{}
	}
	for range 8 {
		ref, _ := o.get("$ref").(string) //nolint:errcheck // no reference
		path, ok := strings.CutPrefix(ref, "#/")
		if !ok {
			break
		}
		target := s.root
		for part := range strings.SplitSeq(path, "/") {
			target, _ = target.get(part).(object) //nolint:errcheck // nothing is there
		}
		o = target
	}
	for _, name := range []string{"anyOf", "oneOf"} {
		options, _ := o.get(name).([]any) //nolint:errcheck // no choice
		for _, option := range options {
			if n := s.at(option); !n.is("null") {
				return n
			}
		}
	}
	return shape{s.root, o, s.depth + 1}
}

// is reports whether the schema names a type.
func (s shape) is(name string) bool { return slices.Contains(s.types(), name) }

func (s shape) types() []string {
	switch t := s.node.get("type").(type) {
	case string:
		return []string{t}
	case []any:
		var out []string
		for _, e := range t {
			if name, ok := e.(string); ok {
				out = append(out, name)
			}
		}
		return out
	}
	switch {
	case s.node.get("properties") != nil:
		return []string{"object"}
	case s.node.get("items") != nil:
		return []string{"array"}
	}
	return nil
}

// hints are values by the names a schema may have for them, "text|fact".
type hints []struct {
	names string
	value any
}

func (h hints) find(name string) (any, bool) {
	for _, x := range h {
		if slices.Contains(strings.Split(x.names, "|"), name) && x.value != nil {
			return x.value, true
		}
	}
	return nil, false
}

// fill makes an object of what the hints say and the schema asks for. A
// property that is neither hinted nor required is left out.
func (s shape) fill(h hints) any {
	properties, _ := s.node.get("properties").(object) //nolint:errcheck // none
	required, _ := s.node.get("required").([]any)      //nolint:errcheck // none
	out := object{}
	for _, p := range properties {
		at := s.at(p.value)
		if v, ok := h.find(p.name); ok {
			out = append(out, field{p.name, at.fit(v)})
		} else if slices.Contains(required, any(p.name)) {
			out = append(out, field{p.name, at.least()})
		}
	}
	return out
}

// list gives the name and the items' schema of the first list of objects.
func (s shape) list() (string, shape) {
	if s.is("array") {
		return "", s.at(s.node.get("items"))
	}
	properties, _ := s.node.get("properties").(object) //nolint:errcheck // none
	for _, p := range properties {
		if at := s.at(p.value); at.is("array") {
			if items := at.at(at.node.get("items")); items.is("object") {
				return p.name, items
			}
		}
	}
	return "", shape{}
}

// filled makes the instance whose list has these items; a schema without a list
// of objects gets the first item itself.
func (s shape) filled(items []hints, rest hints) any {
	name, each := s.list()
	if each.node == nil {
		if len(items) > 0 {
			rest = append(items[0], rest...)
		}
		return s.fill(rest)
	}
	list := []any{}
	for _, h := range items {
		list = append(list, each.fill(h))
	}
	if name == "" {
		return list
	}
	return s.fill(append(hints{{name, raw{list}}}, rest...))
}

// raw is a value that needs no fitting.
type raw struct{ value any }

// fit gives a value the type the schema asks for.
func (s shape) fit(v any) any {
	switch v := v.(type) {
	case raw:
		return v.value
	case hints:
		return s.fill(v)
	}
	list, isList := v.([]any)
	switch {
	case s.is("array"):
		if !isList {
			list = []any{v}
		}
		items := s.at(s.node.get("items"))
		return each(list, items.fit)
	case isList && len(s.types()) > 0:
		if len(list) == 0 {
			return s.least()
		}
		return s.fit(list[0])
	}
	if options, ok := s.node.get("enum").([]any); ok && !slices.Contains(options, v) {
		return s.least()
	}
	text, isText := v.(string)
	switch {
	case isText && s.is("string"), len(s.types()) == 0:
		return v
	case isText && (s.is("integer") || s.is("number")):
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			return n
		}
		return s.least()
	case s.is("string"):
		return dump(v)
	}
	return v
}
