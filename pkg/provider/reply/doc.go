// Package reply reads the JSON in a language model's answer. A model asked for
// JSON may still fence it, talk around it, cut it off or break its syntax; what
// can be told apart is kept, item by item, and nothing is made up: an item that
// was cut off is left out, never completed.
package reply
