package events

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrEnough is what a function given to Scan returns to end the scan early; it
// is not an error of the scan.
var ErrEnough = errors.New("enough")

// Scan gives every event of a stream that matches one of the filters (nil =
// all) after a sequence to fn, in order, up to the end the stream has when Scan
// begins. It returns the last sequence it covers: that end, or the event at
// which fn said ErrEnough or failed. A consumer that is lost or stalls is made anew,
// which is logged and counted (Renewals).
func (c *Conn) Scan(ctx context.Context, stream string, subjects []string, after uint64, fn func(Event) error) (last uint64, err error) {
	end, err := c.LastSeq(ctx, stream)
	if err != nil || end <= after {
		return after, err
	}
	s := scanner{conn: c, stream: stream, subjects: subjects, at: after, end: end, fn: fn}
	err = untilDone(ctx, Backoff{Max: time.Second}, func() error { return s.run(ctx) }, func(err error) {
		c.Log.Warn().Err(err).Str("stream", stream).Uint64("seq", s.at).Str("cause", c.renewed(stream, err)).Msg("scanning with a new consumer")
	})
	switch {
	case s.failed != nil && errors.Is(s.failed, ErrEnough):
		return s.at, nil
	case s.failed != nil:
		return s.at, s.failed
	case err != nil:
		return s.at, err
	}
	return end, nil
}

type scanner struct {
	conn     *Conn
	stream   string
	subjects []string
	at, end  uint64
	fn       func(Event) error
	failed   error // of fn
}

// run scans with one consumer; nil when the scan is over.
func (s *scanner) run(ctx context.Context) error {
	cons, err := s.conn.JS.CreateConsumer(ctx, s.stream, orderedConsumer(s.subjects, s.at))
	if err != nil {
		return meaning(err, "make a consumer of %s", s.stream)
	}
	info := cons.CachedInfo()
	defer func() {
		done, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = s.conn.JS.DeleteConsumer(done, s.stream, info.Name)
	}()
	if info.NumPending == 0 {
		return nil
	}
	const size = 512
	pull, err := s.conn.newPuller(s.stream, info.Name, size)
	if err != nil {
		return err
	}
	defer pull.close()
	asked, quiet, received := 0, 0, uint64(0)
	for {
		if asked == 0 {
			if err := pull.request(size); err != nil {
				return err
			}
			asked = size
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-pull.tick.C:
			if err := pull.lost(); err != nil {
				return err
			}
		case m := <-pull.ch:
			switch pull.sign(m) {
			case signBroken:
				return broken(causeLost, fmt.Errorf("consumer of %s: %s", s.stream, m.Header.Get("Description")))
			case signEnded:
				asked = 0
			case signAlive: // what was pending may have been erased meanwhile
				now, err := cons.Info(ctx)
				if err != nil {
					return broken(causeLost, meaning(err, "ask the consumer of %s", s.stream))
				}
				if len(pull.ch) > 0 {
					continue
				}
				if now.NumPending == 0 && now.Delivered.Consumer == received {
					return nil
				}
				if quiet++; quiet > 1 {
					return broken(causeStalled, fmt.Errorf("consumer of %s stalled with %d pending", s.stream, now.NumPending))
				}
			case signMessage:
				e, md, err := s.conn.eventOf(m)
				if err != nil {
					return err
				}
				if md.Sequence.Consumer != received+1 {
					return broken(causeGap, fmt.Errorf("consumer of %s left out a delivery", s.stream))
				}
				received++
				asked--
				quiet = 0
				if e.Seq > s.end {
					return nil
				}
				s.at = e.Seq
				if s.failed = s.fn(e); s.failed != nil || e.Pending == 0 || e.Seq == s.end {
					return nil
				}
			}
		}
	}
}
