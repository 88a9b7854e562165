//go:build !cgo

// Package sqlitebuild makes a wrong build of the SQLite store fail with a
// sentence that says what to do.
package sqlitebuild

// SQLite is C: without cgo there is no store.
const Ready = the_sqlite_store_needs_cgo_and_a_C_compiler__run__make_build__or_source__env_sh__first
