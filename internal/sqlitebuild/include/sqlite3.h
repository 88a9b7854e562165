/* sqlite-vec includes "sqlite3.h"; the SQLite it must meet is the one that
 * go-sqlite3 carries, whose header has another name. */
#include "sqlite3-binding.h"
