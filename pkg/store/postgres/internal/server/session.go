package server

import (
	"context"
	"database/sql"

	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// Second begins a transaction on another connection that reads the same state as t.
func (s *Server) Second(t *engine.Tx) (second *engine.Tx, release func(), err error) {
	state, err := t.Commits()
	if err != nil {
		return nil, nil, err
	}
	select {
	case s.seconds <- struct{}{}:
	default:
		return nil, nil, nil
	}
	tx, err := s.beginAt(t.Context(), state)
	if tx == nil {
		<-s.seconds
		s.Warn(err, "a second connection could not be used; a search goes on by one")
		return nil, nil, nil
	}
	return engine.NewTx(t.Context(), tx, &session{Server: s, bounds: map[indexOfBank]bounds{}}), func() {
		_ = tx.Rollback()
		<-s.seconds
	}, nil
}

// beginAt begins to read a state on a second connection; nil if that connection sees another.
func (s *Server) beginAt(ctx context.Context, state int64) (*sql.Tx, error) {
	tx, err := s.second.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return nil, err
	}
	seen, err := engine.NewTx(ctx, tx, &session{Server: s}).Commits()
	if err != nil || seen != state {
		_ = tx.Rollback()
		return nil, err
	}
	return tx, nil
}

// Insert runs an INSERT and returns the row number that the row was given.
func (s *Server) Insert(t *engine.Tx, query string, args []any) (no int64, err error) {
	query, args = s.Statement(query+" RETURNING no", args)
	err = t.Raw().QueryRowContext(t.Context(), query, args...).Scan(&no)
	return no, err
}

// Batch runs a query of the given number of columns and calls scan once for each row.
func (s *Server) Batch(t *engine.Tx, columns int, query string, args []any, scan func(*engine.Rowset) error) error {
	query, args = s.Statement(query, args)
	rows, err := t.Raw().QueryContext(t.Context(), query, args...)
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

// session is the engine of one transaction.
type session struct {
	*Server
	bounds map[indexOfBank]bounds // what is known of the state that it reads; nil in one that writes
}
