//go:build cgo && sqlite_fts5

// Package sqlitebuild makes a wrong build of the SQLite store fail with a
// sentence that says what to do. SQLite is compiled by cgo with settings that
// only the environment can give: the build tag sqlite_fts5, and the directory
// of the header in include/, which leads sqlite-vec to the SQLite that
// go-sqlite3 carries. "make build" sets them, and so does sourcing env.sh.
package sqlitebuild

// Ready is true in every build that gets as far as to have it.
const Ready = true
