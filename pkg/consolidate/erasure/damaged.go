package erasure

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/eunoe-memory/eunoe/pkg/events"
)

// damaged are the events that an Eraser could not erase, because the broker cannot read them.
type damaged struct {
	mu   sync.Mutex
	seqs map[string]map[uint64]bool // by stream
}

func (d *damaged) add(stream string, seq uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.seqs == nil {
		d.seqs = map[string]map[uint64]bool{}
	}
	if d.seqs[stream] == nil {
		d.seqs[stream] = map[uint64]bool{}
	}
	d.seqs[stream][seq] = true
}

func (d *damaged) has(stream string, seq uint64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.seqs[stream][seq]
}

// erase erases an event, or notes that it cannot be erased.
func (e *Eraser) erase(ctx context.Context, stream string, seq uint64) error {
	err := e.deps.Conn.Erase(ctx, stream, seq)
	if errors.Is(err, events.ErrDamaged) {
		e.damaged.add(stream, seq)
		e.deps.Log.Error().Err(err).Str("stage", e.deps.Retry.Stage).Str("stream", stream).Uint64("seq", seq).
			Msg("a forgotten event cannot be erased; its bytes stay on disk")
		return nil
	}
	return err
}

// isDamaged reports whether the event of an entry could not be erased.
func (e *Eraser) isDamaged(entry Entry) bool {
	return !strings.HasSuffix(entry.Stream, "_DEAD") && e.damaged.has(streamOf(e.deps.Conn.Naming, entry), entry.Seq)
}

// streamOf returns the stream of an entry that is about no dead letter.
func streamOf(n events.Naming, entry Entry) string {
	if strings.HasSuffix(entry.Stream, "_MESSAGES") {
		return n.Messages()
	}
	return n.Writes()
}
