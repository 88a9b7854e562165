// Package text reads plain text: words and their stems, sentences, names, numbers, negation and the size in tokens.
//
// Words is the tokenizer; Terms adds what each word means, and ContentStems keeps the stems of the words with content,
// by which facts and entities are compared. Stem, BaseForm, IsStop and Month look single words up. Sentences, Names,
// Numbers and Negated read a text as a whole, and CountTokens measures it for a language model. EachIndexWord and Grams
// cut a text as the full-text index does.
//
// Everything is deterministic, needs no network and no model, reads no clock, keeps nothing of what it reads, and is
// safe for concurrent use. It knows English best; text in other scripts is never lost, only understood less.
//
// The packages below build on it: text/date is the grammar of dates, text/state that of states ("Alice lives in
// Lisbon"), and text/secret removes credentials.
package text
