package server

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// mostWaiting bounds how many statements wait on a connection.
const mostWaiting = 256

// connector makes connections that send statements together.
type connector struct {
	driver.Connector
	server   *Server
	settings *statement // of every transaction; nil where the connection has them
}

// Connect implements driver.Connector.
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	made, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: made.(*stdlib.Conn), server: c.server, settings: c.settings}, nil
}

// statement is one that waits, with the name of what it does.
type statement struct {
	what, query string
	args        []any
	each        func(no int64) // is called with its rows; nil for one that has none
}

// ended reads what came of a statement that waited, which is the next of the results.
func (s statement) ended(results pgx.BatchResults) error {
	if s.each == nil {
		_, err := results.Exec()
		return err
	}
	rows, err := results.Query()
	if err != nil {
		return err
	}
	var no int64
	_, err = pgx.ForEachRow(rows, []any{&no}, func() error {
		s.each(no)
		return nil
	})
	return err
}

// conn is a connection on which the statements of a transaction that need no answer (Deferred) wait for the next that has
// one, or for the commit: what waits goes to the server with it, in one round trip. So does the BEGIN.
type conn struct {
	*stdlib.Conn
	server   *Server
	settings *statement  // of every transaction; nil for none
	within   bool        // a transaction
	waiting  []statement // in their order
	opening  int         // how many of waiting a transaction began with: the BEGIN, its settings and its guard
	sent     bool        // the BEGIN was
	open     *openBatch  // nil for none
}

type deferredKey struct{}

// Deferred implements engine.Deferrer.
func (*Server) Deferred(ctx context.Context, what string, each func(no int64)) context.Context {
	return context.WithValue(ctx, deferredKey{}, statement{what: what, each: each})
}

// BeginTx implements driver.ConnBeginTx.
func (c *conn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	if c.Conn.Conn().IsClosed() {
		return nil, driver.ErrBadConn
	}
	begin := "begin isolation level read committed"
	if sql.IsolationLevel(o.Isolation) == sql.LevelRepeatableRead {
		begin = "begin isolation level repeatable read"
	}
	if o.ReadOnly {
		begin += " read only"
	}
	c.within, c.sent, c.waiting = true, false, []statement{{what: "begin", query: begin}}
	if c.settings != nil {
		c.waiting = append(c.waiting, *c.settings)
	}
	if guard := c.server.guard.Load(); guard != nil {
		c.waiting = append(c.waiting, *guard)
	}
	c.opening = len(c.waiting)
	return &transaction{ctx, c}, nil
}

// ExecContext implements driver.ExecerContext.
func (c *conn) ExecContext(ctx context.Context, query string, named []driver.NamedValue) (driver.Result, error) {
	if statements, ok := ctx.Value(sentKey{}).([]*engine.Statement); ok {
		return c.sendAll(ctx, statements)
	}
	if n, ok := ctx.Value(receivedKey{}).(int); ok {
		return driver.ResultNoRows, c.receive(n)
	}
	if a := answered(ctx); a != nil {
		return driver.RowsAffected(a.tag.RowsAffected()), a.err
	}
	if s, ok := ctx.Value(deferredKey{}).(statement); ok && c.within {
		s.query, s.args = query, values(named)
		c.waiting = append(c.waiting, s)
		if len(c.waiting) < mostWaiting {
			return driver.ResultNoRows, nil
		}
		return driver.ResultNoRows, c.flush(ctx)
	}
	if err := c.drain(); err != nil {
		return nil, err
	}
	if len(named) > 0 && len(c.waiting) > 0 {
		if _, ok := named[0].Value.(pgx.QueryExecMode); ok { // which a batch knows nothing of
			if err := c.flush(ctx); err != nil {
				return nil, err
			}
		}
	}
	if len(c.waiting) == 0 {
		return c.Conn.ExecContext(ctx, query, named)
	}
	results, err := c.send(ctx, statement{query: query, args: values(named)})
	if err != nil {
		return nil, err
	}
	tag, err := results.Exec()
	if err := errors.Join(err, closed(results, err)); err != nil {
		return nil, err
	}
	return driver.RowsAffected(tag.RowsAffected()), nil
}

// QueryContext implements driver.QueryerContext.
func (c *conn) QueryContext(ctx context.Context, query string, named []driver.NamedValue) (driver.Rows, error) {
	if a := answered(ctx); a != nil {
		return a, a.err
	}
	if err := c.drain(); err != nil {
		return nil, err
	}
	if len(c.waiting) == 0 {
		return c.Conn.QueryContext(ctx, query, named)
	}
	results, err := c.send(ctx, statement{query: query, args: values(named)})
	if err != nil {
		return nil, err
	}
	return newRows(c.Conn.Conn().TypeMap(), results)
}

// flush sends what waits.
func (c *conn) flush(ctx context.Context) error {
	last := c.waiting[len(c.waiting)-1]
	c.waiting = c.waiting[:len(c.waiting)-1]
	results, err := c.send(ctx, last)
	if err != nil {
		return err
	}
	if err := cmp.Or(last.ended(results), results.Close()); err != nil {
		return &engine.Late{What: last.what, Err: err}
	}
	return nil
}

// send sends what waits and one more statement, whose result is the next of those returned. The caller closes them.
func (c *conn) send(ctx context.Context, last statement) (pgx.BatchResults, error) {
	waited, results, err := c.sendBatch(ctx, last)
	if err != nil {
		return nil, err
	}
	return results, ended(waited, results)
}

// sendBatch sends what waits and more statements. The results are those of what waited, and then theirs.
func (c *conn) sendBatch(ctx context.Context, more ...statement) (waited []statement, results pgx.BatchResults, err error) {
	if err := c.drain(); err != nil {
		return nil, nil, err
	}
	if c.Conn.Conn().IsClosed() {
		return nil, nil, driver.ErrBadConn
	}
	waited = c.server.merge(c.waiting)
	c.waiting, c.sent = nil, true
	batch := &pgx.Batch{}
	for _, s := range slices.Concat(waited, more) {
		batch.Queue(s.query, s.args...)
	}
	return waited, c.Conn.Conn().SendBatch(ctx, batch), nil
}

// closed closes results; an error that they returned already is not returned again.
func closed(results pgx.BatchResults, err error) error {
	if again := results.Close(); err == nil {
		return again
	}
	return nil
}

func values(named []driver.NamedValue) []any {
	out := make([]any, len(named))
	for i, v := range named {
		out[i] = v.Value
	}
	return out
}

// transaction is one of a conn.
type transaction struct {
	ctx  context.Context
	conn *conn
}

// Commit implements driver.Tx: what waits is part of the transaction.
func (t *transaction) Commit() error {
	c := t.conn
	c.within = false
	if err := c.drain(); err != nil {
		_ = t.undo()
		return err
	}
	if !c.sent && len(c.waiting) == c.opening { // nothing was asked
		c.waiting = nil
		return nil
	}
	results, err := c.send(t.ctx, statement{what: "commit", query: "commit"})
	if err == nil {
		tag, failed := results.Exec()
		if err = errors.Join(failed, closed(results, failed)); err == nil && tag.String() == "ROLLBACK" {
			err = pgx.ErrTxCommitRollback
		}
	}
	if err != nil {
		_ = t.undo()
	}
	return err
}

// Rollback implements driver.Tx. What waits is dropped.
func (t *transaction) Rollback() error {
	_ = t.conn.drain() // an error ends the transaction too
	t.conn.within, t.conn.waiting = false, nil
	if !t.conn.sent {
		return nil
	}
	return t.undo()
}

// undo ends the transaction on the server, or else the connection.
func (t *transaction) undo() error {
	c := t.conn.Conn.Conn()
	if c.IsClosed() || c.PgConn().TxStatus() == 'I' {
		return nil
	}
	_, err := c.Exec(t.ctx, "rollback")
	if err != nil {
		_ = c.Close(t.ctx)
	}
	return err
}
