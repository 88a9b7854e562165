package server

import (
	"errors"
	"fmt"

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
	answered, err := t.Answer(query, args)
	if err != nil {
		return err
	}
	a := answered.(*answer)
	if a.err == nil && len(a.fields) != columns {
		a.err = fmt.Errorf("the query has %d columns; expected %d", len(a.fields), columns)
	}
	if a.err != nil {
		return a.err
	}
	return engine.EachRow(a.rows.String(), scan)
}
