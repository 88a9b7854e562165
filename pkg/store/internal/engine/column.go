package engine

import (
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Micros converts a time for a column: microseconds since 1970 in UTC.
func Micros(t time.Time) int64 { return t.UnixMicro() }

// Time reverses Micros. The time is in UTC.
func Time(n int64) time.Time { return time.UnixMicro(n).UTC() }

// AsStored returns a time as it is read from the store.
func AsStored(t time.Time) time.Time { return Time(Micros(t)) }

// SpanAsStored returns a span as it is read from the store.
func SpanAsStored(s memory.Span) memory.Span {
	stored := func(t *time.Time) *time.Time {
		if t == nil {
			return nil
		}
		s := AsStored(*t)
		return &s
	}
	return memory.Span{From: stored(s.From), To: stored(s.To)}
}

// TimeOrNull is Micros of a time that may be missing: NULL for nil.
func TimeOrNull(t *time.Time) any {
	if t == nil {
		return nil
	}
	return Micros(*t)
}

// Span converts two columns of TimeOrNull.
func Span(from, to sql.NullInt64) memory.Span {
	var s memory.Span
	if from.Valid {
		t := Time(from.Int64)
		s.From = &t
	}
	if to.Valid {
		t := Time(to.Int64)
		s.To = &t
	}
	return s
}

// Text converts a string for a TEXT column. SQLite ends a text at a NUL in places, so each becomes U+FFFD.
func Text(s string) string {
	if strings.IndexByte(s, 0) < 0 {
		return s
	}
	return strings.ReplaceAll(s, "\x00", "\uFFFD")
}

// TextOrNull is Text of a string that may be missing: NULL for "".
func TextOrNull(s string) any {
	if s == "" {
		return nil
	}
	return Text(s)
}

// JSON converts a value for a JSON column.
func JSON(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}

// JSONOrNull is JSON of a value that may be missing: NULL when missing is true.
func JSONOrNull(missing bool, v any) (any, error) {
	if missing {
		return nil, nil
	}
	return JSON(v)
}

// JSONList converts a list for a JSON column; an empty one is "[]" and never null.
func JSONList[T any](list []T) (string, error) {
	if len(list) == 0 {
		return "[]", nil
	}
	return JSON(list)
}

// FromJSON reads a JSON column; an empty one leaves v as it is.
func FromJSON(raw []byte, v any) error {
	if len(raw) == 0 {
		return nil
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("read a JSON column: %w", err)
	}
	return nil
}

// AllFromJSON takes pairs of a JSON column ([]byte) and what FromJSON reads it into.
func AllFromJSON(pairs ...any) error {
	for pair := range slices.Chunk(pairs, 2) {
		if err := FromJSON(pair[0].([]byte), pair[1]); err != nil {
			return err
		}
	}
	return nil
}

// Values is a list as the argument of json_each, so that one SQL text serves lists of any length.
type Values struct {
	Numbers []int64  // of integers
	Texts   []string // of strings; nil for integers
}

// Listed are the types of the values of lists.
type Listed interface {
	~string | ~int64 | ~uint64 | ~uint32
}

// List returns a list as the argument of json_each.
func List[T Listed](list []T) Values {
	switch list := any(list).(type) {
	case []int64:
		return Values{Numbers: list}
	case []uint64:
		return Values{Numbers: integers(list)}
	case []uint32:
		return Values{Numbers: integers(list)}
	case []string:
		return Values{Texts: notNil(list)}
	}
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = reflect.ValueOf(v).String()
	}
	return Values{Texts: texts}
}

func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func integers[T ~uint64 | ~uint32](list []T) []int64 {
	out := make([]int64, len(list))
	for i, v := range list {
		out[i] = int64(v)
	}
	return out
}

// Value returns the list as JSON.
func (v Values) Value() (driver.Value, error) {
	if v.Texts != nil {
		return JSONList(v.Texts)
	}
	return JSONList(v.Numbers)
}

// ParseNumbers reads integers separated by one space, as group_concat(no, ' ') writes them; nil for "".
func ParseNumbers(s string) ([]int64, error) {
	if s == "" {
		return nil, nil
	}
	out := make([]int64, 0, strings.Count(s, " ")+1)
	for part := range strings.SplitSeq(s, " ") {
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("read row number: %w", err)
		}
		out = append(out, n)
	}
	return out, nil
}

// NilIfEmpty returns nil for an empty list: records keep no empty lists.
func NilIfEmpty[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

// InOrder returns what was found in the order in which it was asked for, each once; keys that were not found are left
// out. It empties found.
func InOrder[K comparable, V any](asked []K, found map[K]V) []V {
	out := make([]V, 0, len(asked))
	for _, k := range asked {
		if v, ok := found[k]; ok {
			out = append(out, v)
			delete(found, k)
		}
	}
	return out
}
