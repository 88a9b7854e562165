package server

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// answer is what came of a statement that went with others.
type answer struct {
	types  *pgtype.Map
	fields []pgconn.FieldDescription
	rows   [][][]byte
	tag    pgconn.CommandTag
	err    error
}

type sentKey struct{}

// Send implements engine.Sender.
func (*Server) Send(t *engine.Tx, statements []*engine.Statement) error {
	_, err := t.Raw().ExecContext(context.WithValue(t.Context(), sentKey{}, statements), "")
	return err
}

// sendAll runs statements in one round trip, and what waits before them. An error of one of them is in its answer.
func (c *conn) sendAll(ctx context.Context, statements []*engine.Statement) (driver.Result, error) {
	var results pgx.BatchResults
	var err error
	first := statement{query: statements[0].Query, args: statements[0].Args}
	more := make([]statement, len(statements)-1)
	for i, s := range statements[1:] {
		more[i] = statement{query: s.Query, args: s.Args}
	}
	if results, err = c.send(ctx, first, more...); err != nil {
		return nil, err
	}
	for _, s := range statements {
		s.Answer = c.read(results)
	}
	_ = results.Close() // an error is in an answer
	return driver.ResultNoRows, nil
}

// read reads the next of the results whole.
func (c *conn) read(results pgx.BatchResults) *answer {
	a := &answer{types: c.Conn.Conn().TypeMap()}
	found, err := results.Query()
	if err != nil {
		a.err = err
		return a
	}
	defer found.Close()
	for found.Next() {
		raw := slices.Clone(found.RawValues())
		size := 0
		for _, v := range raw {
			size += len(v)
		}
		all := make([]byte, 0, size) // the driver uses its own again
		for i, v := range raw {
			if v != nil {
				all = append(all, v...)
				raw[i] = all[len(all)-len(v) : len(all) : len(all)]
			}
		}
		a.rows = append(a.rows, raw)
	}
	a.fields = slices.Clone(found.FieldDescriptions())
	found.Close()
	a.tag, a.err = found.CommandTag(), found.Err()
	return a
}

// answered returns the answer that a statement has already; nil for none.
func answered(ctx context.Context) *answer {
	a, _ := engine.AnswerOf(ctx).(*answer)
	return a
}

// Columns implements driver.Rows.
func (a *answer) Columns() []string {
	out := make([]string, len(a.fields))
	for i, f := range a.fields {
		out[i] = f.Name
	}
	return out
}

// Close implements driver.Rows.
func (*answer) Close() error { return nil }

// Next implements driver.Rows.
func (a *answer) Next(dest []driver.Value) error {
	if len(a.rows) == 0 {
		return io.EOF
	}
	row := a.rows[0]
	a.rows = a.rows[1:]
	for i, raw := range row {
		dest[i] = nil
		if raw == nil {
			continue
		}
		var err error
		if dest[i], err = value(a.types, &a.fields[i], raw); err != nil {
			return fmt.Errorf("convert column %s: %w", a.fields[i].Name, err)
		}
	}
	return nil
}
