package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
)

// rowset reads what the aggregate of that name put down: the values of all rows
// of a query, one after the other. Reading past the end, or a value as what it
// is not, is kept as its error and gives zero values from there on.
type rowset struct {
	data string // texts are cut from it
	err  error
}

// next gives the type of the next value and its content.
func (s *rowset) next() (kind byte, held string) {
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
	held, s.data = s.data[:size], s.data[size:]
	return kind, held
}

func (s *rowset) fail(expected string, kind byte) {
	if s.err == nil {
		s.err = fmt.Errorf("a column holds type %d; expected %s", kind, expected)
	}
	s.data = ""
}

// null takes the next value if it is NULL.
func (s *rowset) null() bool {
	if len(s.data) > 0 && s.data[0] == rowsetNull {
		s.data = s.data[1:]
		return true
	}
	return false
}

func (s *rowset) int() int64 {
	kind, held := s.next()
	if kind != rowsetInteger {
		s.fail("an integer", kind)
		return 0
	}
	return int64(binary.NativeEndian.Uint64([]byte(held)))
}

func (s *rowset) bool() bool { return s.int() != 0 }

// optional is int, or nothing of NULL.
func (s *rowset) optional() sql.NullInt64 {
	if s.null() {
		return sql.NullInt64{}
	}
	return sql.NullInt64{Int64: s.int(), Valid: true}
}

// real is a number: an integer too, for SQLite may keep 1.0 as 1.
func (s *rowset) real() float64 {
	kind, held := s.next()
	switch kind {
	case rowsetInteger:
		return float64(int64(binary.NativeEndian.Uint64([]byte(held))))
	case rowsetFloat:
		return math.Float64frombits(binary.NativeEndian.Uint64([]byte(held)))
	}
	s.fail("a number", kind)
	return 0
}

// text is a text or a blob; "" of NULL.
func (s *rowset) text() string {
	if s.null() {
		return ""
	}
	kind, held := s.next()
	if kind != rowsetText && kind != rowsetBlob {
		s.fail("a text", kind)
		return ""
	}
	return held
}

// eachOf runs a query of so many columns, which brings few hundred rows or
// thousands, and hands them to scan once for each.
func eachOf(ctx context.Context, tx *sql.Tx, what string, columns int, query string, args []any, scan func(*rowset) error) error {
	set, err := rowsetOf(ctx, tx, together(columns, query), args)
	for err == nil && len(set.data) > 0 {
		if err = scan(&set); err == nil {
			err = set.err
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// together makes one value of all rows of a query, in its order.
func together(columns int, query string) string {
	names := make([]string, columns)
	for i := range names {
		names[i] = fmt.Sprintf("c%d", i)
	}
	list := strings.Join(names, ", ")
	return "WITH r(" + list + ") AS (" + query + ") SELECT rowset(" + list + ") FROM r"
}

func rowsetOf(ctx context.Context, tx *sql.Tx, query string, args []any) (rowset, error) {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return rowset{}, err
	}
	defer rows.Close()
	var raw sql.RawBytes
	for rows.Next() {
		if err := rows.Scan(&raw); err != nil {
			return rowset{}, err
		}
	}
	return rowset{data: string(raw)}, rows.Err()
}
