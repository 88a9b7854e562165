package events

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Restorer makes streams and buckets anew that a running deployment lost, as a broker that restarts loses what it keeps
// in memory. It is not safe for concurrent use.
type Restorer struct {
	conn *Conn
	kept map[string]uint64 // last sequence of the kept streams, as they were last seen
	had  int               // replicas of the kept streams
}

// NewRestorer returns a Restorer that has seen nothing yet.
func NewRestorer(c *Conn) *Restorer {
	return &Restorer{conn: c, kept: map[string]uint64{c.Naming.Messages(): 0, c.Naming.Writes(): 0}}
}

// Restore creates the streams and buckets that are missing, with as many replicas as the kept streams have. A kept
// stream that held events when it was last seen is not made anew, because what is acknowledged into an empty log could
// not be joined with the lost one: the error is memory.ErrConflict and names it.
func (r *Restorer) Restore(ctx context.Context) error {
	var gone []error
	missing := false
	for _, name := range r.conn.Naming.AllStreams() {
		s, err := r.conn.JS.Stream(ctx, name)
		last, kept := r.kept[name]
		switch {
		case errors.Is(err, jetstream.ErrStreamNotFound) && last > 0:
			gone = append(gone, fmt.Errorf("the broker has lost stream %s, which held events up to %d: restore its backup; to begin a new log, stop every stage and run `eunoe rebuild --smaller`: %w",
				name, last, memory.ErrConflict))
		case errors.Is(err, jetstream.ErrStreamNotFound):
			missing = true
		case err != nil:
			return Classify(err, "read stream %s", name)
		case kept:
			r.kept[name], r.had = s.CachedInfo().State.LastSeq, s.CachedInfo().Config.Replicas
		}
	}
	if len(gone) > 0 || !missing {
		return errors.Join(gone...)
	}
	r.conn.Log.Warn().Msg("making the streams and buckets anew that the broker has lost")
	return r.conn.reconcile(ctx, StreamOptions{Replicas: r.had}) // which somebody may have set to 2
}

// AllStreams returns the names of all streams, then those of the streams behind the buckets.
func (n Naming) AllStreams() []string {
	var out []string
	for _, s := range n.Streams(StreamOptions{}) {
		out = append(out, s.Name)
	}
	for _, b := range n.Buckets(StreamOptions{}) {
		out = append(out, "KV_"+b.Bucket)
	}
	return out
}
