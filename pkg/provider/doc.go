// Package provider reaches language models, embedders and rerankers over HTTP
// and gives them the shapes of pkg/memory. It knows four providers: openai
// (and, with a base URL, every server that speaks its protocol), anthropic,
// google and ollama.
//
// Requests of openai, ollama and anthropic are built and answers read by
// langchaingo, which no other package imports. Beneath it lies one exchange
// for all providers, embeddings and reranking included: attempts, waits, a
// breaker for each model, bounds on what is read, what an error means, and the
// count of what each attempt took.
package provider
