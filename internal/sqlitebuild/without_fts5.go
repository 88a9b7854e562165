//go:build cgo && !sqlite_fts5

// Package sqlitebuild makes a wrong build of the SQLite store fail with a
// sentence that says what to do.
package sqlitebuild

// Full text search is off without the build tag sqlite_fts5.
const Ready = this_build_has_no_full_text_search__run__make_build__or_source__env_sh__first
