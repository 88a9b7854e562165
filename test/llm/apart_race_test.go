//go:build race

package llm_test

// attacksApart is larger under the race detector, which takes minutes for all; `make planted` tries all.
const attacksApart = 5
