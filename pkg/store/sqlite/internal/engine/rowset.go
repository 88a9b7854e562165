package engine

import (
	"database/sql"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
)

// Rowset decodes what the SQL aggregate of that name encoded: the values of all rows of a query, one after the other.
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
	case rowsetInteger, rowsetFloat:
		size = 8
	case rowsetText, rowsetBlob:
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
	if len(s.data) > 0 && s.data[0] == rowsetNull {
		s.data = s.data[1:]
		return true
	}
	return false
}

// Int returns an integer.
func (s *Rowset) Int() int64 {
	kind, value := s.next()
	if kind != rowsetInteger {
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
	case rowsetInteger:
		return float64(int64(binary.NativeEndian.Uint64([]byte(value))))
	case rowsetFloat:
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
	if kind != rowsetText && kind != rowsetBlob {
		s.fail("a text", kind)
		return ""
	}
	return value
}

// Batch runs a query of the given number of columns and calls scan once for each row, up to the first error. It is for
// queries that return hundreds of rows or more; scan must read every column.
func (t *Tx) Batch(what string, columns int, query string, args []any, scan func(*Rowset) error) error {
	set, err := t.rowset(asOneValue(columns, query), args)
	for err == nil && len(set.data) > 0 {
		if err = scan(&set); err == nil {
			err = set.err
		}
	}
	return named(what, err)
}

// asOneValue wraps a query so that its rows come as one value, in its order.
func asOneValue(columns int, query string) string {
	names := make([]string, columns)
	for i := range names {
		names[i] = fmt.Sprintf("c%d", i)
	}
	list := strings.Join(names, ", ")
	return "WITH r(" + list + ") AS (" + query + ") SELECT rowset(" + list + ") FROM r"
}

func (t *Tx) rowset(query string, args []any) (Rowset, error) {
	rows, err := t.tx.QueryContext(t.ctx, query, args...)
	if err != nil {
		return Rowset{}, err
	}
	defer func() { _ = rows.Close() }()
	var raw sql.RawBytes
	for rows.Next() {
		if err := rows.Scan(&raw); err != nil {
			return Rowset{}, err
		}
	}
	return Rowset{data: string(raw)}, rows.Err()
}
