package server

import (
	"context"
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// answer is what came of a statement that went with others.
type answer struct {
	fields []pgconn.FieldDescription
	rows   strings.Builder // of all rows, as engine.Rowset decodes them
	left   *engine.Rowset  // of those that Next did not return yet; nil before it was called
	tag    pgconn.CommandTag
	err    error
}

type (
	sentKey     struct{}
	receivedKey struct{}
)

// Send implements engine.Sender.
func (*Server) Send(t *engine.Tx, statements []*engine.Statement) error {
	_, err := t.Raw().ExecContext(context.WithValue(t.Context(), sentKey{}, statements), "")
	return err
}

// Receive implements engine.Sender.
func (*Server) Receive(t *engine.Tx, n int) error {
	_, err := t.Raw().ExecContext(context.WithValue(t.Context(), receivedKey{}, n), "")
	return err
}

// openBatch is what was sent together and is not answered whole.
type openBatch struct {
	results    pgx.BatchResults
	before     []statement // those that waited, and came first
	statements []*engine.Statement
	received   int
}

// sendAll sends statements in one round trip, and what waits before them. What comes of them receive reads.
func (c *conn) sendAll(ctx context.Context, statements []*engine.Statement) (driver.Result, error) {
	all := make([]statement, len(statements))
	for i, s := range statements {
		all[i] = statement{query: s.Query, args: s.Args}
	}
	before, results, err := c.sendBatch(ctx, all...)
	if err != nil {
		return nil, err
	}
	c.open = &openBatch{results: results, before: before, statements: statements}
	return driver.ResultNoRows, nil
}

// receive sets the answers of the first n statements of the open batch; an error of one of them is in its answer. That of a
// statement that waited is returned.
func (c *conn) receive(n int) error {
	b := c.open
	if b == nil {
		return nil
	}
	if err := ended(b.before, b.results); err != nil {
		c.open = nil
		return err
	}
	b.before = nil
	for ; b.received < n; b.received++ {
		b.statements[b.received].Answer = c.read(b.results)
	}
	if n == len(b.statements) {
		c.open = nil
		_ = b.results.Close() // an error is in an answer
	}
	return nil
}

// drain receives what the open batch has left: nothing else can be sent before.
func (c *conn) drain() error {
	if c.open == nil {
		return nil
	}
	return c.receive(len(c.open.statements))
}

// ended reads what came of statements that waited, which are the next of the results. It closes them when one failed.
func ended(waited []statement, results pgx.BatchResults) error {
	for _, s := range waited {
		if err := s.ended(results); err != nil {
			_ = results.Close()
			return &engine.Late{What: s.what, Err: err}
		}
	}
	return nil
}

// read reads the next of the results whole.
func (c *conn) read(results pgx.BatchResults) *answer {
	a := &answer{}
	found, err := results.Query()
	if err != nil {
		a.err = err
		return a
	}
	defer found.Close()
	types := c.Conn.Conn().TypeMap()
	for found.Next() {
		if a.fields == nil {
			a.fields = slices.Clone(found.FieldDescriptions())
		}
		for i, raw := range found.RawValues() {
			if err := encode(&a.rows, types, &a.fields[i], raw); err != nil {
				a.err = fmt.Errorf("convert column %s: %w", a.fields[i].Name, err)
				return a
			}
		}
	}
	if a.fields == nil {
		a.fields = slices.Clone(found.FieldDescriptions())
	}
	found.Close()
	a.tag, a.err = found.CommandTag(), found.Err()
	return a
}

// encode appends a value to an encoded rowset. What most values are is written as it came.
func encode(to *strings.Builder, types *pgtype.Map, f *pgconn.FieldDescription, raw []byte) error {
	var b [9]byte
	binaryFormat := f.Format == pgtype.BinaryFormatCode
	switch {
	case raw == nil:
		to.WriteByte(engine.RowsetNull)
	case f.DataTypeOID == pgtype.TextOID:
		to.Write(binary.NativeEndian.AppendUint32(append(b[:0], engine.RowsetText), uint32(len(raw)))) //nolint:gosec // PostgreSQL has none beyond a GiB
		to.Write(raw)
	case f.DataTypeOID == pgtype.ByteaOID && binaryFormat:
		to.Write(binary.NativeEndian.AppendUint32(append(b[:0], engine.RowsetBlob), uint32(len(raw)))) //nolint:gosec // as above
		to.Write(raw)
	case f.DataTypeOID == pgtype.Int8OID && binaryFormat && len(raw) == 8:
		to.Write(binary.NativeEndian.AppendUint64(append(b[:0], engine.RowsetInteger), binary.BigEndian.Uint64(raw)))
	default:
		v, err := value(types, f, raw)
		if err != nil {
			return err
		}
		all, err := engine.AppendValue(nil, v)
		if err != nil {
			return err
		}
		to.Write(all)
	}
	return nil
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
	if a.left == nil {
		a.left = engine.NewRowset(a.rows.String())
	}
	if a.left.Ended() {
		return io.EOF
	}
	for i := range dest {
		dest[i] = a.left.Value()
	}
	return a.left.Err()
}
