//go:build cgo

package file

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	vec "github.com/asg017/sqlite-vec-go-bindings/cgo"
	sqlite3 "github.com/mattn/go-sqlite3"

	"github.com/eunoe-memory/eunoe/internal/sqlitebuild"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/sketch"
)

// A build without full text search does not compile, and this constant tells why.
const _ = sqlitebuild.Ready

// connector opens connections with settings that a data source name cannot carry.
type connector struct {
	dsn     string
	driver  *sqlite3.SQLiteDriver
	unmoved func() error
}

// Connect opens a connection, unless the file was replaced since the pool was made.
func (c connector) Connect(context.Context) (driver.Conn, error) {
	opened, err := c.driver.Open(c.dsn)
	if err != nil {
		return nil, err
	}
	raw, ok := opened.(*sqlite3.SQLiteConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the driver opened a %T", opened), opened.Close())
	}
	conn, err := newConnection(raw)
	if err == nil {
		err = c.unmoved() // asked afterwards: a file that was replaced never comes back
	}
	if err != nil {
		return nil, errors.Join(err, raw.Close())
	}
	return conn, nil
}

func (c connector) Driver() driver.Driver { return c.driver }

// pageSize is SQLite's default, in bytes.
const pageSize = 4096

// newPool returns a pool of at most conns connections that stay open. They do not let the file grow past limit bytes
// (0 = unlimited), and are not opened once unmoved returns an error. It opens none of them yet.
func newPool(dsn string, conns int, limit int64, unmoved func() error) *sql.DB {
	vec.Auto() // registers sqlite-vec for all connections opened from now on; calling it again is harmless
	addUnpacked()
	addRowset()
	addHandle()
	d := &sqlite3.SQLiteDriver{ConnectHook: func(c *sqlite3.SQLiteConn) error {
		// Sorts and temporary indexes hold text: they stay off the disk. The timer checkpoints; a commit does so
		// only when the log outgrows 64 MiB.
		_, err := c.Exec("PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 16384;", nil)
		if err == nil { // used by the migration that packs vectors
			err = c.RegisterFunc("packed", func(raw []byte) []byte { return sketch.Pack(memory.VectorOf(raw)) }, true)
		}
		if err == nil && limit > 0 {
			_, err = c.Exec("PRAGMA max_page_count = "+strconv.FormatInt(max(1, limit/pageSize), 10), nil)
		}
		return err
	}}
	pool := sql.OpenDB(connector{dsn, d, unmoved})
	pool.SetMaxOpenConns(conns)
	pool.SetMaxIdleConns(conns)
	return pool
}

func writerDSN(c Config) string {
	// The file and its log are synced when the log is copied into the file: a power cut leaves the store as it was at some
	// commit before, and the consolidator applies the rest again from the streams. One that erases is synced (Write).
	sync := "NORMAL"
	if c.Unsynced {
		sync = "OFF"
	}
	return dsn(c.Path, url.Values{
		"mode":             {"rwc"},
		"_journal_mode":    {"WAL"},
		"_synchronous":     {sync},
		"_busy_timeout":    {strconv.FormatInt(c.Busy.Milliseconds(), 10)},
		"_txlock":          {"immediate"},
		"_foreign_keys":    {"on"},
		"_secure_delete":   {"on"},
		"_mutex":           {"no"}, // as below
		"_cache_size":      {fmt.Sprintf("-%d", c.Cache)},
		"_stmt_cache_size": {"256"},
	})
}

func readerDSN(c Config) string {
	return dsn(c.Path, url.Values{
		"mode":             {"ro"},
		"_query_only":      {"1"},
		"_mutex":           {"no"}, // database/sql gives a connection to one user at a time
		"_txlock":          {"deferred"},
		"_busy_timeout":    {strconv.FormatInt(c.Busy.Milliseconds(), 10)},
		"_cache_size":      {fmt.Sprintf("-%d", c.ReadCache)},
		"_stmt_cache_size": {"128"},
	})
}

// dsn writes a path as SQLite reads it in a URI, where only %, ? and # are special.
func dsn(path string, params url.Values) string {
	p := strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(filepath.ToSlash(path))
	return "file:" + p + "?" + params.Encode()
}

// Copy writes the content of a file, which others may be writing, as of one commit into a new file. The copy has no
// write-ahead log.
func Copy(ctx context.Context, from, to string, busy time.Duration) (err error) {
	pool := newPool(dsn(from, url.Values{"mode": {"ro"}, "_busy_timeout": {strconv.FormatInt(busy.Milliseconds(), 10)}}), 1, 0, unmoved(from))
	defer func() { err = errors.Join(err, pool.Close()) }()
	_, err = pool.ExecContext(ctx, "VACUUM INTO ?", to)
	return err
}
