//go:build race

package conformance_test

import "time"

// acknowledgedWithin is larger under the race detector, which makes every step several times as slow; `make test`
// holds the 10 ms.
const acknowledgedWithin = 50 * time.Millisecond
