// Package query is stage 4: it answers what is asked of a bank. It reads the
// store, and what it must write it appends to the log, so any number of query
// services may run beside each other.
//
// Recall works in four steps, each a file or two of its own:
//
//   - understand: rules read the question: its terms, the participants and
//     entities it names, the time it speaks of (understand.go);
//   - gather: each strategy names candidates of the bank that pass the
//     filters, filtered before they are ranked (gather*.go, keyword.go, spread.go);
//   - fuse: the strategies' calibrated scores are added with fixed weights, a
//     fact supports the messages it rests on, and one content takes one place
//     (keyword_score.go, fuse.go, fold.go);
//   - pack: whole items up to max_facts and max_tokens (pack.go).
//
// Where models are configured they look at what was found once the store is let
// go, before it is packed: a reranker (rerank.go), rounds that ask for what is
// missing (adequacy.go), and a judge (judge.go). Reflect puts it to a language
// model that may search on (answer*.go), and gives the context by rules where
// there is none or it fails (briefing*.go).
//
// Without them everything between reading the store and answering is a pure function of
// the request and what was read, so equal stores give equal answers.
package query
