//go:build cgo

// Package tokens cuts text into the words of a text index: the stems that the tokenizer of SQLite's FTS5 makes as the
// SQLite store configures it (porter unicode61 remove_diacritics 2). An index of another engine that has the same words
// finds the same rows, so the tokenizer itself is called.
package tokens

/*
#include <string.h>
#include "sqlite3.h"

typedef struct {
	sqlite3 *db;
	fts5_tokenizer functions;
	Fts5Tokenizer *tokenizer;
	unsigned char *data; // tokens so far: four bytes of a length and the bytes of each
	sqlite3_int64 used, size;
} cutter;

static void cutter_close(cutter *c) {
	if (c->tokenizer) {
		c->functions.xDelete(c->tokenizer);
	}
	sqlite3_close(c->db);
	sqlite3_free(c->data);
	sqlite3_free(c);
}

static cutter *cutter_open(void) {
	static const char *args[] = {"unicode61", "remove_diacritics", "2"};
	cutter *c = sqlite3_malloc(sizeof(cutter));
	sqlite3_stmt *find = 0;
	fts5_api *api = 0;
	void *user = 0;
	if (!c) {
		return 0;
	}
	memset(c, 0, sizeof *c);
	if (sqlite3_open(":memory:", &c->db) == SQLITE_OK && sqlite3_prepare_v2(c->db, "SELECT fts5(?1)", -1, &find, 0) == SQLITE_OK) {
		sqlite3_bind_pointer(find, 1, (void *)&api, "fts5_api_ptr", 0);
		sqlite3_step(find);
	}
	sqlite3_finalize(find);
	if (!api || api->xFindTokenizer(api, "porter", &user, &c->functions) != SQLITE_OK ||
		c->functions.xCreate(user, args, 3, &c->tokenizer) != SQLITE_OK) {
		cutter_close(c);
		return 0;
	}
	return c;
}

static int cutter_token(void *to, int flags, const char *token, int length, int start, int end) {
	cutter *c = to;
	if (c->used + 4 + length > c->size) {
		sqlite3_int64 size = 2 * (c->used + 4 + length) + 1024;
		unsigned char *data = sqlite3_realloc64(c->data, size);
		if (!data) {
			return SQLITE_NOMEM;
		}
		c->data = data;
		c->size = size;
	}
	memcpy(c->data + c->used, &length, 4);
	memcpy(c->data + c->used + 4, token, length);
	c->used += 4 + length;
	return SQLITE_OK;
}

static int cutter_cut(cutter *c, const char *text, int length) {
	c->used = 0;
	return c->functions.xTokenize(c->tokenizer, c, FTS5_TOKENIZE_DOCUMENT, text, length, cutter_token);
}
*/
import "C"

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"unsafe"

	_ "github.com/mattn/go-sqlite3" // the SQLite that is linked

	"github.com/eunoe-memory/eunoe/internal/sqlitebuild"
)

// A build without full text search does not compile, and this constant tells why.
const _ = sqlitebuild.Ready

// Cutter cuts texts. It is safe for concurrent use, one text at a time.
type Cutter struct {
	mu sync.Mutex
	c  *C.cutter // nil once it is closed
}

// New returns a Cutter, which Close releases.
func New() (*Cutter, error) {
	c := C.cutter_open()
	if c == nil {
		return nil, errors.New("the tokenizer of FTS5 cannot be opened")
	}
	return &Cutter{c: c}, nil
}

// Close releases the tokenizer. Closing again is harmless.
func (t *Cutter) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.c != nil {
		C.cutter_close(t.c)
		t.c = nil
	}
}

// Cut returns the words of a text as an index has them, in their order; nil for none.
func (t *Cutter) Cut(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.c == nil {
		return nil, errors.New("the tokenizer is closed")
	}
	if code := C.cutter_cut(t.c, (*C.char)(unsafe.Pointer(unsafe.StringData(text))), C.int(len(text))); code != C.SQLITE_OK {
		return nil, fmt.Errorf("the tokenizer failed with code %d", int(code))
	}
	all := C.GoBytes(unsafe.Pointer(t.c.data), C.int(t.c.used))
	var out []string
	for len(all) > 0 {
		n := int(binary.NativeEndian.Uint32(all))
		out = append(out, string(all[4:4+n]))
		all = all[4+n:]
	}
	return out, nil
}
