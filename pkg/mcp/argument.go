package mcp

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// The types of arguments.
const (
	text   = "string"
	moment = "time" // RFC 3339; a day, or a time without a zone, is taken as UTC
	whole  = "integer"
	yes    = "boolean"
	list   = "array"
	// objects are a list whose elements the request checks.
	objects = "objects"
)

// argument is one argument of a tool.
type argument struct {
	name, kind, does string
	required         bool
	oneOf            []string
}

// schema returns the JSON schema of a tool's arguments.
func (t tool) schema() map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, a := range t.args {
		p := map[string]any{"type": a.kind}
		switch a.kind {
		case moment:
			p["type"] = "string"
		case list:
			p["items"] = map[string]any{"type": "string"}
		case objects:
			p["type"], p["items"] = "array", map[string]any{"type": "object"}
		}
		if a.does != "" {
			p["description"] = a.does
		}
		if len(a.oneOf) > 0 {
			p["enum"] = a.oneOf
		}
		properties[a.name] = p
		if a.required {
			required = append(required, a.name)
		}
	}
	out := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

// given are the arguments of a call, by the names of the schema.
type given map[string]json.RawMessage

// read checks the arguments of a call. It accepts quoted numbers and lists as strings, which models send, where the
// meaning is unambiguous. An unknown argument is refused with the valid names, except explanation, which clients add.
func (t tool) read(raw json.RawMessage) (given, error) {
	var sent map[string]json.RawMessage
	if len(raw) > 0 && string(raw) != "null" {
		if err := json.Unmarshal(raw, &sent); err != nil {
			return nil, memory.Invalid("", "the arguments of %s must be a JSON object", t.name)
		}
	}
	out := given{}
	for name, value := range sent {
		i := slices.IndexFunc(t.args, func(a argument) bool { return a.name == name })
		switch {
		case i >= 0 && string(value) == "null", name == "explanation":
			continue
		case i < 0:
			return nil, memory.Invalid(name, "%s has no such argument; expected %s", t.name, t.names())
		}
		v, err := t.args[i].coerce(value)
		if err != nil {
			return nil, err
		}
		out[name] = v
	}
	for _, a := range t.args {
		if _, ok := out[a.name]; a.required && !ok {
			return nil, memory.Invalid(a.name, "is required; %s takes %s", t.name, t.names())
		}
	}
	return out, nil
}

func (t tool) names() string {
	var out []string
	for _, a := range t.args {
		out = append(out, a.name)
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
}

var (
	day     = regexp.MustCompile(`^\d{4}-\d\d-\d\d$`)
	zonless = regexp.MustCompile(`^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?$`)
)

// coerce returns a value in the type of the argument, or an error that says what was expected.
func (a argument) coerce(v json.RawMessage) (json.RawMessage, error) {
	var s string
	quoted := json.Unmarshal(v, &s) == nil
	wrong := func(expected string) error { return memory.Invalid(a.name, "is %.60s; expected %s", v, expected) }
	switch a.kind {
	case whole:
		number := strings.TrimSpace(string(v))
		if quoted {
			number = strings.TrimSpace(s)
		}
		number = strings.TrimSuffix(number, ".0")
		if n, err := strconv.ParseInt(number, 10, 32); err == nil && n >= 0 {
			return json.RawMessage(strconv.FormatInt(n, 10)), nil
		}
		return nil, wrong("a whole number")
	case yes:
		value := strings.ToLower(strings.TrimSpace(string(v)))
		if quoted {
			value = strings.ToLower(strings.TrimSpace(s))
		}
		if value == "true" || value == "false" {
			return json.RawMessage(value), nil
		}
		return nil, wrong("true or false")
	case list:
		var values []string
		if json.Unmarshal(v, &values) == nil {
			return v, nil
		}
		switch {
		case !quoted:
			return nil, wrong("a list of strings")
		case json.Unmarshal([]byte(s), &values) == nil:
			return json.RawMessage(s), nil
		}
		return json.Marshal([]string{s})
	case objects:
		if quoted {
			v = json.RawMessage(s)
		}
		var values []map[string]any
		if json.Unmarshal(v, &values) != nil {
			return nil, wrong("a list of objects")
		}
		return v, nil
	case moment:
		switch {
		case !quoted:
			return nil, wrong("a time like 2026-05-20T09:14:00Z, or a day like 2026-05-20")
		case day.MatchString(s):
			s += "T00:00:00Z"
		case zonless.MatchString(s):
			s = strings.Replace(s, " ", "T", 1)
			if strings.Count(s, ":") == 1 {
				s += ":00"
			}
			s += "Z"
		}
		return json.Marshal(s)
	}
	if !quoted { // a number where a text is meant, as an id
		if _, err := strconv.ParseFloat(string(v), 64); err != nil {
			return nil, wrong("a text")
		}
		s = string(v)
	}
	if len(a.oneOf) > 0 && !slices.Contains(a.oneOf, s) {
		return nil, memory.Invalid(a.name, "is %.40q; expected %s", s, strings.Join(a.oneOf, ", "))
	}
	return json.Marshal(s)
}

// bind reads arguments into the fields of T, which have their names.
func bind[T any](g given) (v T, err error) {
	body, err := memory.Encode(map[string]json.RawMessage(g))
	if err != nil {
		return v, fmt.Errorf("arguments: %w", err)
	}
	err = memory.DecodeEvent(body, &v)
	return v, err
}

// strict is bind for arguments whose own fields are checked: one that is not known is an error.
func strict[T any](g given) (v T, err error) {
	body, err := memory.Encode(map[string]json.RawMessage(g))
	if err != nil {
		return v, fmt.Errorf("arguments: %w", err)
	}
	err = memory.Decode(body, &v)
	return v, err
}
