package memory

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Decode reads one JSON object into v. Unknown fields, wrong types, text after the object and invalid UTF-8 are
// ErrInvalid, and the error names the field. An empty body reads as {}.
func Decode(data []byte, v any) error { return decode(data, v, true) }

// DecodeEvent is Decode for an event of a stream: unknown fields are allowed.
func DecodeEvent(data []byte, v any) error { return decode(data, v, false) }

func decode(data []byte, v any, strict bool) error {
	if !utf8.Valid(data) {
		return Invalid("", "the body is not valid UTF-8")
	}
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		data = []byte("{}")
	}
	if data[0] != '{' {
		return Invalid("", "the body must be a JSON object")
	}
	// A decoder copies the whole text first. For events it is asked only what is wrong with one.
	if !strict && json.Unmarshal(data, v) == nil {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if strict {
		d.DisallowUnknownFields()
	}
	if err := d.Decode(v); err != nil {
		return decodeError(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Invalid("", "the body has text after the JSON object")
	}
	if strict {
		return exactFields(data, reflect.TypeOf(v), "")
	}
	return nil
}

// hasOtherFields reports whether an object, which is valid JSON, may have a field that is not among names, spelled as they
// are.
func hasOtherFields(object []byte, names []string) bool {
	depth, key := 0, true
	for i := 0; i < len(object); i++ {
		switch object[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',':
			key = depth == 1
		case '"':
			end := i + 1
			for {
				end += bytes.IndexByte(object[end:], '"')
				if !escaped(object[i+1 : end]) {
					break
				}
				end++
			}
			if key && depth == 1 && !slices.Contains(names, string(object[i+1:end])) {
				return true
			}
			i, key = end, false
		}
	}
	return false
}

// escaped reports whether what follows text is escaped by its end.
func escaped(text []byte) bool {
	return (len(text)-len(bytes.TrimRight(text, `\`)))%2 == 1
}

// exactFields returns an error for a field of a JSON value that differs from its struct field's name in case, which
// encoding/json lets pass. path names the value; data was decoded into a value of type t before.
func exactFields(data []byte, t reflect.Type, path string) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(unmarshaler) {
		return nil
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		var list []json.RawMessage
		if t.Elem().Kind() <= reflect.Complex128 || t.Elem().Kind() == reflect.String || json.Unmarshal(data, &list) != nil {
			return nil
		}
		for i, item := range list {
			if err := exactFields(item, t.Elem(), fmt.Sprintf("%s%d.", path, i)); err != nil {
				return err
			}
		}
	case reflect.Map, reflect.Struct:
		var object map[string]json.RawMessage
		if json.Unmarshal(data, &object) != nil {
			return nil
		}
		for _, key := range slices.Sorted(maps.Keys(object)) {
			var of reflect.Type
			if t.Kind() == reflect.Map {
				of = t.Elem()
			} else if of = fieldType(t, key); of == nil {
				return Invalid(path+key, "unknown field")
			}
			if err := exactFields(object[key], of, path+key+"."); err != nil {
				return err
			}
		}
	}
	return nil
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// fieldType returns the type of the struct field with a JSON name, also of an embedded struct; nil if there is none.
func fieldType(t reflect.Type, name string) reflect.Type {
	for _, f := range reflect.VisibleFields(t) {
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && !(f.Anonymous && tag == "") && cmp.Or(tag, f.Name) == name && tag != "-" {
			return f.Type
		}
	}
	return nil
}

// Encode returns the JSON of a value. Unlike json.Marshal it leaves <, > and & as they are: escaped, a text that fits
// into a message could take six times its size in a reply.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func decodeError(err error) error {
	var fe *FieldError
	var te *json.UnmarshalTypeError
	var pe *time.ParseError
	switch {
	case errors.As(err, &fe):
		return fe
	case errors.As(err, &te):
		field := te.Field
		return Invalid(field, "expected %s, got a JSON %s", expected(te.Type.String()), te.Value)
	case errors.As(err, &pe):
		return Invalid("", "%q is not a time; expected RFC 3339 with a zone, as 2026-05-20T09:14:00Z", clip(strings.Trim(pe.Value, `"`), 40))
	case strings.HasPrefix(err.Error(), "json: unknown field "):
		name := strings.Trim(strings.TrimPrefix(err.Error(), "json: unknown field "), `"`)
		return Invalid(name, "unknown field")
	}
	return Invalid("", "malformed JSON: %s", strings.TrimPrefix(err.Error(), "json: "))
}

func expected(goType string) string {
	switch {
	case strings.HasPrefix(goType, "[]"):
		return "an array"
	case strings.HasPrefix(goType, "map"), strings.Contains(goType, "memory."), strings.Contains(goType, "wire."):
		return "an object"
	case strings.Contains(goType, "int"):
		return "a whole number in range"
	case strings.Contains(goType, "float"):
		return "a number"
	case strings.Contains(goType, "bool"):
		return "true or false"
	}
	return "a " + strings.TrimPrefix(goType, "*")
}
