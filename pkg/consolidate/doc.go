// Package consolidate is stage 3: it applies the log to the store, whose only writer it is.
//
// A Consolidator holds a lease, reads the streams of messages and of writes from the positions that the store keeps,
// and hands both to an Applier. Messages are stored as they come. A write goes to plan.Plan, a pure function that
// decides what it changes; the store applies the result in the same transaction in which it moves its position. What
// commits leave behind is carried out by the packages below this one: outbox publishes the changes, erasure removes
// forgotten text from the streams, backfill embeds what has no vector. Package rebuild makes the same store anew from
// the log, and llm asks language models what the rules leave open.
package consolidate
