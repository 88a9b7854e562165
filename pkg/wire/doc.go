// Package wire holds the wire contract as Go types: every request and reply of the endpoints, and the error of a failed
// request. Field names and their JSON are the contract of docs/CONTRACT.md; the records inside them (facts, items,
// banks, changes) are those of package memory.
package wire
