package server

import (
	"errors"

	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// Second implements engine.Database: a search reads by one connection, on which what its steps read goes together
// (together.go).
func (*Server) Second(*engine.Tx) (second *engine.Tx, release func(), err error) {
	return nil, nil, nil
}

// Insert runs an INSERT and returns the row number that the row was given.
func (s *Server) Insert(t *engine.Tx, query string, args []any) (no int64, err error) {
	query, args = s.Statement(query+" RETURNING no", args)
	rows, err := t.Rows(query, args)
	if err != nil {
		return 0, err
	}
	defer func() { _ = rows.Close() }()
	if rows.Next() {
		err = rows.Scan(&no)
	}
	return no, errors.Join(err, rows.Err())
}

// Batch runs a query of the given number of columns and calls scan once for each row.
func (s *Server) Batch(t *engine.Tx, columns int, query string, args []any, scan func(*engine.Rowset) error) error {
	query, args = s.Statement(query, args)
	rows, err := t.Rows(query, args)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	values, dest := make([]any, columns), make([]any, columns)
	for i := range values {
		dest[i] = &values[i]
	}
	var all []byte
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		for _, v := range values {
			if all, err = engine.AppendValue(all, v); err != nil {
				return err
			}
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return engine.EachRow(string(all), scan)
}
