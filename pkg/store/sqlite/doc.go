// Package sqlite keeps the store in one SQLite file: what the log of messages
// and writes comes to, ready to be searched. The file can be deleted and made
// again from the log.
//
// One connection writes and a pool of read-only ones reads; in WAL mode neither
// waits for the other. Files named read_*.go answer queries, the others apply
// the log. Row numbers ("no") are this file's own and are never shown.
package sqlite
