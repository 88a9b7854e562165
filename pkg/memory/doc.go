// Package memory holds the words of Eunoe: the values that every stage, the wire and the stores share. It does no input
// or output and depends on the standard library and golang.org/x/text alone. Ids are typed, parsed by Parse functions
// where they come in, and hashed from what they name by New functions. Times are UTC, to the microsecond (At). An error
// has one of the meanings ErrInvalid, ErrNotFound, ErrConflict and ErrUnavailable, which errors.Is finds.
//
// The glossary. Each word has one meaning in the whole project.
//
// What is remembered:
//
//   - bank: an isolated memory (of a user, an agent, a team). Nothing crosses banks. Its profile holds its settings.
//   - session: one conversation in a bank.
//   - message: what somebody said, as it was published; never changed. Its event is its place in the log.
//   - duplicate: a message event whose id is taken. The first event of an id stands.
//   - replacement: a later message that takes the place of an earlier one.
//   - window: a run of messages of one session that is extracted together. Each message is new in exactly one window.
//   - fact: one self-contained statement, readable without its conversation.
//   - source: a message that a fact rests on.
//   - state: the value that a fact gives an attribute of a subject (Alice's residence is Lisbon). An assertion is a fact
//     with a state, as it stands in the timeline of that attribute.
//   - entity: a person, place or thing that facts name, written "type:name". An alias is another spelling of it, a
//     redirect leads from a merged entity to the one that remains.
//   - relation: a typed edge between two facts or two entities, with the facts it rests on.
//   - composite: a node of the memory tree over facts (level 1) or composites (level 2 and up).
//   - node: a fact or a composite, as clustering sees it.
//   - observation: what several facts show together: a pattern, a preference.
//   - conflict: two live facts that cannot both be true, with no clear winner.
//   - record: a message, a fact, a composite or an observation; what recall returns and a list lists.
//   - topic: what a message or fact is about, as its publisher or extractor named it. A tag is one of several labels.
//   - disposition: how a bank reads its memory: skepticism, literalism, empathy.
//   - use: what feedback reported of a record: how often it was retrieved, used, and helped.
//
// Time and truth:
//
//   - said: when a message was spoken, in event time. recorded: when a write was appended. occurred: when something
//     happened, a span.
//   - interval: a stretch of time in which a fact is valid, from its start (inclusive) to its end (exclusive).
//   - live: valid with an open end, and not merged. A fact that is not live has ended; it stays readable.
//   - supersede: a newer fact with another value ends an older one, which then points to it.
//   - merge: a fact that says the same absorbs a duplicate, which then points to it; also, to unite two entities.
//   - as of: a time for which a question is asked; what was valid then answers.
//
// The log and the store:
//
//   - log: the two kept streams, MEM_MESSAGES and MEM_WRITES. Their order is the truth, the store its projection.
//   - write: an event of MEM_WRITES, which changes the store when it is applied. Its kind says how.
//   - op: the name of a write by its sender. A write whose op was applied before changes nothing.
//   - outcome: what became of a write, or of one item of it. It is stored by op.
//   - plan: the pure function from a write and a view of its bank to the changes of the store. View: what it may read.
//   - applied: the position up to which a stream is in the store, which is also the fence against a second owner.
//   - change: an event that tells, after the commit, what became of a record. It carries ids and never text.
//   - outbox: the committed changes that are still to be published.
//   - tombstone: what remains of a forgotten message event or op, by name, so that it does not come back.
//   - erasure: a stream event that a forget still has to erase from the broker. A receipt counts what a forget erased.
//   - dead letter: an event or window that could not be processed, with its cause.
//   - late vector: a vector that comes in a write of its own, after its record.
//
// What is done:
//
//   - ingest: cut the messages of a session into windows. flush: end a window early.
//   - extract: turn a window into facts. redact: replace secrets in what is derived from a message.
//   - consolidate: bring facts into the store: merge, supersede, cluster into composites.
//   - observe: derive observations. retain: store facts by hand. edit: give a fact a new version.
//   - recall: find what bears on a question. reflect: answer from what was recalled.
//   - decide: judge, by a language model, what a new fact means for older ones. summarise: word a composite.
//   - forget: erase, from the store, its indexes and the streams. rebuild: make the store anew from the log.
//   - verify: check that a store keeps its invariants.
//   - degraded: answered by rules because a model is missing or failed; the answer says so.
package memory
