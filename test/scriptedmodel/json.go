package scriptedmodel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// parse decodes JSON and preserves numbers and the order of an object's fields.
func parse(text string) (any, bool) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	v, err := parseValue(d)
	return v, err == nil && !d.More()
}

// object is a JSON object whose fields keep their order.
type object []field

type field struct {
	name  string
	value any
}

// get returns the value of a field, or nil.
func (o object) get(name string) any {
	for _, f := range o {
		if f.name == name {
			return f.value
		}
	}
	return nil
}

// MarshalJSON writes the fields in order.
func (o object) MarshalJSON() ([]byte, error) { return []byte(dump(o)), nil }

func parseValue(d *json.Decoder) (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('{'):
		o := object{}
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return nil, err
			}
			v, err := parseValue(d)
			if err != nil {
				return nil, err
			}
			o = append(o, field{fmt.Sprint(name), v})
		}
		_, err = d.Token()
		return o, err
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := parseValue(d)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = d.Token()
		return list, err
	}
	return t, nil
}

// dump writes compact JSON without escapes for HTML; what cannot be written is null.
func dump(v any) string {
	var b bytes.Buffer
	dumpTo(&b, v)
	return b.String()
}

// dumpTo writes objects and lists itself: a json.Marshaler has what stands within read again at each level.
func dumpTo(b *bytes.Buffer, v any) {
	switch v := v.(type) {
	case object:
		b.WriteByte('{')
		for i, f := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			dumpTo(b, f.name)
			b.WriteByte(':')
			dumpTo(b, f.value)
		}
		b.WriteByte('}')
		return
	case []any:
		if v == nil {
			break
		}
		b.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			dumpTo(b, item)
		}
		b.WriteByte(']')
		return
	}
	var leaf bytes.Buffer
	e := json.NewEncoder(&leaf)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		b.WriteString("null")
		return
	}
	b.Write(bytes.TrimRight(leaf.Bytes(), "\n"))
}

// firstList returns the first list among an object's fields and the field's name; a list is its own.
func firstList(v any) (string, []any) {
	switch v := v.(type) {
	case []any:
		return "", v
	case object:
		for _, f := range v {
			if list, ok := f.value.([]any); ok {
				return f.name, list
			}
		}
	}
	return "", nil
}

// onList replaces the first list of v.
func onList(v any, fn func([]any) []any) any {
	name, list := firstList(v)
	if list == nil {
		return v
	}
	o, ok := v.(object)
	if !ok {
		return fn(slices.Clone(list))
	}
	out := slices.Clone(o)
	for i := range out {
		if out[i].name == name {
			out[i].value = fn(slices.Clone(list))
			break
		}
	}
	return out
}

func each(list []any, fn func(any) any) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = fn(v)
	}
	return out
}
