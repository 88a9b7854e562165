// Package llm asks a language model what the rules of consolidation leave open: what a new fact means for older ones
// near it, a wording for a composite, and what the facts about a subject show together.
//
// A Worker runs while the consolidator of its process is active. It reads pending questions from the store, asks in
// batches, checks every item of an answer against what was shown, and appends what it accepts to the log as a write. It
// never writes the store: that write takes the same way as every other one, and is applied only where the records it
// names are as they were judged.
//
// While a model is down its questions stay pending. An unusable answer is asked for again; after a few of them the
// question is given up, and the record stays as the rules left it. Texts are shown with their secrets redacted, as data
// between marks that no text can contain.
package llm
