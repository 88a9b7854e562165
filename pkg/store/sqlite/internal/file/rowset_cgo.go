//go:build cgo

package file

/*
#include <string.h>
#include "sqlite3.h"

// The encoded rows so far.
typedef struct {
	unsigned char *data;
	sqlite3_int64 used, size;
} rowset;

static unsigned char *rowset_room(rowset *set, sqlite3_int64 more) {
	if (set->used + more > set->size) {
		sqlite3_int64 size = 2 * (set->used + more) + 1024;
		unsigned char *data = sqlite3_realloc64(set->data, size);
		if (!data) {
			return 0;
		}
		set->data = data;
		set->size = size;
	}
	unsigned char *at = set->data + set->used;
	set->used += more;
	return at;
}

// Each value is one byte with its type, as SQLite numbers them, followed by the eight bytes of a number, or by four
// bytes of a length and the bytes of a text or a blob.
static void rowset_step(sqlite3_context *context, int count, sqlite3_value **values) {
	rowset *set = sqlite3_aggregate_context(context, sizeof(rowset));
	unsigned char *at = 0;
	for (int i = 0; set && i < count; i++) {
		int type = sqlite3_value_type(values[i]);
		if (type == SQLITE_INTEGER) {
			sqlite3_int64 number = sqlite3_value_int64(values[i]);
			if ((at = rowset_room(set, 9))) {
				memcpy(at + 1, &number, 8);
			}
		} else if (type == SQLITE_FLOAT) {
			double number = sqlite3_value_double(values[i]);
			if ((at = rowset_room(set, 9))) {
				memcpy(at + 1, &number, 8);
			}
		} else if (type == SQLITE_NULL) {
			at = rowset_room(set, 1);
		} else {
			const void *bytes = type == SQLITE_TEXT ? (const void *)sqlite3_value_text(values[i]) : sqlite3_value_blob(values[i]);
			unsigned int size = sqlite3_value_bytes(values[i]);
			if ((at = rowset_room(set, 5 + (sqlite3_int64)size))) {
				memcpy(at + 1, &size, 4);
				if (size) {
					memcpy(at + 5, bytes, size);
				}
			}
		}
		if (!at) {
			break;
		}
		*at = (unsigned char)type;
	}
	if (!at) {
		sqlite3_result_error_nomem(context);
	}
}

static void rowset_final(sqlite3_context *context) {
	rowset *set = sqlite3_aggregate_context(context, 0);
	if (set && set->data) {
		sqlite3_result_blob64(context, set->data, set->used, sqlite3_free);
	}
}

static int add_rowset(sqlite3 *db, char **message, const void *api) {
	return sqlite3_create_function(db, "rowset", -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, 0, 0, rowset_step, rowset_final);
}

static int auto_rowset(void) { return sqlite3_auto_extension((void (*)(void))add_rowset); }
*/
import "C"

import "github.com/eunoe-memory/eunoe/pkg/store/internal/engine"

// addRowset registers the SQL aggregate rowset for all connections opened from now on. It returns all rows of a query
// as one value: fetching them row by row through cgo costs more than finding them. Calling it again is harmless.
func addRowset() { C.auto_rowset() }

// The types of values in a rowset are those by which SQLite numbers them.
var _ = [1]struct{}{}[(C.SQLITE_INTEGER-engine.RowsetInteger)|(C.SQLITE_FLOAT-engine.RowsetFloat)|(C.SQLITE_NULL-engine.RowsetNull)|
	(C.SQLITE_TEXT-engine.RowsetText)|(C.SQLITE_BLOB-engine.RowsetBlob)]
