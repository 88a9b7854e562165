//go:build !cgo

package sqlite

import "github.com/eunoe-memory/eunoe/internal/sqlitebuild"

// A build without cgo does not compile, and says why.
const _ = sqlitebuild.Ready
