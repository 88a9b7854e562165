package events

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// endHolds is how long a replicated stream must say that it ends before a known sequence until that is believed: a server
// that led the stream, was stopped and wakes answers for some milliseconds with the end it knew.
const endHolds = 15 * time.Second

// How often a doubted end is asked for, and the longest gap between two answers that count as one observation.
const (
	endPause = 500 * time.Millisecond
	endGap   = 5 * time.Second
)

// LastSeq returns the last sequence of a stream, 0 if it never held an event. An answer below what this connection knows
// to be stored is believed as by EndOf.
func (c *Conn) LastSeq(ctx context.Context, stream string) (uint64, error) {
	return c.EndOf(ctx, stream, 0)
}

// EndOf returns the last sequence of a stream that is expected to hold the event of a sequence. It returns a smaller one
// at once where the stream has one replica, whose word is final, or is kept in memory, which a restart empties; of others
// only if the answers stay below for 15 seconds. The error is memory.ErrUnavailable if ctx ends before that; a later call goes on where it ended.
func (c *Conn) EndOf(ctx context.Context, stream string, expected uint64) (uint64, error) {
	info, err := c.streamReaching(ctx, stream, expected)
	if err != nil {
		return 0, err
	}
	return info.State.LastSeq, nil
}

// forgetSession is the session of the flushes that EndOfBank stores.
const forgetSession memory.SessionID = "forget"

// EndOfBank returns a sequence of MEM_MESSAGES such that every message of the bank that was acknowledged before the call
// stands at or before it, and none that is published after the call returns. A stream of one replica is asked for the
// bank's last message (0 if it has none). A replicated one would have to be asked for longer than a caller waits, so a
// flush without effect is stored, whose acknowledgement has the word of a majority.
func (c *Conn) EndOfBank(ctx context.Context, bank memory.BankID) (uint64, error) {
	s, err := c.stream(ctx, c.Naming.Messages())
	if err != nil {
		return 0, err
	}
	if s.CachedInfo().Config.Replicas <= 1 {
		return c.LastMessage(ctx, bank)
	}
	return c.PublishFlush(ctx, bank, forgetSession, memory.Flush{Upto: 1})
}

// streamReaching returns the state of a stream with the end that EndOf returns.
func (c *Conn) streamReaching(ctx context.Context, stream string, expected uint64) (*jetstream.StreamInfo, error) {
	for {
		s, err := c.stream(ctx, stream)
		if err != nil {
			return nil, err
		}
		info := s.CachedInfo()
		least := max(expected, c.ends.known(stream))
		if info.Config.Replicas <= 1 || info.Config.Storage == jetstream.MemoryStorage || c.ends.believed(stream, info.State.LastSeq, least, time.Now()) {
			c.ends.set(stream, info.State.LastSeq)
			return info, nil
		}
		if !Sleep(ctx, endPause) {
			return nil, fmt.Errorf("stream %s says that it ends at %d, before %d, which an old leader may say: %w",
				stream, info.State.LastSeq, least, memory.ErrUnavailable)
		}
	}
}

// Gone reports whether a stream that held the event of a sequence, upto, holds none any more behind another one up to it. It is
// certain where a later event is there, for a server that lags lacks the last ones. Where none is, the word of a stream with
// one replica is final; that of others is believed only if it has stayed so for 15 seconds of calls that follow each other.
func (c *Conn) Gone(ctx context.Context, stream string, after, upto uint64) (bool, error) {
	doubted := fmt.Sprintf("%s behind %d", stream, after) // several may be asked about in turns
	e, err := c.NextEvent(ctx, stream, ">", after+1)
	if err == nil {
		c.ends.dropDoubt(doubted)
		return e.Seq > upto, nil
	}
	if !errors.Is(err, memory.ErrNotFound) {
		return false, err
	}
	s, err := c.stream(ctx, stream)
	if err != nil {
		return false, err
	}
	return s.CachedInfo().Config.Replicas <= 1 || c.ends.believed(doubted, after, upto, time.Now()), nil
}

// saw notes that a stream holds an event.
func (c *Conn) saw(stream string, seq uint64) {
	if c.ends != nil {
		c.ends.saw(stream, seq)
	}
}

// streamEnds is what a connection knows of the ends of streams.
type streamEnds struct {
	mu     sync.Mutex
	stored map[string]uint64   // highest sequence that is known to be stored
	doubts map[string]endDoubt // streams that say they end before a sequence, and what lies behind an event (Gone)
}

// endDoubt is the observation that a stream ends before a sequence.
type endDoubt struct {
	before      uint64
	since, last time.Time // of the answers that said so
}

func newStreamEnds() *streamEnds {
	return &streamEnds{stored: map[string]uint64{}, doubts: map[string]endDoubt{}}
}

func (e *streamEnds) known(stream string) uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.stored[stream]
}

func (e *streamEnds) saw(stream string, seq uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stored[stream] = max(e.stored[stream], seq)
}

// set replaces what is known by an end that is believed: a stream that was rolled back ends earlier.
func (e *streamEnds) set(stream string, last uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stored[stream] = last
}

// dropDoubt drops an observation, after an answer to the contrary.
func (e *streamEnds) dropDoubt(stream string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.doubts, stream)
}

// believed reports whether an answer is the end of a stream that is expected to reach a sequence: it reaches it, or the
// answers have stayed below for endHolds.
func (e *streamEnds) believed(stream string, last, expected uint64, now time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	d, doubted := e.doubts[stream]
	if doubted && last >= d.before {
		delete(e.doubts, stream)
		doubted = false
	}
	if last >= expected {
		return true
	}
	// An end before a smaller sequence is one before this sequence, too.
	if !doubted || d.before > expected || now.Sub(d.last) > endGap {
		maps.DeleteFunc(e.doubts, func(_ string, d endDoubt) bool { return now.Sub(d.last) > endGap })
		d = endDoubt{before: expected, since: now}
	}
	d.last = now
	e.doubts[stream] = d
	return now.Sub(d.since) >= endHolds
}
