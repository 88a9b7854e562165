// Package scriptedmodel is a scripted language model behind a real HTTP server on the loopback, for tests,
// demonstrations and measurements that cost nothing. It speaks the OpenAI protocol (chat with JSON schemas, tools and
// streams, embeddings) and both shapes of rerank, and counts real tokens.
//
// Each call is of a stage, read from the name of its schema, a line "Task: extract" of its system prompt, or its tools.
// The answer is the first there is of: what was queued for the stage (Script.Answer, Script.Fault), a fault of a rule
// (Script.Inject), a line of a script (Script.Load), a function (Script.Func), planted instructions followed to the
// letter (Script.Obey), published facts (Script.Facts), and the rules, which act as a small model would: deterministic
// and made only of what the prompt shows. Spoilt answers, lost connections and refusals are named by Kind. Nothing is
// remembered but counts and the last calls.
package scriptedmodel
