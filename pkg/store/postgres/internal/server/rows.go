package server

import (
	"database/sql/driver"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// rows are those of a query that went with others.
type rows struct {
	types   *pgtype.Map
	results pgx.BatchResults
	rows    pgx.Rows
	first   bool // the first row was looked for, and more says whether there is one
	more    bool
}

// newRows takes the next of the results, which it closes on an error.
func newRows(types *pgtype.Map, results pgx.BatchResults) (driver.Rows, error) {
	found, err := results.Query()
	if err == nil {
		r := &rows{types: types, results: results, rows: found, first: true, more: found.Next()} // by which the columns are known
		if err = found.Err(); err == nil {
			return r, nil
		}
		found.Close()
	}
	_ = results.Close()
	return nil, err
}

// Columns implements driver.Rows.
func (r *rows) Columns() []string {
	fields := r.rows.FieldDescriptions()
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = f.Name
	}
	return out
}

// Close implements driver.Rows.
func (r *rows) Close() error {
	r.rows.Close()
	err := r.rows.Err()
	if again := r.results.Close(); err == nil {
		err = again
	}
	return err
}

// Next implements driver.Rows.
func (r *rows) Next(dest []driver.Value) error {
	if !r.first {
		r.more = r.rows.Next()
	}
	r.first = false
	if !r.more {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return io.EOF
	}
	fields := r.rows.FieldDescriptions()
	for i, raw := range r.rows.RawValues() {
		dest[i] = nil
		if raw == nil {
			continue
		}
		var err error
		if dest[i], err = value(r.types, &fields[i], raw); err != nil {
			return fmt.Errorf("convert column %s: %w", fields[i].Name, err)
		}
	}
	return nil
}

// value converts a value as package stdlib does, of the types that statements of a store return.
func value(types *pgtype.Map, f *pgconn.FieldDescription, raw []byte) (driver.Value, error) {
	switch f.DataTypeOID {
	case pgtype.BoolOID:
		return scanned[bool](types, f, raw)
	case pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID:
		return scanned[int64](types, f, raw)
	case pgtype.Float4OID, pgtype.Float8OID:
		return scanned[float64](types, f, raw)
	case pgtype.ByteaOID, pgtype.JSONOID, pgtype.JSONBOID:
		return scanned[[]byte](types, f, raw)
	}
	return scanned[string](types, f, raw)
}

func scanned[T any](types *pgtype.Map, f *pgconn.FieldDescription, raw []byte) (driver.Value, error) {
	var v T
	err := types.Scan(f.DataTypeOID, f.Format, raw, &v)
	return v, err
}
