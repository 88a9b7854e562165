package providertest

import (
	"encoding/json"
	"strings"
	"time"
)

// least gives the smallest value that meets the schema.
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
