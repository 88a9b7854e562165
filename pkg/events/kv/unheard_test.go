package kv_test

import (
	"errors"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/events/kv"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// TestARecordWhoseWriteIsNotAcknowledgedIsWrittenAgain loses a write of a record, or the acknowledgement of one, with the
// connection.
func TestARecordWhoseWriteIsNotAcknowledgedIsWrittenAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		acknowledgement bool   // is lost, and not the write
		other           string // what another writer writes meanwhile
	}{"the write is lost": {}, "its acknowledgement is lost": {acknowledgement: true}, "another writer is first": {other: "theirs"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			other := natstest.Start(t)
			conn, wire := natstest.ConnectWire(t, other.NC.ConnectedUrl())
			theirs := kv.Open(other, other.Naming.IngestBucket())
			wire.Lose(!c.acknowledgement, c.acknowledgement)
			type result struct {
				rev uint64
				err error
			}
			written := make(chan result, 1)
			go func() {
				rev, err := kv.Open(conn, conn.Naming.IngestBucket()).Put(t.Context(), kv.Record{Key: "k", Value: []byte("mine")})
				written <- result{rev, err}
			}()
			natstest.Eventually(t, "the write", func() bool {
				r, err := theirs.Get(t.Context(), "k")
				return err == nil && r.Value != nil || wire.Lost("mine")
			})
			if c.other != "" {
				if _, err := theirs.Put(t.Context(), kv.Record{Key: "k", Value: []byte(c.other)}); err != nil {
					t.Fatal(err)
				}
			}
			wire.Break()
			got := <-written
			now, err := theirs.Get(t.Context(), "k")
			switch {
			case err != nil || now.Revision != 1:
				t.Errorf("the record is %+v, %v", now, err)
			case c.other != "" && (!errors.Is(got.err, memory.ErrConflict) || string(now.Value) != c.other):
				t.Errorf("over the record of another: %v; it is %q", got.err, now.Value)
			case c.other == "" && (got.err != nil || got.rev != 1 || string(now.Value) != "mine"):
				t.Errorf("revision %d, %v; the record is %q", got.rev, got.err, now.Value)
			}
		})
	}
}
