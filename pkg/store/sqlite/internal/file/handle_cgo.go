//go:build cgo

package file

/*
#include <stdint.h>
#include "sqlite3.h"

// handle() returns the address of the connection that runs it.
static void handle(sqlite3_context *context, int count, sqlite3_value **values) {
	sqlite3_result_int64(context, (sqlite3_int64)(intptr_t)sqlite3_context_db_handle(context));
}

// Plans do not depend on the values of parameters: SQLite would else prepare a statement again for every new value that
// it compares with the condition of a partial index.
static int add_handle(sqlite3 *db, char **message, const void *api) {
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_QPSG, 1, (int *)0);
	return sqlite3_create_function(db, "handle", 0, SQLITE_UTF8 | SQLITE_DIRECTONLY, 0, handle, 0, 0);
}

static int auto_handle(void) { return sqlite3_auto_extension((void (*)(void))add_handle); }

static void interrupt(sqlite3_int64 handle) { sqlite3_interrupt((sqlite3 *)(intptr_t)handle); }

// SQLite counts its memory under a lock that all connections share, and nobody reads the count.
static int count_no_memory(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }
*/
import "C"

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	sqlite3 "github.com/mattn/go-sqlite3"
)

// uncounted is done before SQLite is used, because it is refused afterwards.
var uncounted = C.count_no_memory()

// addHandle gives every connection opened from now on the SQL function handle, and plans that stay. Calling it again is
// harmless.
func addHandle() { C.auto_handle() }

// connection is one of the driver whose statements can be ended from outside.
type connection struct {
	*sqlite3.SQLiteConn
	handle C.sqlite3_int64
}

// newConnection asks a connection for its address.
func newConnection(c *sqlite3.SQLiteConn) (*connection, error) {
	rows, err := c.Query("SELECT handle()", nil)
	if err != nil {
		return nil, err
	}
	row := []driver.Value{nil}
	err = rows.Next(row)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	_ = rows.Close()
	handle, ok := row[0].(int64)
	if err == nil && !ok {
		err = fmt.Errorf("the address of the connection is a %T", row[0])
	}
	return &connection{c, C.sqlite3_int64(handle)}, err
}

// interrupt ends the statements that run, and does nothing where none runs. The connection must be open.
func (c *connection) interrupt() { C.interrupt(c.handle) }
