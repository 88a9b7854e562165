// Package conformance tests behaviours of docs/CONFORMANCE.md that only the
// whole pipeline shows, through the door that bots use. It has tests alone.
package conformance
