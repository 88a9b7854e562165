// Package reflect answers a question from what memory holds.
//
// A Reflector recalls, and lets a language model answer from what was found. The model may search on and look around
// items by tools (tools.go, expand.go), turn by turn (conversation.go), and names the items its answer rests on. The
// response may be sent in pieces while it comes (stream.go). Bank and filters are the request's throughout: nothing that
// a model writes or memory holds widens them.
//
// Without a model, where it fails, and where the request asks for it, the reply is the context: what was found, grouped
// into sections and shaped by the bank's disposition, for a caller's own model (sections.go, context.go).
package reflect
