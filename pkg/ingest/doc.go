// Package ingest is stage 1: it cuts the messages of each session into windows
// for the extractor.
//
// Cut decides, purely, from a session's state and the next event. Around it a
// partition's owner reads its messages in stream order, keeps the state in a
// bucket and publishes the windows. Every step may be repeated: the order is
// decisions that do not follow from the stream (settings, quotas), then the
// windows, then the sessions' states, then the position. After a crash at any
// point, and with two owners at once, the same windows come out.
package ingest
