//go:build !cgo

package tokens

import "github.com/eunoe-memory/eunoe/internal/sqlitebuild"

// A build without cgo does not compile, and this constant tells why.
const _ = sqlitebuild.Ready
