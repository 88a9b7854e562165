//go:build race

package llm_test

// attacksApart is larger under the race detector, where all attacks take minutes; `make planted` runs all.
const attacksApart = 5

// attacksAtOnce is smaller too: a processor that checks every access is slow, and requests have deadlines.
const attacksAtOnce = 2
