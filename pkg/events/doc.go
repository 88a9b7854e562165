// Package events is Eunoe's way to NATS: the subjects and how bank and session
// names stand on them, the streams and buckets as data, publishing, the two
// ways of consuming (in order, and as a work queue), dead letters and leases.
//
// A bot needs a Publisher and nothing else of it. The stages of Eunoe are given
// a Conn.
package events
