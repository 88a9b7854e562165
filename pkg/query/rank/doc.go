// Package rank orders raw chat messages by how likely they hold the answer to a question, with no language model.
//
// It is the second of two stages. The first, in the store, takes a few hundred candidates from a full-text index
// (a Term says what to look up) and adds the messages around each. This one reads their words again, with their
// neighbours' words, and adds a few small signals, each named, weighted and explained in weights.go.
//
// Everything here is a pure function: no I/O, no clock, no globals that change. The same input gives the same order.
package rank
