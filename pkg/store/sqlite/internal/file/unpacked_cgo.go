//go:build cgo

package file

/*
#include <string.h>
#include "sqlite3.h"

// unpacked(packed) returns the float32 vector that sketch.Pack packed, in the form that sqlite-vec compares; NULL for
// anything else.
static void unpacked(sqlite3_context *context, int count, sqlite3_value **values) {
	const unsigned char *packed = sqlite3_value_blob(values[0]);
	int size = sqlite3_value_bytes(values[0]), n = size > 4 ? (size - 4) * 4 / 5 : 0;
	if (n == 0 || 4 + n + (n + 3) / 4 != size) {
		sqlite3_result_null(context);
		return;
	}
	float *out = sqlite3_malloc(n * (int)sizeof(float));
	if (!out) {
		sqlite3_result_error_nomem(context);
		return;
	}
	float scale;
	memcpy(&scale, packed, sizeof scale);
	const signed char *high = (const signed char *)packed + 4;
	const unsigned char *low = packed + 4 + n;
	int i = 0;
	for (; i + 4 <= n; i += 4) { // shifts by constants only, which vectorises
		int l = low[i >> 2];
		out[i] = scale * (float)(high[i] * 4 + (l & 3));
		out[i + 1] = scale * (float)(high[i + 1] * 4 + (l >> 2 & 3));
		out[i + 2] = scale * (float)(high[i + 2] * 4 + (l >> 4 & 3));
		out[i + 3] = scale * (float)(high[i + 3] * 4 + (l >> 6));
	}
	for (; i < n; i++) {
		out[i] = scale * (float)(high[i] * 4 + (low[i >> 2] >> (2 * (i & 3)) & 3));
	}
	sqlite3_result_blob(context, out, n * (int)sizeof(float), sqlite3_free);
}

static int add_unpacked(sqlite3 *db, char **message, const void *api) {
	return sqlite3_create_function(db, "unpacked", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, 0, unpacked, 0, 0);
}

static int auto_unpacked(void) { return sqlite3_auto_extension((void (*)(void))add_unpacked); }
*/
import "C"

// addUnpacked registers the SQL function unpacked for all connections opened from now on. Calling it again is harmless.
func addUnpacked() { C.auto_unpacked() }
