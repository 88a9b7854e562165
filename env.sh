# Build settings for Eunoe. Source it: . ./env.sh
#
# go-sqlite3 compiles SQLite itself and turns full text search on by a build
# tag; sqlite-vec is compiled against the header that go-sqlite3 brings. Only
# the environment can say so to cgo, hence this file. The Makefile reads the
# same two values; keep them stable, for every change compiles SQLite again.
_eunoe_root="$(cd "$(dirname "${BASH_SOURCE:-$0}")" && pwd)"
export GOFLAGS="-tags=sqlite_fts5"
export CGO_ENABLED=1
export CGO_CFLAGS="-I${_eunoe_root}/internal/sqlitebuild/include -I$(cd "${_eunoe_root}" && go mod download github.com/mattn/go-sqlite3 && go list -m -f '{{.Dir}}' github.com/mattn/go-sqlite3) -O2"
unset _eunoe_root
