// Package query is stage 4: the service that answers requests about a bank.
//
// A Service binds every endpoint of the table in pkg/wire to a method (endpoint.go) and answers requests over NATS in
// slots, with metrics and traces. It reads the store, and what must be written it appends to the log, so any number of
// services can run at the same time. Its work is done by packages of their own:
//
//   - recall finds what memory holds about a question, with recall/rank for the order of texts;
//   - reflect answers from what recall found, by a language model or as a packed context;
//   - write appends what changes memory to the log and waits for its outcome;
//   - verify checks the store against itself and the log;
//   - request checks what the requests of several endpoints have in common;
//   - prompt holds what language models are told, and reads what they write back.
//
// What only reads (get, list, tree, entities, history, changes, status and the like) stands in this package. Store is
// made of the small interfaces that the packages declare next to their code; an engine implements it.
package query
