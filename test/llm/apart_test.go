//go:build !race

package llm_test

// attacksApart is the step between the planted instructions that run: 1 runs all.
const attacksApart = 1

// attacksAtOnce is how many of them run at a time.
const attacksAtOnce = 8
