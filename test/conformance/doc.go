// Package conformance tests promises of docs/CONFORMANCE.md that only the whole pipeline shows, through the endpoints
// that bots use. It has tests alone.
package conformance
