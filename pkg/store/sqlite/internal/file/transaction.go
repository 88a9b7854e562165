//go:build cgo

package file

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"
)

// transaction is a transaction on a connection that is its own until it ends. Those of database/sql start a goroutine for
// every statement, to see whether its context ends; with some fifty statements that is a tenth of a recall. Here one
// watcher interrupts the connection. It is not safe for concurrent use.
type transaction struct {
	conn    *sql.Conn
	raw     *connection
	watcher *watcher // of the context of the last statement; nil where that cannot end
	ended   bool
}

// begin waits for a connection of a pool, until ctx ends, and begins a transaction on it in this way.
func begin(ctx context.Context, pool *sql.DB, how string) (*transaction, error) {
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("wait for a connection: %w", err)
	}
	t := &transaction{conn: conn}
	err = conn.Raw(func(raw any) error {
		own, ok := raw.(*connection)
		if !ok {
			return fmt.Errorf("the driver's connection is a %T", raw)
		}
		t.raw = own
		return nil
	})
	if err == nil {
		_, err = t.ExecContext(ctx, how)
	}
	if err != nil {
		t.unwatch()
		return nil, errors.Join(err, conn.Close())
	}
	return t, nil
}

// commit ends the transaction. One that cannot be committed is rolled back.
func (t *transaction) commit() error {
	_, err := t.ExecContext(context.Background(), "COMMIT")
	if err != nil {
		t.rollback()
		return err
	}
	t.release()
	return nil
}

// rollback ends the transaction, unless it has ended. One that SQLite rolled back itself, as it does when the disk is full, is
// over.
func (t *transaction) rollback() {
	if !t.ended {
		_, _ = t.ExecContext(context.Background(), "ROLLBACK")
		t.release()
	}
}

// release lets the next one have the connection.
func (t *transaction) release() {
	t.ended = true
	_ = t.conn.Close()
}

// QueryContext implements engine.Raw. When ctx ends before the rows are read, reading them fails; Read tells why.
func (t *transaction) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if err := t.watch(ctx); err != nil {
		return nil, err
	}
	rows, err := t.conn.QueryContext(context.WithoutCancel(ctx), query, args...)
	return rows, over(ctx, err)
}

// ExecContext implements engine.Raw.
func (t *transaction) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if err := t.watch(ctx); err != nil {
		return nil, err
	}
	r, err := t.conn.ExecContext(context.WithoutCancel(ctx), query, args...)
	return r, over(ctx, err)
}

// over returns why a statement was interrupted, where its context has ended, and else the error itself.
func over(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil || errors.Is(err, ctx.Err()) || !interrupted(err) {
		return err
	}
	return fmt.Errorf("%w: %w", ctx.Err(), err)
}

// watch has the statements from now on interrupted when ctx ends, and no longer when an earlier context does. It fails
// when ctx has ended already.
func (t *transaction) watch(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if t.watcher != nil && t.watcher.ctx == ctx {
		return nil
	}
	t.unwatch()
	if ctx.Done() != nil {
		t.watcher = newWatcher(ctx, t.raw.interrupt)
	}
	return nil
}

func (t *transaction) unwatch() {
	if t.watcher != nil {
		t.watcher.end()
	}
	t.watcher = nil
}

// interruptEvery is how long a watcher waits before it interrupts again: an interrupt between two statements is lost.
const interruptEvery = 5 * time.Millisecond

// watcher interrupts a connection from the end of a context until it is told to stop.
type watcher struct {
	ctx  context.Context //nolint:containedctx // what it watches
	stop func() bool
	done chan struct{}

	mu    sync.Mutex // held while it interrupts: afterwards the connection may be another's
	ended bool
}

func newWatcher(ctx context.Context, interrupt func()) *watcher {
	w := &watcher{ctx: ctx, done: make(chan struct{})}
	w.stop = context.AfterFunc(ctx, func() {
		tick := time.NewTicker(interruptEvery)
		defer tick.Stop()
		for w.once(interrupt) {
			select {
			case <-tick.C:
			case <-w.done:
			}
		}
	})
	return w
}

// once interrupts, unless the watcher has ended.
func (w *watcher) once(interrupt func()) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ended {
		interrupt()
	}
	return !w.ended
}

func (w *watcher) end() {
	w.stop()
	w.mu.Lock()
	w.ended = true
	w.mu.Unlock()
	close(w.done)
}
