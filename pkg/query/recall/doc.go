// Package recall finds what a bank's memory holds about a question.
//
// An Engine answers a request in eight steps, which Find runs one after the other, each with what the step before it
// returned:
//
//   - Parse checks the request and fills in the defaults (request.go);
//   - wait until the store has applied what the request asks to see (find.go);
//   - embed the question (search.go, embed.go);
//   - understand it by rules: its words and terms, the time it speaks of (understand.go), what its phrases ask for
//     (form.go), the participants and entities it names (people.go);
//   - gather: each strategy names candidates that pass the request's filter (gather.go; steps.go lists the strategies);
//   - fuse: add the strategies' calibrated scores with fixed weights, let facts support the messages they rest on, and
//     give every content one place (fuse.go, dedupe.go);
//   - let models look at the best, where they are configured and asked for: a reranker (ranked.go), rounds that search
//     for what is missing (adequacy.go), and a judge (judge.go);
//   - pack whole items up to max_facts and max_tokens (pack.go).
//
// No model is called while the store is read. Without models everything between reading the store and answering is a
// pure function of the request and what was read: equal stores give equal answers in equal order.
package recall
