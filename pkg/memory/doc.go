// Package memory holds the words of Eunoe: the values that every stage, the
// wire and the stores share. It does no input or output and depends on the
// standard library and golang.org/x/text alone.
//
// The words, each with one meaning:
//
//   - bank: an isolated memory (a user, an agent, a team). Nothing crosses banks.
//   - session: one conversation in a bank.
//   - message: what somebody said, as it was published. Never changed.
//   - window: a run of messages of one session that is extracted together.
//   - fact: one self-contained statement, readable without its conversation.
//   - entity: a person, place or thing that facts name, written "type:name".
//   - relation: a typed edge between two records, with the facts it rests on.
//   - composite: a node of the memory tree over facts (level 1) or composites.
//   - observation: what many facts together show: a pattern, a preference.
//   - topic: what a message or fact is about, as its publisher or extractor said.
//   - disposition: how a bank reads its memory: skepticism, literalism, empathy.
//   - conflict: two live facts that cannot both hold, with no clear winner.
//   - extract: turn a window into facts. consolidate: fold facts into the store.
//   - recall: find what bears on a question. reflect: answer from what was found.
//   - observe: derive observations. retain: store facts by hand.
//   - forget: erase, from the store, its indexes and the streams.
package memory
