package verify

import (
	"context"
	"errors"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

const (
	writesRule   = "the log holds every write of the store"
	readableRule = "every event that a stream counts can be read"
)

// everyWrite reads MEM_WRITES from its first sequence to its last and checks that every write of the store can be decoded,
// or that the log says which erasure removed it. It holds one bit for each sequence in memory.
func (c *logCheck) everyWrite(ctx context.Context, o Options) error {
	if !o.Full {
		return nil
	}
	var known sequences
	end, err := c.readAll(ctx, c.conn.Naming.Writes(), func(e events.Event) error {
		if w, err := e.Write(); err == nil {
			known.add(e.Seq)
			known.addErased(w)
		}
		return nil
	})
	if err != nil {
		return err
	}
	// What was erased during the scan has its note behind the end that the stream had then.
	notes := []string{c.conn.Naming.Subject("*", events.KindWrite, string(memory.WriteErased)), c.conn.Naming.Subject("*", events.KindWrite, string(memory.WriteRest))}
	if _, err := ordered.Scan(ctx, c.conn, c.conn.Naming.Writes(), notes, end, func(e events.Event) error {
		if w, err := e.Write(); err == nil {
			known.addErased(w)
		}
		return nil
	}); err != nil {
		return fmt.Errorf("read %s: %w", c.conn.Naming.Writes(), err)
	}
	out := wire.Check{Rule: writesRule}
	if err := c.eachApplied(ctx, end, func(seq uint64) error {
		if known.has(seq) {
			return nil
		}
		return c.lookUpWrite(ctx, seq, &out)
	}); err != nil {
		return err
	}
	c.v.Add(out)
	return nil
}

// eachApplied calls fn with the sequence of every write of the store up to one.
func (c *logCheck) eachApplied(ctx context.Context, upto uint64, fn func(uint64) error) error {
	const page = 2000
	for after := uint64(0); ; {
		list, err := c.store.AppliedWrites(ctx, after, page)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, after = range list {
			if after > upto {
				return nil
			}
			if err := fn(after); err != nil {
				return err
			}
		}
	}
}

// lookUpWrite looks a write up that was not found, and notes it where it is not there or cannot be decoded.
func (c *logCheck) lookUpWrite(ctx context.Context, seq uint64, out *wire.Check) error {
	e, err := c.conn.EventAt(ctx, c.conn.Naming.Writes(), seq)
	switch {
	case errors.Is(err, memory.ErrNotFound):
		note(out, fmt.Sprint(seq))
		return nil
	case err != nil:
		return fmt.Errorf("read write %d: %w", seq, err)
	}
	if _, err := e.Write(); err != nil {
		note(out, fmt.Sprintf("%d, which cannot be decoded", seq))
	}
	return nil
}

// readAll calls fn with every event of a stream up to the end that it has now, which it returns, and notes what cannot be
// read.
func (c *logCheck) readAll(ctx context.Context, stream string, fn func(events.Event) error) (end uint64, err error) {
	end, lost, err := ReadAll(ctx, c.conn, stream, fn)
	if lost.Events > 0 {
		c.unreadable.Broken += lost.Events
		c.unreadable.Where = append(c.unreadable.Where, lost.String())
	}
	return end, err
}

// Lost tells of the events of a stream that its broker counts and gives out to nobody.
type Lost struct {
	Stream string
	Events int // how many; 0 = the stream is whole
	Read   int // how many could be read
}

// String returns "MEM_WRITES counts 340 and gives out 338".
func (l Lost) String() string {
	return fmt.Sprintf("%s counts %d and gives out %d", l.Stream, l.Events+l.Read, l.Read)
}

// ReadAll calls fn, if not nil, with every event of a stream up to the end that it has now, which it returns. It checks that
// those are as many as the stream counts: a broker whose file is damaged counts events that it cannot read. While events are
// erased fewer may be found to be missing than are, and never more.
func ReadAll(ctx context.Context, conn *events.Conn, stream string, fn func(events.Event) error) (end uint64, lost Lost, err error) {
	lost.Stream = stream
	end, err = ordered.Scan(ctx, conn, stream, nil, 0, func(e events.Event) error {
		lost.Read++
		if fn == nil {
			return nil
		}
		return fn(e)
	})
	if err != nil {
		return end, lost, fmt.Errorf("read %s: %w", stream, err)
	}
	now, err := conn.Size(ctx, stream)
	if err != nil {
		return end, lost, err
	}
	lost.Events = max(0, now.Events-int(now.Last-end)-lost.Read) //nolint:gosec // a number of events
	return end, lost, nil
}

// readable reports what the scans of both streams could not read.
func (c *logCheck) readable(_ context.Context, o Options) error {
	if o.Full {
		c.v.Add(c.unreadable)
	}
	return nil
}

// sequences is a set of sequences, a bit each.
type sequences []uint64

func (s *sequences) add(seq uint64) {
	word := int(seq / 64) //nolint:gosec // sequences count events
	if word >= len(*s) {
		*s = append(*s, make([]uint64, word+1-len(*s))...)
	}
	(*s)[word] |= 1 << (seq % 64)
}

func (s *sequences) has(seq uint64) bool {
	return seq/64 < uint64(len(*s)) && (*s)[seq/64]&(1<<(seq%64)) != 0
}

// addErased adds the sequences of which a write says that they were erased.
func (s *sequences) addErased(w memory.Write) {
	if w.RestOf != nil && w.RestOf.Seq < w.Seq {
		s.add(w.RestOf.Seq)
	}
	if w.Erased != nil {
		for _, g := range w.Erased.Writes {
			if g.Seq < w.Seq {
				s.add(g.Seq)
			}
		}
	}
}
