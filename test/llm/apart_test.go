//go:build !race

package llm_test

// attacksApart is how far apart those of the planted instructions are that are tried: all are.
const attacksApart = 1
