package memory

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// Decode reads one JSON object into v and refuses what it does not know:
// an unknown field, a wrong type, text after the object, invalid UTF-8. The
// error names the field. An empty body reads as {}.
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
	return nil
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
	case strings.HasPrefix(goType, "map"), strings.HasPrefix(goType, "memory."), strings.HasPrefix(goType, "*memory."):
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
