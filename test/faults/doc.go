// Package faults runs the real programs under faults and accounts for every
// message that was acknowledged. A World is a broker and the stages, each a
// process of its own; a Schedule, drawn from a seed, kills, stops, doubles and
// starves them while a Talk is published from a ledger of acknowledgements.
// Afterwards the Books are compared: the ledger with the log, the log with the
// store, the store with one that is rebuilt, and all of it with the same talk
// published to a pipeline that nothing happened to.
package faults
