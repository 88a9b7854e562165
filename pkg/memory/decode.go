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
		return decodeError(err, data, reflect.TypeOf(v))
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
	for _, in := range innerValues(data, t) {
		if in.of == nil {
			return Invalid(path+in.name, "unknown field")
		}
		if err := exactFields(in.data, in.of, path+in.name+"."); err != nil {
			return err
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

// decodeError says why a body was not decoded into a value of a type, and of which field.
func decodeError(err error, body []byte, t reflect.Type) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) || errors.Is(err, io.ErrUnexpectedEOF) {
		return Invalid("", "malformed JSON: %s", err)
	}
	var first json.RawMessage // without what stands behind the object
	if json.NewDecoder(bytes.NewReader(body)).Decode(&first) == nil {
		body = first
	}
	if wrong := wrongValue(body, t, ""); wrong != nil {
		return wrong
	}
	return cmp.Or(exactFields(body, t, ""), valueError(err, ""))
}

// wrongValue returns the error of the innermost value that does not fit its type, with the path that leads to it: the
// decoder's own names no field where a type decodes itself, and no place in a list. It is nil if every value fits.
func wrongValue(data []byte, t reflect.Type, path string) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	err := json.Unmarshal(data, reflect.New(t).Interface())
	if err == nil {
		return nil
	}
	if !reflect.PointerTo(t).Implements(unmarshaler) {
		for _, in := range innerValues(data, t) {
			if in.of == nil {
				continue
			}
			if wrong := wrongValue(in.data, in.of, path+in.name+"."); wrong != nil {
				return wrong
			}
		}
	}
	return valueError(err, strings.TrimSuffix(path, "."))
}

// innerValue is a field of an object or an item of a list.
type innerValue struct {
	name string
	data []byte
	of   reflect.Type // nil = the type has no such field
}

// innerValues returns the values within one of a type, in the order of their names or places. Of a list of numbers or
// texts there are none.
func innerValues(data []byte, t reflect.Type) []innerValue {
	var values []innerValue
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		var list []json.RawMessage
		if t.Elem().Kind() <= reflect.Complex128 || t.Elem().Kind() == reflect.String || json.Unmarshal(data, &list) != nil {
			return nil
		}
		for i, item := range list {
			values = append(values, innerValue{fmt.Sprint(i), item, t.Elem()})
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
			} else {
				of = fieldType(t, key)
			}
			values = append(values, innerValue{key, object[key], of})
		}
	}
	return values
}

// valueError says what is wrong with a value, given the decoder's error. A field that the error itself names is below path,
// or the last part of it.
func valueError(err error, path string) error {
	var fe *FieldError
	var te *json.UnmarshalTypeError
	var pe *time.ParseError
	switch {
	case errors.As(err, &fe):
		within := *fe
		within.Field = below(path, fe.Field)
		return &within
	case errors.As(err, &te):
		return Invalid(cmp.Or(path, te.Field), "expected %s, got a JSON %s", expected(te.Type), te.Value)
	case errors.As(err, &pe):
		return Invalid(path, "%q is not a time; expected RFC 3339 with a zone, as 2026-05-20T09:14:00Z", clip(strings.Trim(pe.Value, `"`), 40))
	case strings.Contains(err.Error(), "Time.UnmarshalJSON"):
		return Invalid(path, "expected a time, RFC 3339 with a zone, as 2026-05-20T09:14:00Z")
	}
	return Invalid(path, "cannot be read: %s", strings.TrimPrefix(err.Error(), "json: "))
}

// below returns the path of a field that the error of a value names, which may be the last part of the value's own path.
func below(path, field string) string {
	own := path[strings.LastIndexByte(path, '.')+1:]
	switch {
	case field == "" || path == "":
		return path + field
	case field == own || strings.HasPrefix(field, own+"."):
		return path[:len(path)-len(own)] + field
	}
	return path + "." + field
}

func expected(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch k := t.Kind(); {
	case k == reflect.Slice || k == reflect.Array:
		return "an array"
	case k == reflect.Map || k == reflect.Struct:
		return "an object"
	case k >= reflect.Int && k <= reflect.Uint64:
		return "a whole number in range"
	case k == reflect.Float32 || k == reflect.Float64:
		return "a number"
	case k == reflect.Bool:
		return "true or false"
	}
	return "a string"
}
