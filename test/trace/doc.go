// Package trace tests that a conversation and a request are one trace each, through one process and through many.
package trace
