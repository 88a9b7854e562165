// Package date is the date grammar: it finds the time expressions of a text and says which days they name.
//
// Find reads what somebody says. It is strict about what is a date ("I may march on" has none) and resolves relative
// expressions against the time of the message and the tense of the sentence. What the words of a language mean stands in
// a table (languages/README.md); the grammar is one for all. Main says which of several times a sentence is about, and
// Annotate writes what was found back into the sentence.
//
// Asked reads a question. Whoever asks about "August" means the latest one, whatever the tense, and names one time at
// most, so it takes the first expression and needs no sentence around it. It knows English; AskedIn knows the
// languages of Find.
package date
