package scriptedmodel

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
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

// list returns the name and the items' schema of the first list of objects.
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

// filled makes the instance whose list has these items; a schema without a list of objects gets the first item itself.
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

// fit converts a value to the type that the schema asks for.
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

// least returns the smallest value that meets the schema.
func (s shape) least() any {
	if c := s.node.get("const"); c != nil {
		return c
	}
	if options, ok := s.node.get("enum").([]any); ok && len(options) > 0 {
		return options[0]
	}
	switch {
	case s.is("null"):
		return nil
	case s.is("object"):
		return s.fill(nil)
	case s.is("array"):
		out := []any{}
		for range s.number("minItems") {
			out = append(out, s.at(s.node.get("items")).least())
		}
		return out
	case s.is("string"):
		if f := s.node.get("format"); f == "date-time" {
			return "2000-01-01T00:00:00Z"
		} else if f == "date" {
			return time.Unix(0, 0).UTC().Format(time.DateOnly)
		}
		return strings.Repeat("x", s.number("minLength"))
	case s.is("boolean"):
		return false
	case s.is("integer"), s.is("number"):
		return s.number("minimum")
	}
	return object{}
}

func (s shape) number(name string) int {
	n, _ := s.node.get(name).(json.Number) //nolint:errcheck // 0 without it
	v, _ := n.Float64()                    //nolint:errcheck // 0 without it
	return int(v)
}

// known are the shapes of the stages' answers where a call does not tell them.
var known = map[string]string{
	"extract": `{"type":"object","required":["facts"],"properties":{"facts":{"type":"array","items":{"type":"object","required":["s","f"],"properties":{
		"s":{"type":"array","items":{"type":"integer"}},"f":{"type":"string"},"y":{"type":"string"},"e":{"type":"array","items":{"type":"string"}},
		"d":{"type":"string"},"v":{"type":"array","items":{"type":"string"}}}}}}}`,
	"decide": `{"type":"object","required":["decisions"],"properties":{"decisions":{"type":"array","items":{"type":"object","properties":{
		"new":{"type":"integer"},"older":{"type":"integer"},"action":{"type":"string"},"text":{"type":["string","null"]},"reason":{"type":"string"},
		"relation":{"type":["string","null"]},"strength":{"type":["number","null"]}},"required":["new","older","action","text","reason","relation","strength"]}}}}`,
	"summarise": `{"type":"object","required":["summaries"],"properties":{"summaries":{"type":"array","items":{"type":"object","required":["n","text"],
		"properties":{"n":{"type":"integer"},"text":{"type":"string"}}}}}}`,
	"observe": `{"type":"object","required":["observations"],"properties":{"observations":{"type":"array","items":{"type":"object","properties":{
		"subject":{"type":"integer"},"type":{"type":"string"},"topic":{"type":"string"},"text":{"type":"string"},"reasoning":{"type":"string"},
		"confidence":{"type":"number"},"facts":{"type":"array","items":{"type":"integer"}},"known":{"type":["integer","null"]}},
		"required":["subject","type","topic","text","reasoning","confidence","facts","known"]}}}}`,
	"judge": `{"type":"object","required":["judgements"],"properties":{"judgements":{"type":"array","items":{"type":"object","required":["n","score"],
		"properties":{"n":{"type":"integer"},"score":{"type":"number"}}}}}}`,
	"adequacy": `{"type":"object","required":["enough","queries"],"properties":{"enough":{"type":"boolean"},"queries":{"type":"array","items":{"type":"string"}}}}`,
}
