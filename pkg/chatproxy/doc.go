// Package chatproxy adds memory to programs that speak OpenAI's chat protocol, without changes to them: it passes
// chat completions on to another endpoint of that protocol, shows the model what memory holds on the last message of the
// user, and keeps that message and the answer.
//
// Every byte of a request but the one message that is put before the last of the user's, and every byte of an answer,
// passes as it is: streams, tools, and fields that are not known here. Memory that does not answer in time is left out,
// and nothing that goes wrong with it fails a request.
//
// What is kept are the last message of the user and the answer, not the history that programs send again each time, nor
// what was recalled. An id is the hash of the session and of everything said before, so a request that is repeated keeps
// nothing twice. An answer that was given with memory is marked as recalled: no fact is drawn from it.
package chatproxy
