// Package llm is the loop beside the store's writer that asks a language model
// what the rules leave open: what a new fact means for older ones near it, a
// wording for a composite, and what the facts about a subject show together.
//
// It reads what waits from the store, asks in batches, holds every item of an
// answer against what was shown, and appends what is left to the log as a write
// of its own. It never writes the store: that write takes the same way as every
// other, and is applied only where what it speaks of is still as it was.
//
// A model that is down leaves everything waiting. An answer that makes no sense
// is tried again some times; then what it was about waits no longer, and stays
// as the rules left it. Texts are shown with their secrets redacted, as data
// between marks that no text can hold.
package llm
