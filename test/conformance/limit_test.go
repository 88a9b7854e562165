//go:build !race

package conformance_test

import "time"

// acknowledgedWithin is how long 99 of 100 acknowledgements may take.
const acknowledgedWithin = 10 * time.Millisecond
