// Package analysis reads plain text: words and their stems, sentences, names,
// numbers, negation, time expressions and the size in tokens. Everything is
// deterministic, needs no network and no model, reads no clock, and is safe for
// concurrent use. It knows English best; text in other scripts is never lost,
// only understood less.
package analysis
