package engine

import (
	"database/sql"
	"encoding/binary"
	"fmt"
	"math"
)

// The types of values in a rowset, as SQLite numbers them.
const (
	RowsetInteger byte = 1 + iota
	RowsetFloat
	RowsetText
	RowsetBlob
	RowsetNull
)

// Rowset decodes the values of all rows of a query, one after the other: each is one byte with its type, followed by the
// eight bytes of a number, or by four bytes of a length and the bytes of a text or a blob, in the order of the machine.
// Its methods return the next value. Reading past the end, or a value as another type, is an error that Batch returns;
// from then on they return zero values.
type Rowset struct {
	data string // texts are slices of it
	err  error
}

// next returns the type of the next value and its bytes.
func (s *Rowset) next() (kind byte, value string) {
	if s.err != nil || len(s.data) == 0 {
		s.fail("a value", 0)
		return 0, ""
	}
	kind, s.data = s.data[0], s.data[1:]
	size := 0
	switch kind {
	case RowsetInteger, RowsetFloat:
		size = 8
	case RowsetText, RowsetBlob:
		if len(s.data) >= 4 {
			size = int(binary.NativeEndian.Uint32([]byte(s.data[:4])))
			s.data = s.data[4:]
		}
	}
	if size > len(s.data) {
		s.fail("a whole value", kind)
		return 0, ""
	}
	value, s.data = s.data[:size], s.data[size:]
	return kind, value
}

func (s *Rowset) fail(expected string, kind byte) {
	if s.err == nil {
		s.err = fmt.Errorf("a column holds type %d; expected %s", kind, expected)
	}
	s.data = ""
}

// null consumes the next value if it is NULL.
func (s *Rowset) null() bool {
	if len(s.data) > 0 && s.data[0] == RowsetNull {
		s.data = s.data[1:]
		return true
	}
	return false
}

// Int returns an integer.
func (s *Rowset) Int() int64 {
	kind, value := s.next()
	if kind != RowsetInteger {
		s.fail("an integer", kind)
		return 0
	}
	return int64(binary.NativeEndian.Uint64([]byte(value)))
}

// Bool returns whether an integer is not 0.
func (s *Rowset) Bool() bool { return s.Int() != 0 }

// IntOrNull returns an integer or NULL.
func (s *Rowset) IntOrNull() sql.NullInt64 {
	if s.null() {
		return sql.NullInt64{}
	}
	return sql.NullInt64{Int64: s.Int(), Valid: true}
}

// Float returns a number; SQLite may store 1.0 as the integer 1.
func (s *Rowset) Float() float64 {
	kind, value := s.next()
	switch kind {
	case RowsetInteger:
		return float64(int64(binary.NativeEndian.Uint64([]byte(value))))
	case RowsetFloat:
		return math.Float64frombits(binary.NativeEndian.Uint64([]byte(value)))
	}
	s.fail("a number", kind)
	return 0
}

// Text returns a text or a blob; "" for NULL.
func (s *Rowset) Text() string {
	if s.null() {
		return ""
	}
	kind, value := s.next()
	if kind != RowsetText && kind != RowsetBlob {
		s.fail("a text", kind)
		return ""
	}
	return value
}

// NewRowset returns the decoder of an encoded rowset.
func NewRowset(encoded string) *Rowset { return &Rowset{data: encoded} }

// Ended reports whether no value is left.
func (s *Rowset) Ended() bool { return len(s.data) == 0 }

// Err returns the first error.
func (s *Rowset) Err() error { return s.err }

// Value returns a value of any type, as AppendValue takes it: an int64, a float64, a string, bytes or nil.
func (s *Rowset) Value() any {
	if s.null() {
		return nil
	}
	switch kind, value := s.next(); kind {
	case RowsetInteger:
		return int64(binary.NativeEndian.Uint64([]byte(value)))
	case RowsetFloat:
		return math.Float64frombits(binary.NativeEndian.Uint64([]byte(value)))
	case RowsetText:
		return value
	case RowsetBlob:
		return []byte(value)
	}
	return nil
}

// Batch runs a query of the given number of columns and calls scan once for each row, up to the first error. It is for
// queries that return hundreds of rows or more; scan must read every column.
func (t *Tx) Batch(what string, columns int, query string, args []any, scan func(*Rowset) error) error {
	return named(what, t.engine.Batch(t, columns, query, args, scan))
}

// EachRow calls scan for each row of an encoded rowset, up to the first error.
func EachRow(encoded string, scan func(*Rowset) error) error {
	set := Rowset{data: encoded}
	for len(set.data) > 0 {
		if err := scan(&set); err != nil {
			return err
		}
		if set.err != nil {
			return set.err
		}
	}
	return nil
}

// AppendValue appends a value to an encoded rowset: an integer, a number, a bool as 0 or 1, a text, bytes, or nil.
func AppendValue(encoded []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(encoded, RowsetNull), nil
	case int64:
		return binary.NativeEndian.AppendUint64(append(encoded, RowsetInteger), uint64(v)), nil
	case bool:
		n := uint64(0)
		if v {
			n = 1
		}
		return binary.NativeEndian.AppendUint64(append(encoded, RowsetInteger), n), nil
	case float64:
		return binary.NativeEndian.AppendUint64(append(encoded, RowsetFloat), math.Float64bits(v)), nil
	case string:
		encoded = binary.NativeEndian.AppendUint32(append(encoded, RowsetText), uint32(len(v)))
		return append(encoded, v...), nil
	case []byte:
		encoded = binary.NativeEndian.AppendUint32(append(encoded, RowsetBlob), uint32(len(v)))
		return append(encoded, v...), nil
	}
	return encoded, fmt.Errorf("a column holds a %T", v)
}
